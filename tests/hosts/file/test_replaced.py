"""A store that is deleted, replaced or cut under its owner: nothing more is acknowledged."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jeton.actor.starts import NewRun
from jeton.hosts.sqlite.file.identity import CHECK_EVERY_S
from jeton.model.failure import Refused
from tests.hosts.conftest import OpenHost
from tests.hosts.library import chain, library


def delete(store: Path) -> None:
    store.unlink()


def replace(store: Path) -> None:
    other = store.with_name("other.db")
    shutil.copy(store, other)
    other.replace(store)


def delete_log(store: Path) -> None:
    store.with_name(f"{store.name}-wal").unlink()


def cut_log(store: Path) -> None:
    with store.with_name(f"{store.name}-wal").open("r+b") as log:
        log.truncate(100)


def cut(store: Path) -> None:
    with store.open("r+b") as file:
        file.truncate(4096)


@pytest.mark.parametrize("damage", [delete, replace, delete_log, cut_log, cut], ids=lambda damage: damage.__name__)
async def test_no_start_is_acknowledged_into_a_store_that_is_not_the_one_opened(
    damage: Callable[[Path], None], open_host: OpenHost, path: Path
) -> None:
    host = await open_host()
    version = await host.deploy(library(w=chain(1)), "w")
    await host.start(NewRun("w", version, {"n": 1}))
    await host.idle()
    damage(path)
    await asyncio.sleep(2 * CHECK_EVERY_S)
    with pytest.raises(Refused) as refused:
        await host.start(NewRun("w", version, {"n": 2}))
    assert refused.value.code in ("store_replaced", "store_failed", "store_damaged")
    with pytest.raises(Refused):
        await host.start(NewRun("w", version, {"n": 3}))


async def test_a_store_that_is_left_alone_is_not_suspected(open_host: OpenHost, path: Path) -> None:
    host = await open_host()
    version = await host.deploy(library(w=chain(1)), "w")
    for number in range(50):
        await host.start(NewRun("w", version, {"n": number}))
    await host.idle()
    assert len(await host.reads.rows(status="completed")) == 50
