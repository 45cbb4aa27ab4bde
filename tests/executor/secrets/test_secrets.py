"""Secrets: resolved when a call needs them, and found again in whatever comes back."""

import base64
import html
import json
import logging
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.executor.artifacts import Artifacts
from jeton.executor.python.action import action
from jeton.executor.secrets import RedactingFilter, RedactingStream, Redactor
from jeton.model.definition.task import Action
from jeton.model.failure import TaskFailed
from jeton.model.json import Json, JsonObject
from jeton.plugins import ActionCall, ActionFailed, ActionHandler, Kind, register_kind
from tests.executor.http.evil_server import answer, evil_server
from tests.executor.http.given import LOOPBACK, Caller, caller
from tests.executor.secrets.canary import CANARY

PRINT = "import sys; sys.stdout.write(sys.argv[1])"


class Tell(Kind, frozen=True):
    """A kind that gives a secret away."""

    name: str
    fail: bool = False

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            value = await call.secret(self.name)
            if self.fail:
                raise ValueError(f"the key is {value}")
            return {"value": value, value: [{"deep": f"<{value}>"}]}

        return act


register_kind("tell", Tell)


def with_secrets(**secrets: Json) -> JsonObject:
    return {**LOOPBACK, "secrets": secrets}


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> JsonObject:
    """A project with one secret, the canary."""
    monkeypatch.setenv("JETON_TEST_CANARY", CANARY)
    return with_secrets(KEY={"env": "JETON_TEST_CANARY"})


async def value_of(source: Json) -> str | TaskFailed:
    """What a call gets; it is told in a roundabout way, or it would be redacted."""

    async with caller(with_secrets(KEY=source)) as project:
        secrets = project.resources.secrets.of(project.settings)
        try:
            return await secrets.get("KEY", project.clock, project.resources.threads)
        except Exception:
            failed = await project.run(Action("tell", {"name": "KEY"}))
            assert isinstance(failed, TaskFailed)
            return failed


async def test_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JETON_TEST_VALUE", "from-the-environment")
    assert await value_of({"env": "JETON_TEST_VALUE"}) == "from-the-environment"


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
async def test_from_a_file_without_the_end_of_its_line(tmp_path: Path, end: str) -> None:
    (tmp_path / "key").write_bytes(b"from-a-file" + end.encode())
    assert await value_of({"file": str(tmp_path / "key")}) == "from-a-file"


async def test_from_a_command() -> None:
    assert await value_of({"command": [sys.executable, "-c", PRINT, "from-a-command\n"]}) == "from-a-command"


async def test_a_command_is_not_run_for_every_call(tmp_path: Path) -> None:
    count = f"open({str(tmp_path / 'count')!r}, 'a').write('x'); print('from-a-command')"
    async with caller(with_secrets(KEY={"command": [sys.executable, "-c", count]})) as project:
        for _ in range(3):
            await project.run(Action("tell", {"name": "KEY"}))
    assert (tmp_path / "count").read_text() == "x"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param(
            {"env": "JETON_TEST_NOBODY_SET"},
            "the secret 'KEY' is missing: environment variable JETON_TEST_NOBODY_SET is not set",
            id="no such variable",
        ),
        pytest.param(
            {"file": "/nowhere/key"},
            "the secret 'KEY' is missing: /nowhere/key: No such file or directory",
            id="no such file",
        ),
        pytest.param(
            {"command": [sys.executable, "-c", "import sys; sys.exit('the-password-is-wrong')"]},
            f"the secret 'KEY' is missing: {sys.executable} ended with exit code 1",
            id="a command that fails; what it says is not repeated",
        ),
        pytest.param(
            {"command": [sys.executable, "-c", "while True: print('x' * 1000)"]},
            "the secret 'KEY' is longer than 65536 bytes",
            id="a command without end",
        ),
        pytest.param(
            {"command": [sys.executable, "-c", "import os; os.write(1, b'\\xff' * 9)"]},
            "the secret 'KEY' is not valid UTF-8",
            id="no text",
        ),
        pytest.param(
            {"command": [sys.executable, "-c", "print('abc')"]},
            "the secret 'KEY' has fewer than 6 characters, too few to be redacted",
            id="too short",
        ),
        pytest.param({}, "project.settings.secrets.KEY needs one of 'env', 'file' and 'command'", id="no source"),
        pytest.param(
            {"env": "A", "file": "b"},
            "project.settings.secrets.KEY needs one of 'env', 'file' and 'command'",
            id="two sources",
        ),
    ],
)
async def test_a_secret_that_cannot_be_had_is_named(source: Json, message: str) -> None:
    assert await value_of(source) == TaskFailed("secret_unavailable", message, "call")


async def test_a_secret_nobody_defined(settings: JsonObject) -> None:
    async with evil_server() as server, caller(settings) as project:
        failed = await project.fails(server.url + "/echo", auth={"bearer": {"secret": "OTHER"}})
        message = "there is no secret 'OTHER': add its source to project.settings.secrets"
        assert failed == TaskFailed("secret_unavailable", message, "call")
        assert server.heard == []


async def test_credentials_are_sent_and_what_repeats_them_is_redacted(settings: JsonObject) -> None:
    async with evil_server() as server, caller(settings) as project:
        given = await project.gives(
            server.url + "/echo", auth={"bearer": {"secret": "KEY"}}, headers={"X-Key": {"secret": "KEY"}}
        )
        assert server.heard[0].headers["authorization"] == f"Bearer {CANARY}"
        assert server.heard[0].headers["x-key"] == CANARY
        assert CANARY not in json.dumps(given)
        said = given["json"]
        assert isinstance(said, dict)
        assert isinstance(said["headers"], dict)
        assert said["headers"]["x-key"] == "[secret KEY]"


async def test_basic_authentication_is_recognised_in_its_encoded_form(settings: JsonObject) -> None:
    async with evil_server() as server, caller(settings) as project:
        for user in ("a", "ab", "abc"):
            auth: Json = {"basic": {"username": user, "password": {"secret": "KEY"}}}
            given = await project.gives(server.url + "/echo", auth=auth)
            sent = server.heard[-1].headers["authorization"]
            assert base64.b64decode(sent.removeprefix("Basic ")).decode() == f"{user}:{CANARY}"
            assert sent not in json.dumps(given)
            assert "[secret KEY]" in json.dumps(given)


async def test_an_error_shows_no_part_of_a_secret(settings: JsonObject) -> None:
    async with evil_server() as server, caller(settings) as project:
        for before in range(260, 320):
            url = server.says("/x", answer(b"x" * before + CANARY.encode() + b"y", "400 Bad Request"))
            failed = await project.fails(url, auth={"bearer": {"secret": "KEY"}})
            assert CANARY[:4] not in failed.message


async def test_an_artifact_has_no_secret_in_it(settings: JsonObject, tmp_path: Path) -> None:
    async with evil_server() as server, caller(settings) as project:
        resources = msgspec.structs.replace(project.resources, artifacts=Artifacts(tmp_path))
        url = server.says("/x", answer(b"x" * 200_000 + CANARY.encode() + b"y" * 200_000))
        await Caller(resources, project.clock, settings).gives(url, artifact_above_bytes=0)
        (kept,) = (file for file in tmp_path.rglob("*") if file.is_file())
        assert kept.read_bytes() == b"x" * 200_000 + b"[secret KEY]" + b"y" * 200_000


async def test_what_any_kind_gives_or_raises_is_redacted(settings: JsonObject) -> None:
    async with caller(settings) as project:
        given = await project.run(Action("tell", {"name": "KEY"}))
        assert given == {"value": "[secret KEY]", "[secret KEY]": [{"deep": "<[secret KEY]>"}]}
        failed = await project.run(Action("tell", {"name": "KEY", "fail": True}))
        assert isinstance(failed, TaskFailed)
        assert (failed.type, failed.message) == ("ValueError", "the key is [secret KEY]")
        assert failed.stack is not None
        assert failed.stack.endswith("ValueError: the key is [secret KEY]\n")


async def test_a_function_that_reads_the_variable_itself_is_redacted(settings: JsonObject) -> None:
    @action
    async def nosy() -> str:
        import os

        return os.environ["JETON_TEST_CANARY"]

    async with caller(settings) as project:
        assert await project.run(nosy.action) == {"result": "[secret KEY]"}


async def test_a_value_that_was_changed_is_still_known(settings: JsonObject, monkeypatch: pytest.MonkeyPatch) -> None:
    async with caller(settings) as project:
        await project.run(Action("tell", {"name": "KEY"}))
        monkeypatch.setenv("JETON_TEST_CANARY", "another-value")
        assert project.resources.secrets.of(settings).text(f"{CANARY} another-value") == "[secret KEY] [secret KEY]"


async def test_logs(settings: JsonObject, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with evil_server() as server, caller(settings) as project:
        await project.gives(server.url + "/echo", auth={"bearer": {"secret": "KEY"}})
        await project.run(Action("tell", {"name": "KEY", "fail": True}))
        logger = logging.getLogger("tests.secrets")
        logger.addFilter(RedactingFilter(project.resources.secrets))
        try:
            raise ValueError(CANARY)
        except ValueError:
            logger.exception("oh, %s", CANARY)
    assert CANARY not in caplog.text
    assert "[secret KEY]" in caplog.text


SECRET = 'a+b/é"&<c>\\d e?'


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(SECRET, id="as it is"),
        pytest.param(quote(SECRET), id="in a path"),
        pytest.param(quote(SECRET, safe=""), id="in a path, whole"),
        pytest.param(quote_plus(SECRET), id="in a form"),
        pytest.param(quote(SECRET, safe="").lower(), id="in small letters"),
        pytest.param(json.dumps(SECRET), id="in JSON"),
        pytest.param(json.dumps(SECRET, ensure_ascii=False), id="in JSON with letters"),
        pytest.param(json.dumps(SECRET).replace("/", "\\/"), id="in JSON that escapes slashes"),
        pytest.param(html.escape(SECRET), id="in HTML"),
        pytest.param(repr(SECRET), id="in Python"),
        pytest.param(SECRET.encode().hex(), id="in hexadecimal"),
        pytest.param(base64.b64encode(SECRET.encode()).decode(), id="in base64"),
        pytest.param(base64.urlsafe_b64encode(SECRET.encode()).decode(), id="in base64 for a url"),
        pytest.param(base64.b64encode(f"u:{SECRET}!".encode()).decode(), id="inside base64"),
        pytest.param(base64.b64encode(f"us:{SECRET}".encode()).decode(), id="inside base64, further in"),
    ],
)
def test_forms_of_a_secret(form: str) -> None:
    shown = Redactor({SECRET: "KEY"}).text(f"before {form} after")
    assert "[secret KEY]" in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")


def test_lines_of_a_longer_secret() -> None:
    redactor = Redactor({"-----BEGIN KEY-----\nMIIEvQIBADANBgkqh\n}\n": "PEM"})
    assert redactor.text("line 2: MIIEvQIBADANBgkqh }") == "line 2: [secret PEM] }"


def test_a_number_that_is_a_secret() -> None:
    redactor = Redactor({"12345678": "PIN"})
    assert redactor.value([12345678, 1234567, True, None]) == ["[secret PIN]", 1234567, True, None]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_holds_no_secret_is_left_alone(value: Json) -> None:
    assert Redactor({"a-secret-value": "KEY"}).value(value) == value


@given(
    st.lists(st.sampled_from([b"x", b"secret", b"-", b"secret-value", b"a-secret-value", b"value"])), st.integers(1, 9)
)
async def test_a_stream_is_redacted_however_it_is_cut(parts: list[bytes], size: int) -> None:
    whole = b"".join(parts)

    async def cut() -> AsyncGenerator[bytes]:
        for start in range(0, len(whole), size):
            yield whole[start : start + size]

    shown = b"".join([piece async for piece in Redactor({"a-secret-value": "KEY"}).stream(cut())])
    assert shown == whole.replace(b"a-secret-value", b"[secret KEY]")


@given(st.lists(st.sampled_from(["a", "ab", "abcd1234", "abcd12345", "x", " "]), max_size=12), st.integers(1, 5))
def test_a_stream_is_redacted_like_the_whole_text(words: list[str], size: int) -> None:
    redactor = Redactor({"abcd1234": "short", "abcd12345": "long"})
    text = "".join(words)
    stream = RedactingStream(lambda: redactor)
    pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*pieces, stream.end()]) == redactor.text(text)


def test_only_what_may_be_a_secret_is_held_back() -> None:
    stream = RedactingStream(lambda: Redactor({"swordfish": "key"}))
    pieces = ("a fine s", "word", " and a sword", "fish", "!")
    assert [stream.feed(piece) for piece in pieces] == ["a fine ", "", "sword and a ", "[secret key]", "!"]
