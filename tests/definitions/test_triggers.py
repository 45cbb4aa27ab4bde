"""Triggers: what is read, and what can never fire."""

import pytest

from jeton.model.definition.trigger import Cause, OnEvent, OnRequest, OnRunFinished, OnSchedule, OnWebhook, Trigger
from tests.definitions.given import Rule, loaded, problems

LIBRARY = """
workflows: {w: {initial_node: a, nodes: {a: }}}
flows: {f: {nodes: {start: {type: trigger}, other: {type: trigger}, end: {type: merge}}}}
"""


def trigger(body: str, more: str = "") -> str:
    return f"{LIBRARY}triggers:\n  t: {body}\n{more}"


@pytest.mark.parametrize(
    ("written", "cause"),
    [
        pytest.param("{type: manual, start: f}", OnRequest(), id="by hand"),
        pytest.param("{type: schedule, start: f, cron: 0 6 * * *}", OnSchedule("0 6 * * *"), id="a schedule in UTC"),
        pytest.param(
            "{type: schedule, start: f, cron: '@daily', time_zone: Europe/Paris, missed: all}",
            OnSchedule("@daily", "Europe/Paris", "all"),
            id="a schedule where people live",
        ),
        pytest.param(
            "{type: webhook, start: f, path: /orders/paid, secret: HOOK, schema: {type: object}}",
            OnWebhook("orders/paid", "HOOK", {"type": "object"}),
            id="a webhook",
        ),
        pytest.param("{type: event, start: f, name: order.paid}", OnEvent("order.paid"), id="any event of a name"),
        pytest.param(
            "{type: event, start: f, name: order.paid, condition: event.total > 10}",
            OnEvent("order.paid", "event.total > 10"),
            id="an event that matters",
        ),
        pytest.param("{type: run_finished, start: f, workflow: w}", OnRunFinished("w"), id="the end of a run"),
    ],
)
def test_a_trigger_is_read(written: str, cause: Cause) -> None:
    found = loaded(trigger(written))
    assert found.problems == ()
    assert found.library.triggers["t"] == Trigger("t", "f", cause)


RULES = {
    "a trigger that starts nothing": Rule(
        "missing_key", "triggers.t", trigger("{type: manual}"), trigger("{type: manual, start: w}")
    ),
    "a trigger of something unknown": Rule(
        "unknown_workflow", "triggers.t.start", trigger("{type: manual, start: x}"), trigger("{type: manual, start: w}")
    ),
    "an unknown type": Rule(
        "unknown_value",
        "triggers.t.type",
        trigger("{type: cron, start: w}"),
        trigger("{type: event, start: w, name: x}"),
    ),
    "a key of another type": Rule(
        "unknown_key",
        "triggers.t.cron",
        trigger("{type: event, start: w, name: x, cron: 0 0 * * *}"),
        trigger("{type: schedule, start: w, cron: 0 0 * * *}"),
    ),
    "a node that is no trigger": Rule(
        "unknown_node",
        "triggers.t.node",
        trigger("{type: manual, start: f, node: end}"),
        trigger("{type: manual, start: f, node: other}"),
    ),
    "a node of a workflow": Rule(
        "unknown_node",
        "triggers.t.node",
        trigger("{type: manual, start: w, node: a}"),
        trigger("{type: manual, start: w}"),
    ),
    "a cron line that is none": Rule(
        "bad_cron",
        "triggers.t.cron",
        trigger("{type: schedule, start: w, cron: 61 * * * *}"),
        trigger("{type: schedule, start: w, cron: 59 * * * *}"),
    ),
    "a day that never comes": Rule(
        "bad_cron",
        "triggers.t.cron",
        trigger("{type: schedule, start: w, cron: 0 0 30 2 *}"),
        trigger("{type: schedule, start: w, cron: 0 0 29 2 *}"),
    ),
    "an unknown zone": Rule(
        "unknown_time_zone",
        "triggers.t.time_zone",
        trigger("{type: schedule, start: w, cron: 0 0 * * *, time_zone: Europe/Pariss}"),
        trigger("{type: schedule, start: w, cron: 0 0 * * *, time_zone: Europe/Paris}"),
    ),
    "a zone that is a folder": Rule(
        "unknown_time_zone",
        "triggers.t.time_zone",
        trigger("{type: schedule, start: w, cron: 0 0 * * *, time_zone: Europe}"),
        trigger("{type: schedule, start: w, cron: 0 0 * * *, time_zone: UTC}"),
    ),
    "an unknown way with missed ones": Rule(
        "unknown_value",
        "triggers.t.missed",
        trigger("{type: schedule, start: w, cron: 0 0 * * *, missed: twice}"),
        trigger("{type: schedule, start: w, cron: 0 0 * * *, missed: once}"),
    ),
    "a path with a way out": Rule(
        "bad_path",
        "triggers.t.path",
        trigger("{type: webhook, start: w, path: ../x}"),
        trigger("{type: webhook, start: w, path: a/x}"),
    ),
    "one path twice": Rule(
        "duplicate_path",
        "triggers.u.path",
        trigger("{type: webhook, start: w, path: x}", "  u: {type: webhook, start: f, path: /x}"),
        trigger("{type: webhook, start: w, path: x}", "  u: {type: webhook, start: f, path: y}"),
    ),
    "an event without a name": Rule(
        "bad_name",
        "triggers.t.name",
        trigger("{type: event, start: w, name: order paid}"),
        trigger("{type: event, start: w, name: order.paid}"),
    ),
    "a condition over what is not there": Rule(
        "expression_invalid",
        "triggers.t.condition",
        trigger("{type: event, start: w, name: x, condition: input.y}"),
        trigger("{type: event, start: w, name: x, condition: event.y}"),
    ),
    "the end of something unknown": Rule(
        "unknown_workflow",
        "triggers.t.workflow",
        trigger("{type: run_finished, start: w, workflow: x}"),
        trigger("{type: run_finished, start: w, workflow: f}"),
    ),
}


@pytest.mark.parametrize("rule", [pytest.param(rule, id=sentence) for sentence, rule in RULES.items()])
def test_a_rule_of_triggers(rule: Rule) -> None:
    found = problems(rule.broken)
    assert (rule.code, rule.path, "error") in {(p.code, p.path, p.severity) for p in found}
    assert all(p.remedy and p.line for p in found)
    assert problems(rule.sound) == ()
