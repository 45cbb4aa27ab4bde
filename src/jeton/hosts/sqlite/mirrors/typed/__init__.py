"""Typed state: a workflow's state as tables, one set per definition version.

`shape` reads a schema, `layout` gives every place in it a table and a column, `ddl` and `statements` are its SQL,
`rows` turns values into rows and back. Only `tables` uses SQLite; the rest is pure.

The tables accept every value. What does not fit its column (a null, an empty list, an undeclared property, 1.0 in a
column of integers) is stored as JSON in the table called `…_rest`, and nothing is lost.
"""
