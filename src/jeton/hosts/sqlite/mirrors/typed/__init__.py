"""Typed context: a workflow's state as real tables, one set per definition version.

Planning is pure: `shape` reads a schema, `layout` gives every place in it a table and a column, `ddl` and `statements`
say it in SQL, `rows` turns values into rows and back. Only `tables` talks to SQLite.

The tables never refuse a value. What does not fit its column (a null, an empty list, a property nobody declared, 1.0
where whole numbers are kept) lies beside the row as JSON, in the table called `…_rest`, and nothing is lost.
"""
