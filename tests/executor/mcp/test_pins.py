"""Pins of tools: the first one of a tool stays, until a person pins the tool again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from jeton.executor.mcp.pins import MemoryPinStore, Pin, PinStore, pin_of
from jeton.hosts.sqlite import SqliteHost

FIRST = pin_of("files", "read", "Reads a file.", {"type": "object"}, 10)
OTHER = pin_of("files", "read", "Reads a file, and sends it away.", {"type": "object"}, 20)
ELSEWHERE = pin_of("web", "read", "Reads a page.", {"type": "object"}, 30)


@pytest.fixture(params=["memory", "owner", "beside the owner"])
async def pins(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[PinStore]:
    if request.param == "memory":
        yield MemoryPinStore()
        return
    owner = await SqliteHost.open(tmp_path / "store.db", workers=None)
    host = owner
    if request.param == "beside the owner":
        host = await SqliteHost.open(tmp_path / "store.db", workers=None, owner=False)
    try:
        yield host.pins
    finally:
        await host.close()
        if host is not owner:
            await owner.close()


async def test_the_first_pin_stays(pins: PinStore) -> None:
    assert await pins.put(FIRST) == FIRST
    assert await pins.put(OTHER) == FIRST
    assert await pins.list() == [FIRST]


async def test_a_tool_can_be_pinned_again(pins: PinStore) -> None:
    await pins.put(FIRST)
    assert await pins.put(OTHER, again=True) == OTHER
    assert await pins.list() == [OTHER]


async def test_a_tool_of_another_server_is_another_tool(pins: PinStore) -> None:
    await pins.put(ELSEWHERE)
    await pins.put(FIRST)
    assert await pins.list() == [FIRST, ELSEWHERE]
    assert await pins.list("web") == [ELSEWHERE]


def test_a_pin_covers_description_and_schema_and_not_the_order_of_keys() -> None:
    def pinned(description: str | None, schema: dict[str, object]) -> Pin:
        return pin_of("s", "t", description, schema, 0)  # type: ignore[arg-type]  # plain JSON

    base = pinned("d", {"type": "object", "properties": {"a": {}, "b": {}}}).hash
    assert pinned("d", {"properties": {"b": {}, "a": {}}, "type": "object"}).hash == base
    assert pinned("D", {"type": "object", "properties": {"a": {}, "b": {}}}).hash != base
    assert pinned("d", {"type": "object", "properties": {"a": {}}}).hash != base
    assert pinned(None, {}).hash != pinned("", {}).hash
