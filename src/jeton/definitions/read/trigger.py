"""Triggers: plain data into the model."""

import re
from typing import Literal, TypeAlias

import msgspec

from jeton.definitions.read.fields import Fields, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, shown
from jeton.model.definition.trigger import (
    Cause,
    OnEvent,
    OnRequest,
    OnRunFinished,
    OnSchedule,
    OnWebhook,
    Trigger,
)
from jeton.model.json import Json

Kind: TypeAlias = Literal["manual", "schedule", "webhook", "event", "run_finished"]
COMMON_KEYS = ("type", "start", "node", "input", "description", "tags")
CAUSE_KEYS: dict[Kind, tuple[str, ...]] = {
    "manual": (),
    "schedule": ("cron", "time_zone", "missed"),
    "webhook": ("path", "secret", "schema"),
    "event": ("name", "condition"),
    "run_finished": ("workflow",),
}
TRIGGER_KEYS = (*COMMON_KEYS, *(key for keys in CAUSE_KEYS.values() for key in keys))
HINTS = {
    "timezone": "write 'time_zone'",
    "tz": "write 'time_zone'",
    "flow": "write 'start'",
    "schedule": "write 'type: schedule', and 'cron' beside it",
    "webhook": "write 'type: webhook', and 'path' beside it",
}
WEBHOOK_PATH = re.compile(r"/?(?P<path>[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*)/?")
EVENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*")


class TriggerSource(msgspec.Struct, frozen=True):
    """A trigger and its location."""

    trigger: Trigger
    location: SourceLocation


def read_trigger(name: str, value: Json, location: SourceLocation, report: Report) -> TriggerSource:
    """Read a trigger. If it cannot be read, the result is a manual trigger that starts nothing."""
    fields = fields_of(value, location, report, TRIGGER_KEYS, "a trigger", HINTS)
    if fields is None:
        return TriggerSource(Trigger(name, "", OnRequest()), location)
    fields.require("type", "start")
    cause = _cause(fields) if "type" in fields else OnRequest()
    trigger = Trigger(
        name=name,
        start=fields.text("start") or "",
        on=cause,
        node=fields.text("node"),
        input=fields.object("input") or {},
        description=fields.text("description"),
        tags=fields.texts("tags"),
    )
    return TriggerSource(trigger, location)


def _cause(fields: Fields) -> Cause:
    kind: Kind = fields.choice("type", "manual", "schedule", "webhook", "event", "run_finished")
    if fields.value("type") == kind:
        _check_keys(kind, fields)
    match kind:
        case "manual":
            return OnRequest()
        case "schedule":
            fields.require("cron")
            cron, zone = fields.text("cron") or "", fields.text("time_zone") or "UTC"
            return OnSchedule(cron, zone, fields.choice("missed", "skip", "once", "all"))
        case "webhook":
            fields.require("path")
            return OnWebhook(_path(fields), fields.text("secret"), fields.schema("schema"))
        case "event":
            fields.require("name")
            condition = fields.value("condition", True)
            if not isinstance(condition, str | bool):
                fields.wrong("condition", "an expression")
                condition = True
            return OnEvent(_event_name(fields), condition)
        case "run_finished":
            fields.require("workflow")
            return OnRunFinished(fields.text("workflow") or "")


def _check_keys(kind: Kind, fields: Fields) -> None:
    """Report keys that belong to another type of trigger."""
    for other, keys in CAUSE_KEYS.items():
        for key in keys:
            if key in fields and key not in CAUSE_KEYS[kind]:
                problem = f"'{key}' belongs to a trigger of type '{other}', and this one is '{kind}'"
                fields.report.error(
                    fields.location(key), "unknown_key", problem, f"remove it, or write 'type: {other}'"
                )


def _path(fields: Fields) -> str:
    written = fields.text("path")
    found = None if written is None else WEBHOOK_PATH.fullmatch(written)
    if written is not None and found is None:
        problem = f"{shown(written)} cannot be the path of a webhook"
        fields.report.error(fields.location("path"), "bad_path", problem, "write names joined by '/': 'orders/paid'")
    return found["path"] if found else ""


def _event_name(fields: Fields) -> str:
    written = fields.text("name") or ""
    if written and not EVENT_NAME.fullmatch(written):
        problem = f"{shown(written)} cannot name an event"
        fields.report.error(fields.location("name"), "bad_name", problem, "write names joined by dots: 'order.placed'")
    return written
