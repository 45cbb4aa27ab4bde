"""The embedded host: one process owns the store and advances its runs; others read, and leave messages."""

import asyncio
import hashlib
import time
from asyncio import Future, Task
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import apsw
import msgspec

from jeton.actor.ports import RunRow, Workers
from jeton.actor.run_actor import LiveRun
from jeton.hosts.sqlite.alarms import Alarms
from jeton.hosts.sqlite.bundles import Bundles, put_bundle
from jeton.hosts.sqlite.connect import Durability, connect, refusal
from jeton.hosts.sqlite.disk import refuse_shared_file_system, refuse_stale_log
from jeton.hosts.sqlite.ids import new_run_id
from jeton.hosts.sqlite.lock import OwnerLock, read_record
from jeton.hosts.sqlite.migrate import prepare, refuse_foreign
from jeton.hosts.sqlite.recovery import Recovery, leave_message
from jeton.hosts.sqlite.rows import Mirror
from jeton.hosts.sqlite.runs import Runs
from jeton.hosts.sqlite.store import ENTRIES_AT_ONCE, Store
from jeton.hosts.sqlite.writer import Writer
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import Message
from jeton.model.run import TERMINAL, RunStatus
from jeton.model.workflow import Library

POLL_S = 0.05
CLOSE_GRACE_S = 5.0

_canonical = msgspec.json.Encoder(order="deterministic").encode


def wall_ms() -> int:
    """What the clock on the wall says."""
    return time.time_ns() // 1_000_000
