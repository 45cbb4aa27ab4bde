"""Bytes between functions on a real store: what is in its files, and what a kill takes away."""

import signal
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any, TypedDict

import pytest

import jeton
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.json import JsonObject
from tests.engine.builder.test_nodes import jeton_
from tests.engine.test_flows import flow, wire

PICTURE = bytes(range(256)) * 40
ID = f"sha256:{sha256(PICTURE).hexdigest()}"
REFERENCE = {"id": ID, "media_type": "application/octet-stream", "size": len(PICTURE)}

APP = """
import os, signal
from pathlib import Path
import jeton

HERE = Path(__file__).parent

def note(what):
    with (HERE / "done.txt").open("a") as file:
        file.write(what + "\\n")

def die_once(where):
    if where == (HERE / "dies").read_text():
        (HERE / "dies").write_text("")
        os.kill(os.getpid(), signal.SIGKILL)

def draw():
    note("drawn")
    return bytes(range(256)) * 40

@jeton.node
async def draws(step):
    picture = await step.run("draw", draw)
    die_once("behind the step")
    note(f"{type(picture).__name__} {len(picture)}")
    return {"picture": picture}

@jeton.node
def measures(picture: bytes):
    die_once("between the nodes")
    return {"length": len(picture), "last": picture[-1]}

gallery = jeton.Flow("gallery")
gallery.connect(gallery.node("draws", draws), gallery.node("measures", measures), "picture", "picture")
"""


def files(store: Path) -> list[bytes]:
    folder = store.with_name(f"{store.name}-artifacts")
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file()]


def stored(store: Path) -> bytes:
    """All that the store itself consists of, its log included."""
    return b"".join(file.read_bytes() for file in store.parent.glob(f"{store.name}*") if file.is_file())


def assert_only_references(store: Path) -> None:
    inside = stored(store)
    assert ID.encode() in inside
    assert PICTURE[:64] not in inside
    for begin in range(3):
        assert b64encode(PICTURE[begin : begin + 48]) not in inside
    assert files(store) == [PICTURE]


@pytest.mark.parametrize("where", ["behind the step", "between the nodes"])
def test_a_kill_loses_no_picture_and_makes_no_second_one(tmp_path: Path, where: str) -> None:
    app, store = tmp_path / "gallery.py", tmp_path / "runs.db"
    app.write_text(APP)
    (tmp_path / "dies").write_text(where)
    jeton_(tmp_path, "run", str(app), exits=-signal.SIGKILL)
    jeton_(tmp_path, "resume", "--app", str(app), exits=0)
    (run,) = jeton_(tmp_path, "ls", exits=0)["runs"]
    shown = jeton_(tmp_path, "show", run["run_id"], exits=0)
    assert (shown["status"], shown["output"]) == (
        "completed",
        {"picture": REFERENCE, "length": len(PICTURE), "last": 255},
    )
    assert (tmp_path / "done.txt").read_text().splitlines() == ["drawn", f"bytes {len(PICTURE)}"]
    assert_only_references(store)
    assert verify(store).problems == ()


@jeton.node
def paints() -> dict[str, Any]:
    return {"picture": PICTURE}


@jeton.node
async def frames(picture: bytes) -> dict[str, Any]:
    return {"framed": len(picture) + 2}


class Given(TypedDict):
    picture: bytes


class Weighed(TypedDict):
    picture: bytes
    grams: int


@jeton.action
def weigh(picture: bytes) -> Weighed:
    return {"picture": picture, "grams": len(picture)}


def gallery() -> JsonObject:
    return flow({"a": {"type": "paints"}, "b": {"type": "frames"}}, wire("a", "b", "picture", "picture"))


async def test_what_a_run_gave_can_be_given_to_another(tmp_path: Path) -> None:
    """With bytes in the types of its input and its state: a mapping may read of a reference what there is to read."""
    weighing = jeton.Workflow("weighing", input=Given, state=Weighed)
    read = {"state.picture": "result.picture", "state.grams": "result.grams", "output.size": "result.picture.size"}
    weighing.node("weigh", action=weigh, input={"picture": "input.picture"}, output=read)
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(gallery())
        first = await (await engine.start("f")).result(20)
        run = await engine.start(weighing, {"picture": REFERENCE})
        second = await run.result(20)
        context = await engine.context(run.id)
    assert first.output == {"picture": REFERENCE, "framed": len(PICTURE) + 2}
    assert second.output == {"size": len(PICTURE)}
    assert context.state == {"picture": REFERENCE, "grams": len(PICTURE)}
    assert_only_references(tmp_path / "runs.db")
    assert verify(tmp_path / "runs.db").problems == ()
