"""The file of a store: connections, lock, migrations, and checks."""
