"""Checks of triggers: what they start, and their schedules, paths and conditions."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from jeton.definitions.checks.compiled import compile_one
from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.checks.expressions import check_gives
from jeton.definitions.checks.names import check_reference
from jeton.definitions.library import LibrarySource
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.trigger import TriggerSource
from jeton.definitions.report import Report, closest, did_you_mean, shown
from jeton.model.definition.cron import BadCron, parse_cron
from jeton.model.definition.trigger import OnEvent, OnRequest, OnRunFinished, OnSchedule, OnWebhook


def check_triggers(source: LibrarySource, definitions: Definitions, report: Report) -> None:
    """Check every trigger, and that no two webhooks share a path."""
    startable = {*definitions.workflows, *definitions.flows}
    paths: dict[str, TriggerSource] = {}
    for found in source.triggers.values():
        trigger, location = found.trigger, found.location
        check_reference(trigger.start, "workflow", startable, location / "start", report)
        _check_node(found, definitions, report)
        match trigger.on:
            case OnSchedule(cron, time_zone):
                _check_cron(cron, location / "cron", report)
                _check_zone(time_zone, location / "time_zone", report)
            case OnWebhook(path):
                first = paths.setdefault(path, found)
                if path and first is not found:
                    problem = f"{shown(path)} is the path of {shown(first.trigger.name)} too"
                    report.error(location / "path", "duplicate_path", problem, "give one of them another path")
            case OnEvent(_, condition):
                _check_condition(condition, location / "condition", report)
            case OnRunFinished(workflow):
                check_reference(workflow, "workflow", startable, location / "workflow", report)
            case OnRequest():
                pass


def _check_node(source: TriggerSource, definitions: Definitions, report: Report) -> None:
    """Check that the named node is a trigger node of the flow."""
    node, flow = source.trigger.node, definitions.flows.get(source.trigger.start)
    if node is None:
        return
    location = source.location / "node"
    if flow is None:
        problem = f"{shown(source.trigger.start)} is not a flow, and only a flow has trigger nodes"
        report.error(location, "unknown_node", problem, "remove it")
        return
    triggers = [name for name, each in flow.nodes.items() if each.type == "trigger"]
    if node not in triggers:
        problem = f"the flow has no trigger node called {shown(node)}"
        report.error(location, "unknown_node", problem, did_you_mean(node, triggers, "remove it"))


def _check_cron(cron: str, location: SourceLocation, report: Report) -> None:
    if not cron:
        return  # already reported
    try:
        parse_cron(cron)
    except BadCron as bad:
        report.error(location, "bad_cron", f"{shown(cron)}: {bad.problem}", bad.remedy)


def _check_zone(name: str, location: SourceLocation, report: Report) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # the last is for the name of a folder, as 'Europe' is
        zones = sorted(available_timezones())
        cities = {zone.rpartition("/")[2]: zone for zone in zones}
        meant = cities.get(closest(name.rpartition("/")[2], cities) or "")
        remedy = f"write '{meant}'" if meant else "write a zone of the IANA list, as 'Europe/Paris', or 'UTC'"
        report.error(location, "unknown_time_zone", f"there is no time zone {shown(name)}", remedy)


def _check_condition(condition: object, location: SourceLocation, report: Report) -> None:
    if isinstance(condition, str):
        expression = compile_one(condition, frozenset(("event",)), location, report)
        if expression is not None:
            check_gives(expression, "bool", {}, location, report)
