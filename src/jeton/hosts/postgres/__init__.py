"""The PostgreSQL host: several workers on several machines, and one database.

Imported only when a store is one, because it needs `jeton[postgres]`.
"""
