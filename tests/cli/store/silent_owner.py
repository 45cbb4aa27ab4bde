"""An owner that holds the store and answers nothing."""

import fcntl
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jeton.hosts.sqlite.file.lock import lock_path


@contextmanager
def silent_owner(store: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Hold the store's lock, and let nobody wait long for an answer."""
    monkeypatch.setattr("jeton.actor.replies.ANSWER_WITHIN_S", 0.1)
    monkeypatch.setattr("jeton.engine.control.ANSWER_WITHIN_S", 0.1)
    with lock_path(store).open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
