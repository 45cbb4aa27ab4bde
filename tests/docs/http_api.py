"""Writes docs/reference/http-api.md from the table of routes: `python -m tests.docs.http_api`."""

from pathlib import Path
from typing import Any

import msgspec

from jeton.api.listed import AT_THE_DOOR, OF_CHANGES, OF_JSON
from jeton.api.problems import STATUSES, TITLES, status_of
from jeton.api.route import Route
from jeton.api.routes import access, causes, control, definitions, looking, memories, past, people, runs, store, talking
from jeton.api.routes.table import ROUTES
from jeton.api.views import RunAnswer
from jeton.engine.views.record import RunRecord
from jeton.model.codes import REFUSALS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "http-api.md"

INTRODUCTION = """\
# HTTP

<!-- Made from the table of routes by `python -m tests.docs.http_api`. -->

`jeton serve` answers under `/v1`. [Serving](../how-to/serving.md) tells how it is started and what it bounds,
[keys](../how-to/keys.md) who may use it. `GET /v1/openapi.json` is this page for programs: OpenAPI 3.1, with the type
of every body.

```sh
curl -H "Authorization: Bearer $JETON_KEY" "$URL/v1/runs?status=failed,timed_out&limit=10"
```

- Bodies are JSON in UTF-8, sent as `application/json`. A field or parameter that a route does not know is refused, and
  so are a key that is there twice, NaN, numbers beyond 64 bits and values more than 100 deep.
- A path counts as it was sent: `//`, `%2e` and a slash at the end name nothing.
- Lists have a `next`, which is the `after` of the next page, or null. Such a cursor holds its place when rows are
  added, and outlives the server. `limit` is 1 to 1,000.
- Lists of runs never carry inputs, outputs or context.

## Problems

Whatever is refused is answered as `application/problem+json` (RFC 9457):

```json
{"type": "urn:jeton:unknown_run", "title": "There is no such thing", "status": 404, "code": "unknown_run",
 "detail": "there is no run 'x' in this store", "problem": "there is no run 'x' in this store",
 "remedy": "list the runs there are", "request_id": "5f0c9d6f3a1b2c4d"}
```

Decide by the `code`: texts may change. `problems` has all problems of a definition, an input or a body, each with its
place. Every route may answer with @door; one that changes something, also with @changes; one that takes JSON, also
with @json. Below, each route names the codes that are its own.

| status | codes |
| --- | --- |
@statuses

## Searching runs

`q` of `GET /v1/runs` and of `POST /v1/runs/actions` is made of words and of `field:value`, all of which must be true
of a run:

```text
refund status:failed,timed_out state.order.amount:12 error:"connection reset"
```

| term | is true of a run |
| --- | --- |
| `refund` | whose id, key or error has the word, whatever the case |
| `workflow:panel`, `workflow:panel@3` | of that workflow, or of that version |
| `status:failed,waiting` | with one of these statuses |
| `trigger:webhook` | that this kind of trigger, or the trigger of this name, started; `manual`: none did |
| `key:order-12` | that was started with this key |
| `error:timeout` | whose error has this in its type or its message |
| `node:approve` | that is at this node now, or failed there |
| `state.order.amount:12` | whose state has this value: a number, `true`, `false`, `null`, or a text |

Quotes keep spaces and colons together, and make a value text: `state.zip:"0150"`. A field that is misspelt is refused
as `bad_query`, with the nearest one. A page looks at 5,000 runs at most, or at the state of 500: one with few runs, or
with none, may have a `next`. With a workflow or a status less is looked at; a whole run id, or a workflow and a key,
are found at once.

## Artifacts

`PUT /v1/artifacts` takes up to 100 MiB. Nobody has used such an artifact yet, so the server holds it: for 30 days,
after which pruning (`jeton prune`) removes it. A run that reads it within that time holds it for as long as the run is
kept, as it does any other. The same bytes are the same artifact.

## Texts of definitions

`POST /v1/definitions` and `POST /v1/check` take files by name and text. Nothing is started or imported for them, and
no file of the server is read: the tools of MCP servers are pinned when they are first called, and a script of answers
must be in the text. The texts are kept with the versions that they made; `GET /v1/workflows/{workflow}` gives them
back as `files`.
"""

NAMED: dict[Any, str] = {RunRecord: "the record", RunAnswer: "the record, with `metrics`"}

SUBJECTS: tuple[tuple[str, tuple[Route, ...]], ...] = (
    ("Runs", (*runs.ROUTES, *control.ROUTES)),
    ("Looking at a run", (*looking.ROUTES, *past.ROUTES)),
    ("People and agents", (*people.ROUTES, *talking.ROUTES, *memories.ROUTES)),
    ("Definitions", definitions.ROUTES),
    ("Triggers and credits", causes.ROUTES),
    ("The store", store.ROUTES),
    ("Keys and saved queries", access.ROUTES),
)


def http_api_page() -> str:
    """The whole page as text."""
    named = {route.name for _, routes in SUBJECTS for route in routes}
    rest = tuple(route for route in ROUTES if route.name not in named)
    sections = [_section(title, routes) for title, routes in (*SUBJECTS, ("Streams, and this page", rest))]
    record = ", ".join(f"`{field.encode_name}`" for field in msgspec.structs.fields(RunRecord))
    return "\n".join(
        [_introduction(), f"## Routes\n\n`name?` may be left out. The record of a run has {record}.\n", *sections]
    )


def _introduction() -> str:
    by_status: dict[int, list[str]] = {}
    for code in REFUSALS:
        if code in STATUSES or code.startswith("unknown_"):
            by_status.setdefault(status_of(code), []).append(f"`{code}`")
    rows = [f"| {status} {TITLES[status]} | {' '.join(codes)} |" for status, codes in sorted(by_status.items())]
    words = {"door": AT_THE_DOOR, "changes": OF_CHANGES, "json": OF_JSON}
    listed = {name: ", ".join(f"`{code}`" for code in codes) for name, codes in words.items()}
    text = INTRODUCTION
    for name, value in {"statuses": "\n".join(rows), **listed}.items():
        text = text.replace(f"@{name}", value)
    return text


def _section(title: str, routes: tuple[Route, ...]) -> str:
    return "\n".join([f"### {title}\n", *map(_route, routes)])


def _route(route: Route) -> str:
    lines = [f"**`{route.method} {route.path}`** ({_scopes(route)}): {route.summary}"]
    parameters = _fields(route.query)
    if parameters:
        lines.append(f"- Parameters: {parameters}")
    if route.binary:
        lines.append(f"- Body: bytes, up to {route.max_body >> 20} MiB")
    elif route.body is not None:
        more = f", up to {route.max_body >> 20} MiB" if route.max_body > 1 << 20 else ""
        lines.append(f"- Body: {_fields(route.body)}{more}")
    lines.append(f"- Answers: {', '.join(_answer(status, kind) for status, kind in route.answers.items())}")
    if route.codes:
        lines.append(f"- Codes: {', '.join(f'`{code}`' for code in sorted(set(route.codes)))}")
    return "\n".join((lines[0], "", *lines[1:], ""))


def _scopes(route: Route) -> str:
    return "any key" if not route.scopes else " or ".join(route.scopes)


def _fields(kind: type[msgspec.Struct]) -> str:
    found = msgspec.structs.fields(kind)
    return ", ".join(f"`{field.encode_name}`" if field.required else f"`{field.encode_name}?`" for field in found)


def _answer(status: int, kind: Any) -> str:
    if kind is None:
        return f"{status}" if status == 204 else f"{status} a stream"
    if kind is bytes:
        return f"{status} the bytes, as a download"
    if kind in NAMED:
        return f"{status} {NAMED[kind]}"
    fields = [field for option in getattr(kind, "__args__", (kind,)) for field in msgspec.structs.fields(option)]
    names = list(dict.fromkeys(f"`{field.encode_name}`" for field in fields))
    return f"{status} {{{', '.join(names)}}}"


if __name__ == "__main__":
    PAGE.write_text(http_api_page(), encoding="utf-8")
