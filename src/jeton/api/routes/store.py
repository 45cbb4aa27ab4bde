"""The store: usage, size, health, and artifacts."""

import asyncio
import re
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from jeton.actor.queries.listing import UsageTotal, UsedBy
from jeton.api.exporting import Form, exported
from jeton.api.route import MIB, Answer, Call, Nothing, Route, route
from jeton.api.times import milliseconds_in
from jeton.api.views import ArtifactView, PrunedView, StoreView, UsageList, UsageRow, Verified
from jeton.engine.engine import DAY_MS
from jeton.engine.stores import verify_store
from jeton.engine.views.plain import plain
from jeton.model.failure import Refused
from jeton.model.state.run import TERMINAL
from jeton.model.times import maybe_moment

EndStatus: TypeAlias = Literal["completed", "failed", "cancelled", "timed_out", "exhausted"]

MAX_ARTIFACT = 100 * MIB
ANY_TYPE = "application/octet-stream"
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,80}/[\w.+-]{1,80}(; ?[\w.+-]{1,40}=\"?[\w.+-]{1,60}\"?){0,4}", re.ASCII)


class UsageQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    by: UsedBy = "day"
    since: str | None = None
    until: str | None = None


class ExportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`as`: file, script or spans. `contents`: spans with what was said, and inputs and results of tools."""

    form: Form = msgspec.field(name="as", default="file")
    contents: bool = False


class PruneBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    older_than_ms: int = 30 * DAY_MS
    statuses: list[EndStatus] | None = None
    workflow: str | None = None
    dry_run: bool = False


async def usage(call: Call[UsageQuery, Nothing]) -> Answer:
    """What was used, by day, workflow, node or profile. Of profiles, only tokens are known."""
    query = call.query
    since = None if query.since is None else milliseconds_in(query.since)
    until = None if query.until is None else milliseconds_in(query.until)
    found = await call.engine.browse.used(query.by, since, until)
    return Answer(plain(UsageList(tuple(map(_usage_row, found)))))


def _usage_row(total: UsageTotal) -> UsageRow:
    return UsageRow(
        total.credits,
        total.shortfall,
        total.input,
        total.output,
        day=total.day,
        workflow=total.workflow,
        node=total.node,
        profile=total.profile,
    )


async def store(call: Call[Nothing, Nothing]) -> Answer:
    """The store: its size, its runs, who owns it, and when it was last written to."""
    found = await call.engine.browse.facts()
    view = StoreView(
        found.bytes,
        found.free_bytes,
        found.entries,
        found.runs,
        found.owner,
        maybe_moment(found.last_commit_at),
        found.lost,
    )
    return Answer(plain(view))


async def verify(call: Call[Nothing, Nothing]) -> Answer:
    """Check everything in the store for damage. It takes as long as reading all of it."""
    async with call.server.verifying:
        found = await asyncio.to_thread(verify_store, call.server.settings.store or Path())
    return Answer(plain(Verified(found.ok, found.problems)))


async def prune(call: Call[Nothing, PruneBody]) -> Answer:
    """Remove runs that ended longer ago than this, with their history, leaving what retention keeps."""
    body = call.body
    if body.statuses is not None and not body.statuses:
        raise Refused("bad_argument", "statuses: are none", "name some, or leave them out")
    pruned = await call.engine.prune(
        older_than_ms=body.older_than_ms,
        statuses=TERMINAL if body.statuses is None else body.statuses,
        workflow=body.workflow,
        dry_run=body.dry_run,
    )
    return Answer(plain(PrunedView(pruned.runs, pruned.entries, pruned.firings, pruned.kept)))


async def export_run(call: Call[ExportQuery, Nothing]) -> Answer:
    """A run or conversation as a file: to be imported elsewhere, as a script for tests, or as OpenTelemetry spans."""
    query, run = call.query, call.path["run"]
    if query.contents and query.form != "spans":
        raise Refused("bad_argument", "contents: goes with as=spans", "leave it out")
    content = await exported(call.engine, call.server.settings.store or Path(), run, query.form, query.contents)
    return Answer(content=content, headers={"content-type": ANY_TYPE, **_download("run.json")})


def _download(name: str) -> dict[str, str]:
    return {
        "content-disposition": f'attachment; filename="{name}"',
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff",
    }


async def get_artifact(call: Call[Nothing, Nothing]) -> Answer:
    """An artifact, as a download."""
    found, chunks = await call.engine.browse.artifact(call.path["artifact"])
    headers = {
        "content-type": found.media_type if _MEDIA_TYPE.fullmatch(found.media_type) else ANY_TYPE,
        "content-length": str(found.size),
        **_download(found.id.partition(":")[2]),
    }
    return Answer(headers=headers, chunks=chunks)


async def put_artifact(call: Call[Nothing, Nothing]) -> Answer:
    """Store bytes as an artifact. It is kept for 30 days, and for as long as a run that read it."""
    given = call.headers.get("content-type", ANY_TYPE)
    media_type = given if _MEDIA_TYPE.fullmatch(given) else ANY_TYPE
    found = await call.engine.browse.upload(call.chunks, media_type)
    view = ArtifactView(found.id, found.media_type, found.size)
    return Answer(plain(view), 201, {"location": f"/v1/artifacts/{found.id}"})


ROUTES: tuple[Route, ...] = (
    route("GET", "/usage", "read", usage, {200: UsageList}, query=UsageQuery, body=Nothing),
    route("GET", "/store", "read", store, {200: StoreView}, query=Nothing, body=Nothing),
    route("POST", "/store/verify", "admin", verify, {200: Verified}, query=Nothing, body=Nothing),
    route(
        "GET", "/runs/{run}/export", "read", export_run, {200: bytes}, query=ExportQuery, body=Nothing,
        codes="unknown_run history_pruned",
    ),
    route("POST", "/store/prune", "admin", prune, {200: PrunedView}, query=Nothing, body=PruneBody),
    route(
        "GET", "/artifacts/{artifact}", "read", get_artifact, {200: bytes}, query=Nothing, body=Nothing,
        codes="unknown_artifact",
    ),
    route(
        "PUT", "/artifacts", "run", put_artifact, {201: ArtifactView}, query=Nothing, body=Nothing, binary=True,
        max_body=MAX_ARTIFACT,
    ),
)  # fmt: skip
