"""Bytes of Python functions: kept as artifacts of the run where they come out, and read from there where they go in."""

import os
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, TypedDict

import msgspec
import pytest

import jeton
from jeton.executor import ActionFunction
from jeton.executor.artifacts import Artifacts
from jeton.executor.event_sink import MemoryEventSink
from jeton.executor.python.bytes_artifacts import MAX_INPUT_BYTES
from jeton.executor.python.bytes_paths import bytes_paths_in
from jeton.executor.python.extract_bytes import ExtractedBytes, extract_bytes
from jeton.executor.python.results import to_json
from jeton.executor.python.schema_of import schema_of
from jeton.expression.schema import SchemaValidator
from jeton.model.definition.task import Action
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from tests.executor.actions.given_action import Bench, failed, succeeded
from tests.executor.workers import isolated

R1, R2 = RunId("r1"), RunId("r2")


def reference(content: bytes) -> JsonObject:
    id = f"sha256:{sha256(content).hexdigest()}"
    return {"id": id, "media_type": "application/octet-stream", "size": len(content)}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, artifacts=Artifacts(tmp_path / "artifacts"), event_sink=MemoryEventSink())


async def held(bench: Bench, run: RunId = R1) -> list[Json]:
    return [msgspec.structs.asdict(each) for each in await bench.resources.artifacts.list(run)]


def files(bench: Bench) -> list[bytes]:
    return sorted(file.read_bytes() for file in (bench.folder / "artifacts").rglob("*") if file.is_file())


@dataclass
class Photo:
    name: str
    content: bytes


class Album(TypedDict):
    cover: Photo
    rest: list[Photo]


class Frozen(msgspec.Struct, frozen=True):
    content: bytes | None


@dataclass
class Tree:
    content: bytes
    below: list["Tree"]


# out of a value


@pytest.mark.parametrize(
    ("value", "rest", "contents"),
    [
        pytest.param(b"x", None, {(): b"x"}, id="bytes alone"),
        pytest.param({"a": bytearray(b"x"), "b": 1}, {"a": None, "b": 1}, {("a",): b"x"}, id="in an object"),
        pytest.param({"a": memoryview(b"xyz")[::2]}, {"a": None}, {("a",): b"xz"}, id="with gaps"),
        pytest.param([0, memoryview(b"xyz")], [0, None], {(1,): b"xyz"}, id="in a list"),
        pytest.param({"a": "eA==", "b": [b"x"]}, {"a": "eA==", "b": [None]}, {("b", 0): b"x"}, id="beside its text"),
        pytest.param({"a": ({"b": b"x"},)}, {"a": [{"b": None}]}, {("a", 0, "b"): b"x"}, id="deeper"),
        pytest.param({"a": {b"x"}}, {"a": [None]}, {("a", 0): b"x"}, id="in a set"),
        pytest.param({1: b"x"}, {"1": None}, {("1",): b"x"}, id="under a key that is no text"),
        pytest.param(Photo("n", b"x"), {"name": "n", "content": None}, {("content",): b"x"}, id="in a dataclass"),
        pytest.param({"f": Frozen(b"")}, {"f": {"content": None}}, {("f", "content"): b""}, id="none of them"),
        pytest.param([b"x", 1.5, b"x"], [None, 1.5, None], {(0,): b"x", (2,): b"x"}, id="twice the same"),
    ],
)
def test_bytes_are_lifted_out(value: object, rest: Json, contents: dict[tuple[str | int, ...], bytes]) -> None:
    lifted = extract_bytes(value)
    assert isinstance(lifted, ExtractedBytes)
    assert (lifted.value, dict(lifted.contents)) == (rest, contents)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"a": 1, "b": None, "c": "x", "d": 1.5, "e": True}, id="flat"),
        pytest.param({"a": [{"b": ("c", {"d"})}], 2: 0.5}, id="deep"),
        pytest.param(Frozen(None), id="a place that is empty"),
        pytest.param("text", id="text"),
    ],
)
def test_what_has_no_bytes_is_plain_as_ever(value: object) -> None:
    assert extract_bytes(value) == to_json(value)


def test_a_value_is_whole_again() -> None:
    lifted = extract_bytes({"a": [bytearray(b"x")], "b": 1})
    assert isinstance(lifted, ExtractedBytes)
    assert lifted.restored() == {"a": [b"x"], "b": 1}
    assert lifted.value == {"a": [None], "b": 1}


# where hints expect them

REF: dict[str, Any] = reference(b"x")
NOWHERE: set[Any] = set()
LEAF: list[Any] = []
Described = Annotated[bytes, msgspec.Meta(description="a picture")]


@pytest.mark.parametrize(
    ("hint", "value", "paths"),
    [
        pytest.param(bytes, REF, {()}, id="bytes"),
        pytest.param(bytearray | None, REF, {()}, id="or nothing"),
        pytest.param(Annotated[memoryview, msgspec.Meta(description="a picture")], REF, {()}, id="annotated"),
        pytest.param(list[Described], [REF], {(0,)}, id="annotated, in a list"),
        pytest.param(list[bytes], [REF, "eA==", REF], {(0,), (2,)}, id="a list"),
        pytest.param(dict[str, bytes], {"a": REF}, {("a",)}, id="an object"),
        pytest.param(tuple[int, bytes], [1, REF], {(1,)}, id="a tuple"),
        pytest.param(Album, {"cover": {"content": REF}, "rest": [{"content": REF}]}, 2, id="classes"),
        pytest.param(
            Tree, {"content": REF, "below": [{"content": REF, "below": LEAF}]}, 2, id="one that contains itself"
        ),
        pytest.param(bytes, {"id": "x", "media_type": "a/b", "size": 1}, NOWHERE, id="another id"),
        pytest.param(bytes, {**REF, "size": "1"}, NOWHERE, id="another shape"),
        pytest.param(bytes | dict[str, Any], REF, NOWHERE, id="objects are welcome too"),
    ],
)
def test_references_are_found_where_bytes_are_expected(hint: Any, value: Json, paths: set[Any] | int) -> None:
    places = bytes_paths_in(hint)
    assert places is not None
    found = places.references(value)
    assert set(found.values()) <= {REF["id"]}
    assert (len(found) if isinstance(paths, int) else set(found)) == paths


@pytest.mark.parametrize("hint", [int, str, Any, dict[str, Any], list[int | None], bytes | str, object])
def test_most_hints_expect_none(hint: Any) -> None:
    assert bytes_paths_in(hint) is None


# schemas


@pytest.mark.parametrize(
    ("hint", "value", "fits"),
    [
        pytest.param(bytes, "eA==", True, id="text"),
        pytest.param(bytes, REF, True, id="a reference"),
        pytest.param(bytes, {"id": "x"}, False, id="half a reference"),
        pytest.param(bytes, None, False, id="nothing"),
        pytest.param(bytes | None, None, True, id="nothing, if it may be"),
        pytest.param(Album, {"cover": {"name": "n", "content": REF}, "rest": LEAF}, True, id="deeper"),
        pytest.param(Tree, {"content": REF, "below": [{"content": REF, "below": LEAF}]}, True, id="in itself"),
        pytest.param(Tree, {"content": REF, "below": [{"content": 5, "below": LEAF}]}, False, id="in itself, wrong"),
    ],
)
def test_a_schema_takes_text_and_references(hint: Any, value: Json, fits: bool) -> None:
    assert (SchemaValidator(schema_of(hint)).problem(value, "it") is None) is fits


def test_what_is_said_about_a_place_stays_with_it() -> None:
    schema = schema_of(Described)
    assert schema["description"] == "a picture"
    assert set(schema) == {"anyOf", "description"}


# functions


@jeton.action
async def whole() -> bytes:
    return b"hello"


@jeton.action
async def on_the_loop(content: bytes) -> Photo:
    return Photo("doubled", content * 2)


@jeton.action
def in_a_thread(content: bytes, more: list[bytes] | None = None) -> dict[str, Any]:
    return {"content": content + b"".join(more or ()), "given": type(content).__name__}


@jeton.node
def a_node(picture: bytes | None, inputs: dict[str, Any]) -> dict[str, Any]:
    return {"length": None if picture is None else len(picture), "as_inputs": inputs["picture"]}


async def test_the_result_of_an_action_is_a_reference(bench: Bench) -> None:
    assert await bench.call(whole.action) == reference(b"hello")
    assert await held(bench) == [reference(b"hello")]


@pytest.mark.parametrize(
    ("action", "rest"),
    [
        pytest.param(on_the_loop.action, {"name": "doubled"}, id="on the loop"),
        pytest.param(msgspec.structs.replace(isolated.doubled.action, isolation="process"), None, id="in a process"),
    ],
)
async def test_contents_go_in_and_references_come_out(bench: Bench, action: Action, rest: JsonObject | None) -> None:
    given = await bench.resources.artifacts.write(R2, b"abc", "image/png")
    for content in (msgspec.structs.asdict(given), b64encode(b"abc").decode()):
        answer = succeeded(await bench.call(action, {"content": content}))
        assert answer.pop("pid", None) != os.getpid()
        assert answer == {**(rest or {}), "content": reference(b"abcabc")}
    held_now = await held(bench)
    assert msgspec.structs.asdict(given) in held_now, "a run holds what it has read"
    assert len(held_now) == 2
    await bench.close()


async def test_a_function_in_a_thread(bench: Bench) -> None:
    kept: list[Json] = []
    for content in (b"1", b"2", b"3"):
        kept.append(msgspec.structs.asdict(await bench.resources.artifacts.write(R1, content, "a/b")))
    answer = await bench.call(in_a_thread.action, {"content": kept[0], "more": kept[1:]})
    assert answer == {"content": reference(b"123"), "given": "bytes"}


async def test_only_a_parameter_that_asks_for_bytes_gets_them(bench: Bench) -> None:
    kept = msgspec.structs.asdict(await bench.resources.artifacts.write(R1, b"12345", "a/b"))
    assert await bench.call(a_node.action, {"picture": kept}) == {"length": 5, "as_inputs": kept}
    assert await bench.call(a_node.action, {"picture": None}) == {"length": None, "as_inputs": None}


@pytest.mark.parametrize(
    "action", [on_the_loop.action, msgspec.structs.replace(in_a_thread.action, isolation="process")]
)
async def test_content_that_is_not_there(bench: Bench, action: Action) -> None:
    answer = failed(await bench.call(action, {"content": REF}))
    assert (answer.type, answer.message) == ("not_found", f"input 'content': there is no artifact '{REF['id']}'")


async def test_content_that_was_let_go_or_damaged(bench: Bench) -> None:
    kept = await bench.resources.artifacts.write(R1, b"x", "a/b")
    given: JsonObject = {"content": msgspec.structs.asdict(kept)}
    (file,) = [file for file in (bench.folder / "artifacts").rglob("*") if file.is_file()]
    file.write_bytes(b"y")
    assert "is damaged" in failed(await bench.call(on_the_loop.action, given)).message
    await bench.resources.artifacts.delete(R1, kept.id)
    assert failed(await bench.call(on_the_loop.action, given)).type == "not_found"


async def test_contents_are_bounded_together(bench: Bench) -> None:
    half = await bench.resources.artifacts.write(R1, bytes(MAX_INPUT_BYTES // 2), "a/b")
    more = await bench.resources.artifacts.write(R1, bytes(MAX_INPUT_BYTES // 2 + 1), "a/b")
    first, second = msgspec.structs.asdict(half), msgspec.structs.asdict(more)
    answer = failed(await bench.call(in_a_thread.action, {"content": first, "more": [second]}))
    assert answer.type == "too_large"
    assert answer.message.startswith("input 'more.0': ")
    assert str(MAX_INPUT_BYTES) in answer.message


# steps and events


@jeton.node
async def takes_steps(step: jeton.Steps, publish: jeton.Publisher) -> dict[str, Any]:
    made = await step.run("make", lambda: {"picture": bytearray(b"picture"), "same": reference(b"picture")})
    await publish("picture.made", {"picture": made["picture"]})
    return {"kind": type(made["picture"]).__name__, "same": made["same"], "picture": made["picture"]}


@jeton.node
def takes_steps_in_a_thread(step: jeton.BlockingSteps, publish: jeton.BlockingPublisher) -> dict[str, Any]:
    made = step.run("make", lambda: {"picture": b"picture", "same": reference(b"picture")})
    publish("picture.made", {"picture": made["picture"]})
    return {"kind": type(made["picture"]).__name__, "same": made["same"], "picture": made["picture"]}


@pytest.mark.parametrize("function", [takes_steps, takes_steps_in_a_thread])
async def test_a_step_gives_bytes_each_time_and_keeps_them_once(
    bench: Bench, function: ActionFunction[..., Any]
) -> None:
    event_sink = bench.resources.event_sink
    assert isinstance(event_sink, MemoryEventSink)
    for _ in range(2):  # the second time the step is not taken again
        answer = await bench.call(function.action)
        assert answer == {"kind": "bytes", "same": reference(b"picture"), "picture": reference(b"picture")}
    assert files(bench) == [b"picture"]
    assert [event.data for event in event_sink.events][:1] == [{"picture": reference(b"picture")}]


@jeton.action
async def tells_in_bytes() -> dict[str, Any]:
    secret = os.environ["JETON_TEST_BINARY"]
    return {"text": f"it is {secret}", "content": f"<{secret}>".encode(), "innocent": b"\x00\xff"}


async def test_secrets_are_kept_out_of_text_and_of_contents(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JETON_TEST_BINARY", "correct horse battery")
    bench.settings["secrets"] = {"KEY": {"env": "JETON_TEST_BINARY"}}
    answer = succeeded(await bench.call(tells_in_bytes.action))
    assert answer["text"] == "it is [secret KEY]"
    assert answer["content"] == reference(b"<[secret KEY]>")
    assert files(bench) == [b"\x00\xff", b"<[secret KEY]>"]
