"""Which exceptions of functions are retried, and how the calls are counted."""

import errno
import http.client
import socket
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

import jeton
from jeton.executor import VirtualClock
from jeton.executor.task.notes import MAX_NOTES
from jeton.model.definition.task import Action, Execution, RetryPolicy, Step, Task
from jeton.model.failure import TaskFailed
from jeton.model.note import RetryNote
from tests.executor.actions.given_action import Bench, failed, succeeded
from tests.executor.given import run, task
from tests.executor.workers.isolated import busy_service


def of(module: str, name: str, *bases: type[BaseException]) -> type[Exception]:
    """An exception class as a client library defines it."""
    return cast("type[Exception]", type(name, bases or (Exception,), {"__module__": module}))


def caused_by(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


HTTPX_NETWORK = of("httpx", "NetworkError", of("httpx", "TransportError"))
HTTPX_CONNECT = of("httpx", "ConnectError", HTTPX_NETWORK)
REQUESTS_CONNECTION = of("requests.exceptions", "ConnectionError", OSError)
URLLIB3_REFUSED = of("urllib3.exceptions", "NewConnectionError")
AIOHTTP_CONNECTION = of("aiohttp.client_exceptions", "ClientConnectionError")
CERTIFICATE = ssl.SSLCertVerificationError("certificate verify failed")


def urllib3_gave_up(reason: Exception) -> Exception:
    error = of("urllib3.exceptions", "MaxRetryError")("Max retries exceeded")
    error.reason = reason  # type: ignore[attr-defined]  # as urllib3 sets it
    return error


TRANSIENT = [
    ConnectionRefusedError("refused"),
    TimeoutError("slow"),
    socket.gaierror(socket.EAI_AGAIN, "try again"),
    OSError(errno.EHOSTUNREACH, "no route to host"),
    http.client.RemoteDisconnected("closed"),
    http.client.IncompleteRead(b"half"),
    urllib.error.URLError(ConnectionRefusedError("refused")),
    urllib.error.URLError(TimeoutError("slow")),
    ssl.SSLEOFError("cut"),
    HTTPX_CONNECT("refused"),
    of("httpx", "ReadTimeout", of("httpx", "TimeoutException"))("slow"),
    of("httpx", "RemoteProtocolError")("cut"),
    REQUESTS_CONNECTION("refused"),
    of("requests.exceptions", "ReadTimeout", of("requests.exceptions", "Timeout"))("slow"),
    of("urllib3.exceptions", "ReadTimeoutError", of("urllib3.exceptions", "TimeoutError"))("slow"),
    urllib3_gave_up(URLLIB3_REFUSED("refused")),
    of("aiohttp.client_exceptions", "ServerDisconnectedError", AIOHTTP_CONNECTION)("closed"),
    of("openai", "APITimeoutError", of("openai", "APIConnectionError"))("slow"),
    of("anthropic", "APIConnectionError")("refused"),
    jeton.TransientError("busy"),
    ExceptionGroup("both", [ConnectionResetError("reset"), TimeoutError("slow")]),
]
PERMANENT = [
    ValueError("wrong"),
    FileNotFoundError(errno.ENOENT, "no such file"),
    CERTIFICATE,
    urllib.error.URLError(CERTIFICATE),
    urllib.error.URLError("unknown url type"),
    urllib.error.HTTPError("http://x", 404, "Not Found", cast("Any", {}), None),
    caused_by(HTTPX_CONNECT("certificate verify failed"), CERTIFICATE),
    of("requests.exceptions", "HTTPError")("404"),
    of("requests.exceptions", "InvalidURL")("no host"),
    urllib3_gave_up(of("urllib3.exceptions", "ResponseError")("too many 500 error responses")),
    of("aiohttp.client_exceptions", "ClientConnectorCertificateError", AIOHTTP_CONNECTION, type(CERTIFICATE))("bad"),
    of("openai", "BadRequestError")("400"),
    of("my.errors", "NetworkError")("somebody else's"),
    ExceptionGroup("both", [ConnectionResetError("reset"), ValueError("wrong")]),
]


@jeton.action(retry=RetryPolicy(3))
async def raises_next() -> None:
    raise NEXT[0]


NEXT: list[Exception] = []


@pytest.mark.parametrize(
    ("error", "calls"),
    [(error, 3) for error in TRANSIENT] + [(error, 1) for error in PERMANENT],
    ids=lambda value: f"{type(value).__module__}.{type(value).__name__}" if isinstance(value, Exception) else value,
)
def test_connection_errors_and_timeouts_are_retried(error: Exception, calls: int) -> None:
    NEXT[:] = [error]
    failure = failed(run(task(raises_next.action)))
    assert (failure.calls, failure.transient, failure.type) == (calls, calls == 3, type(error).__name__)


async def test_a_dead_port_is_called_as_often_as_the_policy_says(bench: Bench) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"

        @jeton.action(retry=RetryPolicy(4))
        def fetch_dead_port() -> str:
            with urllib.request.urlopen(url) as response:
                return str(response.status)

        assert failed(await bench.call(fetch_dead_port.action)).calls == 4
    retries = [note for note in bench.heard if isinstance(note, RetryNote)]
    assert [(note.step, note.call, note.type) for note in retries] == [("s0", call, "URLError") for call in (2, 3, 4)]


class Busy(Exception):
    pass


class Busier(Busy):
    pass


@jeton.action(retry=RetryPolicy(3), retry_on=(Busy, KeyError))
async def busy_action() -> None:
    raise NEXT[0]


@jeton.node(retry=RetryPolicy(3), retry_on=Busy)
async def busy_node() -> None:
    raise NEXT[0]


@pytest.mark.parametrize(
    ("action", "error", "calls"),
    [
        pytest.param(busy_action.action, Busy("b"), 3, id="a listed class"),
        pytest.param(busy_action.action, Busier("b"), 3, id="a subclass of it"),
        pytest.param(busy_action.action, KeyError("b"), 3, id="another listed class"),
        pytest.param(busy_action.action, ConnectionError("b"), 3, id="what is transient anyway"),
        pytest.param(busy_action.action, ValueError("b"), 1, id="what is not listed"),
        pytest.param(busy_node.action, Busier("b"), 3, id="of a node, a single class"),
        pytest.param(busy_node.action, KeyError("b"), 1, id="of a node, what is not listed"),
    ],
)
def test_retry_on(action: Action, error: Exception, calls: int) -> None:
    NEXT[:] = [error]
    assert failed(run(task(action))).calls == calls


async def test_retry_on_holds_in_a_process_too(bench: Bench, tmp_path: Path) -> None:
    counter = tmp_path / "calls"
    isolated = Action(
        "python",
        busy_service.action.implementation,
        isolation="process",
        execution=Execution(retry_policy=RetryPolicy(3)),
    )
    assert succeeded(await bench.call(isolated, {"counter": str(counter)})) == {"result": 3}


@pytest.mark.parametrize("wrong", ["Busy", (Busy, "KeyError"), Busy("an instance")])
def test_retry_on_takes_exception_classes(wrong: Any) -> None:
    with pytest.raises(jeton.DefinitionError, match=r"retry_on=\(ConnectionError, MyError\)"):

        @jeton.action(retry_on=wrong)
        def never() -> None: ...


def test_calls_are_those_of_the_step_that_failed() -> None:
    mock = Action("mock", {"fail": {"times": 2, "transient": True}}, execution=Execution(retry_policy=RetryPolicy(3)))
    wrong = Action("mock", {"fail": {"times": 1, "message": "wrong"}})
    given = Task((Step(mock, ref="a"), Step(wrong, ref="b")))
    assert run(given) == TaskFailed("mock_failure", "wrong", "b")


async def test_retries_are_reported_with_their_time_and_within_bounds(tmp_path: Path) -> None:
    clock = VirtualClock(1_000)
    bench = Bench(tmp_path)
    bench.resources = msgspec.structs.replace(bench.resources, clock=clock, wall_clock=clock.now)
    policy = RetryPolicy(MAX_NOTES + 50, "none", 10, 10)
    mock = Action("mock", {"fail": {"times": 9**9, "transient": True}}, execution=Execution(retry_policy=policy))
    assert failed(await bench.call(mock)).calls == MAX_NOTES + 50
    retries = [note for note in bench.heard if isinstance(note, RetryNote)]
    assert retries[:2] == [
        RetryNote("s0", 2, 1_010, "mock_failure", "mock failure"),
        RetryNote("s0", 3, 1_020, "mock_failure", "mock failure"),
    ]
    assert len(retries) == MAX_NOTES


@jeton.action(name="always_unreachable", retry=RetryPolicy(3))
async def always_unreachable() -> None:
    raise HTTPX_CONNECT("refused")


@pytest.mark.parametrize("handled", [False, True])
async def test_a_run_shows_its_calls(tmp_path: Path, handled: bool) -> None:
    workflow = jeton.Workflow("calls")
    node = workflow.node("fetch", action=always_unreachable)
    if handled:
        after = workflow.node("after", input={"error": "state._last_error"}, output={"output.error": "result.error"})
        workflow.transition(node, after, condition="state._last_error.calls == 3")
    async with jeton.open(tmp_path / "calls.db") as engine:
        run = await engine.start(workflow)
        record = await run.result()
        events = [event async for event in run.events()]
    retrying = [event for event in events if event["type"] == "task.retrying"]
    assert [event["call"] for event in retrying] == [2, 3]
    assert retrying[0]["failure"] == {"type": "ConnectError", "message": "refused", "step": "fetch", "transient": True}
    if handled:
        error = cast("dict[str, Any]", record.output_or_raise())["error"]
        assert (error["attempts"], error["calls"]) == (1, 3)
    else:
        assert record.error is not None
        assert (record.error.attempts, record.error.calls) == (1, 3)
