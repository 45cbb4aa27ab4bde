"""Everything stored can be read again: the host refuses messages that could not be."""

import math
from pathlib import Path
from typing import Any, cast

import pytest

from jeton.actor.starts import NewFork, NewRun
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.definition.workflow import Library, Node, WaitTarget, Workflow
from jeton.model.failure import Refused
from jeton.model.message import AnswerGate, CancelRun, Message, SignalRun

WRONG = cast("Any", 5)
HEARS = Library(workflows={"hears": Workflow("hears", "a", {"a": Node(target=WaitTarget(signal="go"))})})


@pytest.mark.parametrize("owner", [pytest.param(True, id="by its owner"), pytest.param(False, id="beside its owner")])
@pytest.mark.parametrize(
    "message",
    [
        pytest.param(CancelRun(1, WRONG), id="a reason that is no text"),
        pytest.param(CancelRun(1, "\ud800"), id="a reason with half a character"),
        pytest.param(SignalRun(1, "i", WRONG), id="a name that is no text"),
        pytest.param(SignalRun(1, "i", "go", key=WRONG), id="a key that is no text"),
        pytest.param(SignalRun(1, "i", "go", cast("Any", object())), id="a value that is no JSON"),
        pytest.param(AnswerGate(1, "i", {}, by=WRONG), id="a person who is no text"),
    ],
)
async def test_a_message_that_could_not_be_read_again_is_refused(path: Path, message: Message, owner: bool) -> None:
    host = await SqliteHost.open(path, workers=None)
    run, _ = await host.start(NewRun("hears", await host.deploy(HEARS, "hears"), {}))
    asked = host if owner else await SqliteHost.open(path, workers=None, owner=False)
    with pytest.raises(Refused) as refused:
        await asked.deliver(run, message)
    assert refused.value.code == "bad_value"
    await host.idle()
    assert len(await host.reads.entries(run)) == 1
    await asked.close(0)
    await host.close(0)
    assert verify(path).ok


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"credits": 5.5}, id="half a credit"),
        pytest.param({"credits": math.nan}, id="nan credits"),
        pytest.param({"overrides": {"a": 5}}, id="inputs that are no object"),
    ],
)
async def test_so_is_a_start(path: Path, given: dict[str, Any]) -> None:
    host = await SqliteHost.open(path, workers=None)
    version = await host.deploy(HEARS, "hears")
    with pytest.raises(Refused, match="cannot be stored"):
        await host.start(NewRun("hears", version, {}, **given))
    assert await host.reads.rows() == []
    await host.close(0)


async def test_so_is_a_fork(path: Path) -> None:
    host = await SqliteHost.open(path, workers=None)
    run, _ = await host.start(NewRun("hears", await host.deploy(HEARS, "hears"), {}))
    with pytest.raises(Refused, match="cannot be stored"):
        await host.fork(NewFork(run, 0, {}, credits=cast("Any", 1.5)))
    assert [row.run for row in await host.reads.rows()] == [run]
    await host.close(0)
