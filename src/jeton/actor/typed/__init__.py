"""Typed state as tables: which columns and tables a `state_schema` gets, and a value as rows of them and back."""
