"""Transitions and the `fan_in` of nodes: plain data into the model."""

import re

from jeton.definitions.read.fields import Fields, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, shown
from jeton.model.definition.workflow import (
    Foreach,
    LoopConfig,
    Merge,
    MergeStrategy,
    MOfN,
    Strategy,
    Synchronization,
    Transition,
)
from jeton.model.json import Json

TRANSITION_KEYS = (
    "from", "to", "condition", "priority", "foreach", "spawn_count", "sibling_group", "synchronization", "loop_config",
)  # fmt: skip
SYNCHRONIZATION_KEYS = (
    "strategy", "sibling_group", "merge", "timeout_ms", "on_timeout", "on_early_complete", "on_branch_failure",
)  # fmt: skip
FOREACH_KEYS = ("collection", "item_var", "max_parallel")
MERGE_KEYS = ("source", "target", "strategy")

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
TAKEN = frozenset(("input", "state", "output", "result", "_branch"))
RESERVED = frozenset(
    ("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
     "let", "loop", "package", "namespace", "return", "var", "void", "while")
)  # fmt: skip
SOURCE = re.compile(r"_branch\.output(\.[^.\s]+)*")
TARGET = re.compile(r"(state|output)(\.[^.\s]+)+")


def read_transition(value: Json, location: SourceLocation, report: Report) -> Transition | None:
    """Read a transition. Returns None if `from` or `to` is missing."""
    fields = fields_of(value, location, report, TRANSITION_KEYS, "a transition")
    if fields is None:
        return None
    fields.require("from", "to")
    source, target = fields.text("from"), fields.text("to")
    if "foreach" in fields and "spawn_count" in fields:
        problem = "has both 'foreach' and 'spawn_count', but may have only one"
        report.error(location, "two_fan_outs", problem, "remove one of the two")
    transition = Transition(
        source=source or "",
        target=target or "",
        condition=_condition(fields),
        priority=_or(fields.integer("priority", at_least=0), 1),
        foreach=_foreach(fields),
        spawn_count=_spawn_count(fields),
        sibling_group=fields.name("sibling_group"),
        synchronization=_synchronization(fields),
        loop_config=_loop_config(fields),
    )
    return transition if source and target else None


def read_fan_in(value: Json, location: SourceLocation, report: Report) -> Synchronization:
    """Read a node's `fan_in`: a strategy, or a whole synchronization."""
    fields = Fields({"fan_in": value}, location, report)
    if isinstance(value, dict) and set(value) != {"m_of_n"}:
        return read_synchronization(value, location / "fan_in", report)
    return Synchronization(_strategy(fields, "fan_in"))


def read_synchronization(value: Json, location: SourceLocation, report: Report) -> Synchronization:
    """Read a synchronization."""
    fields = fields_of(value, location, report, SYNCHRONIZATION_KEYS, "a synchronization")
    if fields is None:
        return Synchronization()
    return Synchronization(
        strategy=_strategy(fields, "strategy"),
        sibling_group=fields.name("sibling_group"),
        merge=_merge(fields),
        timeout_ms=fields.count("timeout_ms"),
        on_timeout=fields.choice("on_timeout", "fail", "proceed_with_available"),
        on_early_complete=fields.choice("on_early_complete", "cancel", "abandon"),
        on_branch_failure=fields.choice("on_branch_failure", "fail", "continue"),
    )


def _synchronization(fields: Fields) -> Synchronization | None:
    if "synchronization" not in fields:
        return None
    return read_synchronization(fields.value("synchronization"), fields.location("synchronization"), fields.report)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _condition(fields: Fields) -> Json:
    value = fields.value("condition", True)
    if not isinstance(value, str | bool):
        fields.wrong("condition", "an expression that gives true or false")
        return True
    return value


def _foreach(fields: Fields) -> Foreach | None:
    inner = fields.inner("foreach", FOREACH_KEYS, "a foreach")
    if inner is None:
        return None
    inner.require("collection")
    collection = inner.value("collection", [])
    if not isinstance(collection, str | list):
        inner.wrong("collection", "an expression that gives a list")
    return Foreach(collection, _item_var(inner), inner.count("max_parallel"))


def _item_var(fields: Fields) -> str | None:
    name = fields.text("item_var")
    if name is None or (VARIABLE.fullmatch(name) and name not in TAKEN | RESERVED):
        return name
    taken = name in TAKEN
    problem = f"{shown(name)} " + ("has another meaning in expressions" if taken else "cannot be a variable")
    remedy = "choose another name" if taken else "write letters, digits and '_', beginning with a letter or '_'"
    fields.report.error(fields.location("item_var"), "bad_name", problem, remedy)
    return None


def _spawn_count(fields: Fields) -> int | str | None:
    value = fields.value("spawn_count")
    return value if isinstance(value, str) and value else fields.integer("spawn_count", at_least=0)


def _loop_config(fields: Fields) -> LoopConfig | None:
    inner = fields.inner("loop_config", ("max_iterations",), "a loop_config")
    if inner is None:
        return None
    inner.require("max_iterations")
    return LoopConfig(inner.integer("max_iterations", at_least=1) or 1)


def _strategy(fields: Fields, key: str) -> Strategy:
    value = fields.value(key, "all")
    if isinstance(value, dict):
        inner = fields.inner(key, ("m_of_n",), "a strategy")
        if inner is not None and inner.require("m_of_n"):
            return MOfN(inner.count("m_of_n") or 1)
        return "all"
    if value == "any":
        return "any"
    if value != "all":
        fields.wrong(key, "a strategy", "write 'all', 'any' or '{m_of_n: 2}'")
    return "all"


def _merge(fields: Fields) -> Merge | None:
    inner = fields.inner("merge", MERGE_KEYS, "a merge")
    if inner is None:
        return None
    inner.require("target")
    source, target = inner.text("source") or "_branch.output", inner.text("target")
    if not SOURCE.fullmatch(source):
        problem = f"takes {shown(source)}, and a merge takes what the branches leave in '_branch.output'"
        inner.report.error(inner.location("source"), "merge_path", problem, "write '_branch.output' or a path under it")
    if target is not None and not TARGET.fullmatch(target):
        problem = f"puts the result at {shown(target)}, where no merge can write"
        remedy = "write a path under 'state.' or 'output.'; inside an outer branch it lands in its output"
        inner.report.error(inner.location("target"), "merge_path", problem, remedy)
        target = None
    strategy: MergeStrategy = inner.choice(
        "strategy", "append", "collect", "merge_object", "keyed_by_branch", "last_wins"
    )
    return None if target is None else Merge(target, source, strategy)
