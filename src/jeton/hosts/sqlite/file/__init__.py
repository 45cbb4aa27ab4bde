"""The store's file: connections, lock, migrations, and checks of the disk."""
