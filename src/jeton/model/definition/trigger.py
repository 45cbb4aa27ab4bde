"""Triggers: what starts a workflow or a flow automatically."""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.json import Json, JsonObject, Schema

Missed: TypeAlias = Literal["skip", "once", "all"]


class OnRequest(msgspec.Struct, frozen=True, tag="manual"):
    """Started by hand."""


class OnSchedule(msgspec.Struct, frozen=True, tag="schedule", omit_defaults=True):
    """At the times of a cron line, in its time zone. `missed`: what to do with times that passed while nothing ran."""

    cron: str
    time_zone: str = "UTC"
    missed: Missed = "skip"


class OnWebhook(msgspec.Struct, frozen=True, tag="webhook", omit_defaults=True):
    """A request to `/hooks/{path}`, signed with a named secret if there is one, whose body fits the schema."""

    path: str
    secret: str | None = None
    schema: Schema | None = None


class OnEvent(msgspec.Struct, frozen=True, tag="event", omit_defaults=True):
    """A published event of that name, if the condition over `event` (its data) holds."""

    name: str
    condition: Json = True


class OnRunFinished(msgspec.Struct, frozen=True, tag="run_finished"):
    """The end of a run of another workflow or flow."""

    workflow: str


Cause: TypeAlias = OnRequest | OnSchedule | OnWebhook | OnEvent | OnRunFinished


class Trigger(msgspec.Struct, frozen=True, omit_defaults=True):
    """A trigger: what it starts, and when. `node` is the trigger node at which a flow begins."""

    name: str
    start: str
    on: Cause
    node: str | None = None
    input: JsonObject = msgspec.field(default_factory=dict[str, Json])  # the data of the cause is merged over it
    description: str | None = None
    tags: tuple[str, ...] = ()
