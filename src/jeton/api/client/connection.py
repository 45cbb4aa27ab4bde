"""One connection to a server: requests out, typed answers or refusals back."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TypeVar, cast
from urllib.parse import quote

import httpx2
import msgspec

from jeton.engine.input import InputInvalid, InputProblem
from jeton.model.codes import RefusalCode
from jeton.model.failure import DefinitionError, Problem, Refused
from jeton.model.json import JsonObject

_T = TypeVar("_T")
TIMEOUT_S = 90.0
CREATED, NO_CONTENT, TOO_MANY = 201, 204, 429
SEND_AGAIN = 20  # a request that came too early is refused before anything of it is done
LONGEST_PAUSE_S = 10.0
JSON_TYPE = "application/json"


class ProblemBody(msgspec.Struct, frozen=True):
    """What a client reads of a problem."""

    code: str = "store_failed"
    problem: str = "the server gave no reason"
    remedy: str = ""
    problems: tuple[JsonObject, ...] = ()


class Connection:
    """Sends requests with a key."""

    def __init__(self, url: str, key: str | None) -> None:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self.url = url.rstrip("/")
        try:
            self._client = httpx2.AsyncClient(
                base_url=self.url,
                headers=headers,
                timeout=TIMEOUT_S,
                trust_env=False,
                follow_redirects=False,
                verify=_trusted(url),
            )
        except (httpx2.InvalidURL, UnicodeEncodeError) as error:
            raise Refused("bad_argument", f"the address or the key cannot be sent: {error}", "check both") from None

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()

    async def get(self, path: str, kind: type[_T], **query: object) -> _T:
        """Ask for something."""
        return msgspec.json.decode((await self.send("GET", path, query=query)).content, type=kind)

    async def post(self, path: str, kind: type[_T], body: object = None, **query: object) -> _T:
        """Do something."""
        return (await self.post_new(path, kind, body, **query))[0]

    async def post_new(
        self,
        path: str,
        kind: type[_T],
        body: object = None,
        headers: Mapping[str, str] | None = None,
        /,
        **query: object,
    ) -> tuple[_T, bool]:
        """Do something, and tell whether something was made."""
        response = await self.send("POST", path, body={} if body is None else body, headers=headers, query=query)
        return msgspec.json.decode(response.content, type=kind), response.status_code == CREATED

    async def put(self, path: str, kind: type[_T], content: bytes, media_type: str) -> _T:
        """Send bytes."""
        response = await self.send("PUT", path, content=content, media_type=media_type)
        return msgspec.json.decode(response.content, type=kind)

    async def delete(self, path: str) -> None:
        """Remove something."""
        await self.send("DELETE", path)

    async def download(self, path: str, **query: object) -> bytes:
        """The bytes of an answer."""
        return (await self.send("GET", path, query=query)).content

    async def send(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        content: bytes | None = None,
        media_type: str = JSON_TYPE,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, object] | None = None,
    ) -> httpx2.Response:
        """Send a request. Raises what the engine would raise. One that comes too early is sent again."""
        content = _json(body) if content is None and body is not None else content
        headers = {**(headers or {}), **({} if content is None else {"content-type": media_type})}
        url, params = f"/v1{path}", _parameters(query or {})
        left = SEND_AGAIN
        while True:
            try:
                response = await self._client.request(method, url, params=params, content=content, headers=headers)
            except httpx2.HTTPError as error:
                raise unreachable(self.url, error) from None
            if response.status_code < 400:
                return response
            if response.status_code != TOO_MANY or left == 0:
                raise refusal_in(response.content)
            left -= 1
            await asyncio.sleep(_pause(response))

    @asynccontextmanager
    async def lines(self, path: str, query: Mapping[str, object]) -> AsyncGenerator[AsyncIterator[str] | None]:
        """The lines of a stream of server-sent events; None if there will be none."""
        accept = {"accept": "text/event-stream"}
        async with self._client.stream("GET", f"/v1{path}", params=_parameters(query), headers=accept) as response:
            if response.status_code >= 400:
                raise refusal_in(await response.aread())
            yield None if response.status_code == NO_CONTENT else response.aiter_lines()


def part(name: str) -> str:
    """A name as one part of a path. Raises Refused for a text that cannot be sent."""
    try:
        return quote(name, safe="")
    except UnicodeEncodeError:
        raise _no_text() from None


def _json(body: object) -> bytes:
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        raise _no_text() from None


def _no_text() -> Refused:
    return Refused("bad_argument", "a text has an unpaired surrogate, and cannot be sent", "give valid text")


def _trusted(url: str) -> ssl.SSLContext:
    """Whom a server's certificate must be from. Loading that takes longer than most requests, and http needs none."""
    return ssl.create_default_context() if url.lower().startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _parameters(query: Mapping[str, object]) -> dict[str, str]:
    return {name: _text(value) for name, value in query.items() if value is not None}


def _text(value: object) -> str:
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    if not text.isascii():
        part(text)  # which refuses what cannot be sent
    return text


def _pause(response: httpx2.Response) -> float:
    said = response.headers.get("retry-after", "")
    return min(float(said), LONGEST_PAUSE_S) if said.isascii() and said.isdigit() else 1.0


def unreachable(url: str, error: Exception) -> Refused:
    """The refusal for a server that does not answer."""
    problem = f"the server at {url} does not answer: {type(error).__name__}"
    return Refused("server_unavailable", problem, "check the address, and that it runs")


def refusal_in(content: bytes) -> Exception:
    """The error that a problem stands for: what the engine itself would raise."""
    try:
        body = msgspec.json.decode(content, type=ProblemBody)
    except msgspec.MsgspecError:
        return Refused("server_unavailable", "the server's answer cannot be read", "check the address")
    if body.code == "definition_invalid" and body.problems:
        return DefinitionError(tuple(msgspec.convert(each, Problem) for each in body.problems))
    if body.code == "input_invalid" and body.problems:
        problems = tuple(InputProblem(str(each.get("path")), str(each.get("problem"))) for each in body.problems)
        return InputInvalid(problems, body.remedy)
    return Refused(cast("RefusalCode", body.code), body.problem, body.remedy)
