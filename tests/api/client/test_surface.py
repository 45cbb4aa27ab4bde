"""The engine of a server has the methods of the engine: the same names, parameters and defaults."""

import asyncio
import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.api.client.absent import ABSENT
from jeton.api.client.connection import Connection
from jeton.model.failure import Refused
from tests.api.listed import Server

MORE = {"RemoteEngine": {"agents", "stream"}, "RemoteConversation": {"changes"}}
"""What a server has besides."""
PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "connecting.md").read_text()
TWINS = [
    (jeton.Engine, jeton.RemoteEngine),
    (jeton.Run, jeton.RemoteRun),
    (jeton.Conversation, jeton.RemoteConversation),
    (jeton.ChatTurn, jeton.RemoteTurn),
]


def public(face: type) -> dict[str, Any]:
    return {name: member for name, member in inspect.getmembers(face) if not name.startswith("_")}


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any, str]]:
    found = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default, str(each.annotation)) for each in found]


@pytest.mark.parametrize(("here", "there"), TWINS, ids=[here.__name__ for here, _ in TWINS])
def test_a_server_has_the_methods_of_the_engine(here: type, there: type) -> None:
    ours, theirs = public(here), public(there)
    absent = set(ABSENT) if here is jeton.Engine else set[str]()
    assert set(ours) - set(theirs) == absent
    assert set(theirs) - set(ours) == MORE.get(there.__name__, set())
    for name in ours.keys() & theirs.keys():
        assert parameters(ours[name]) == parameters(theirs[name]), name


def test_the_documentation_lists_what_a_server_has_not() -> None:
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE, re.MULTILINE)) == ABSENT


def test_the_example_of_the_page_runs(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    panel = {"initial_node": "a", "nodes": {"a": {"output_mapping": {"output.read": "input.essay"}}}}
    with jeton.connect_sync(server.url, key=server.key) as engine:
        engine.deploy({"workflows": {"panel": panel}})
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    script = textwrap.indent(example.replace("https://jeton.example", server.url).replace("jtn_…", server.key), "    ")
    names: dict[str, Any] = {"jeton": jeton}
    exec(f"async def main():\n{script}", names)
    asyncio.run(names["main"]())
    assert capsys.readouterr().out == "{'read': '…'}\n"


def test_an_engine_without_await(server: Server) -> None:
    library = {
        "workflows": {"sync": {"initial_node": "a", "nodes": {"a": {"output_mapping": {"output.n": "input.n"}}}}}
    }
    with jeton.connect_sync(server.url, key=server.key) as engine:
        assert engine.deploy(library).versions == {"sync": 1}
        run = engine.start("sync", {"n": 3}, key="once")
        assert (run.result().output, run.new) == ({"n": 3}, True)
        assert engine.start("sync", {"n": 3}, key="once").new is False
        assert [event["type"] for event in run.events()][-1] == "run.completed"
        assert engine.get(run.id).status == "completed"
        with pytest.raises(jeton.Refused, match="no 'idle'"):
            engine.idle()
    with pytest.raises(AttributeError, match=r"write 'with jeton.connect_sync\(…\) as engine:'"):
        _ = jeton.connect_sync(server.url).start  # type: ignore[attr-defined]


async def test_a_missing_async_with_is_told() -> None:
    connecting: Any = jeton.connect("http://127.0.0.1:9")
    with pytest.raises(TypeError, match=r"jeton\.connect_sync"), connecting:
        pass
    with pytest.raises(jeton.Refused, match="would block the event loop"), jeton.connect_sync("http://127.0.0.1:9"):
        pass


async def test_what_a_server_has_not_says_what_to_use_instead() -> None:
    connection = Connection("http://127.0.0.1:9", None)
    engine: Any = jeton.RemoteEngine(connection)
    for name, remedy in ABSENT.items():
        with pytest.raises(Refused) as refused:
            getattr(engine, name)
        assert (refused.value.code, refused.value.remedy) == ("unsupported_store", remedy)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = engine.nothing
    await connection.close()
