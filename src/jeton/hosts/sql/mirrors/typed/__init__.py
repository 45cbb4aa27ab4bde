"""Typed state in SQLite: `ddl` and `statements` are the SQL of what `jeton.actor.typed` lays out, `tables` runs it.

The tables accept every value. What does not fit its column (a null, an empty list, an undeclared property, 1.0 in a
column of integers) is stored as JSON in the table called `…_rest`, and nothing is lost.
"""
