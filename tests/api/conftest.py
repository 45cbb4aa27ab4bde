"""One server for most tests of this folder. Tests use workflows and keys of their own, so they do not meet."""

from collections.abc import Iterator

import httpx2
import pytest

from jeton.api import app
from jeton.api.app import Request
from jeton.api.asgi import Send
from jeton.api.problems import HttpProblem
from jeton.api.route import Answer
from tests.api.listed import Server, unlisted

UNLISTED: list[str] = []


@pytest.fixture(scope="session", autouse=True)
def answers_are_seen() -> Iterator[None]:
    """Every answer of a server in this process is compared with what the table lists for its route."""
    respond = app.respond

    async def seen(request: Request, answer: Answer, send: Send) -> None:
        code = answer.value.code if isinstance(answer.value, HttpProblem) else None
        problem = unlisted(request.method, request.path, answer.status, code)
        if problem is not None:
            UNLISTED.append(problem)
        await respond(request, answer, send)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "respond", seen)
        yield


@pytest.fixture(autouse=True)
def nothing_unlisted_is_answered(answers_are_seen: None) -> Iterator[None]:
    yield
    found = UNLISTED[:]
    UNLISTED.clear()
    assert found == []


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("served") / "store.db").start()
    yield started
    started.stop()


@pytest.fixture
def client(server: Server) -> Iterator[httpx2.Client]:
    with server.client() as opened:
        yield opened
