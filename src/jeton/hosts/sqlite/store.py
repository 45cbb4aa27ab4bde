"""Reads of a store that is a file."""

from functools import partial
from pathlib import Path

from jeton.hosts.sql.store import Store
from jeton.hosts.sqlite.file.connect import connect_reader


def file_store(path: Path) -> Store:
    """Reads of the store at a path."""
    return Store(partial(connect_reader, path))
