"""`http`: one HTTP request. The client library is imported at the first call."""

from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem
from jeton.executor.http.implementation import HOST, Auth, HttpLimits, Redirects, auth_problems, header_problems
from jeton.executor.secrets import SecretRef
from jeton.executor.task.placeholders import url_problem, whole_name
from jeton.model.json import Json


class Http(Kind, frozen=True):
    """A request. `{name}` in the url, query, headers, json and text is replaced from the input."""

    url: str
    method: Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    query: dict[str, Json] = msgspec.field(default_factory=dict[str, Json])
    headers: dict[str, str | SecretRef] = msgspec.field(default_factory=dict[str, str | SecretRef])
    json: Json | UnsetType = UNSET
    text: str | UnsetType = UNSET
    auth: Auth | None = None
    allow_status: tuple[int, ...] = ()
    redirects: Redirects = "same_host"
    hosts: tuple[str, ...] = ()  # that a url from input may have, each with its port if that is not the default
    artifact_above_bytes: int | None = None
    limits: HttpLimits = HttpLimits()

    def problems(self) -> Iterator[KindProblem]:
        yield from self._url_problems()
        if self.json is not UNSET and self.text is not UNSET:
            yield KindProblem("", "has both 'json' and 'text'", "remove one of the two")
        if self.redirects is True:
            yield KindProblem("redirects", "does not name the hosts", "write 'same_host' or a list of hosts")
        yield from header_problems(self.headers)
        if self.auth is not None:
            yield from auth_problems(self.auth, self.headers)
        yield from self.limits.problems()

    def _url_problems(self) -> Iterator[KindProblem]:
        """Problems with the url. A whole url from input needs a list of the hosts it may have."""
        for index, host in enumerate(self.hosts):
            if not HOST.fullmatch(host):
                yield KindProblem(
                    f"hosts[{index}]", "is not a host", "write a name or an address, with ':port' if need be"
                )
        if whole_name(self.url) is None:
            wrong = url_problem(self.url)
            if wrong is not None:
                yield KindProblem("url", *wrong)
            elif self.hosts:
                remedy = "remove it, or write one placeholder as the whole url, such as '{url}'"
                yield KindProblem("hosts", "is for a url from input, and this one is fixed", remedy)
        elif not self.hosts:
            yield KindProblem(
                "url", "comes from the input as a whole", "name the hosts it may have: 'hosts: [api.example.com]'"
            )

    def prepare(self) -> ActionHandler:
        problem = next(self.problems(), None)  # a definition that nobody checked must not choose its host

        async def act(call: ActionCall) -> Json | ActionFailed:
            if problem is not None:
                return ActionFailed("bad_implementation", f"http: {problem.path} {problem.problem}", fatal=True)
            await call.resources.connections.load()
            from jeton.executor.http.exchange import exchange

            return await exchange(self, call)

        return act
