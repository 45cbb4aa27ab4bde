"""Notifications of other processes, read on a thread of their own."""

import logging
import threading
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress
from time import sleep

from jeton.hosts.postgres.connection import LOST, connect
from jeton.hosts.postgres.dialect import CHANGED, INBOX
from jeton.model.failure import Refused

AGAIN_S = 0.5

_log = logging.getLogger("jeton.store")


class Listener:
    """Calls `on_notice` on the event loop, with the channel and what was sent; with nothing after a new connection."""

    def __init__(self, url: str, loop: AbstractEventLoop, on_notice: Callable[[str, str], None]) -> None:
        self._url = url
        self._loop = loop
        self._on_notice = on_notice
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="jeton-listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except (*LOST, Refused) as problem:
                _log.debug("notifications are not heard, next try in %s s: %s", AGAIN_S, problem)
                sleep(AGAIN_S)

    def _listen(self) -> None:
        db = connect(self._url, name="jeton listener")
        try:
            db.execute(f"listen {INBOX}")
            db.execute(f"listen {CHANGED}")
            self._call("", "")  # something may have been missed
            while not self._stopping.is_set():
                for notice in db.raw.notifies(timeout=0.2):
                    self._call(notice.channel, notice.payload)
        finally:
            db.close()

    def _call(self, channel: str, payload: str) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._on_notice, channel, payload)
