"""Scripts for the oracle: a workflow in a few words, what happens to it in order, and what must be seen on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.simulation.oracle.oracle import Call, Oracle, Token

Object = dict[str, Any]
WORK: Object = {"task": "work"}
TERMINAL = ("completed", "failed", "cancelled", "timed_out")


def flow(nodes: Object, *transitions: Object, **rest: Any) -> Object:
    """A workflow; the first node is the initial one."""
    return {"initial_node": next(iter(nodes)), "nodes": nodes, "transitions": list(transitions), **rest}


def go(from_: str, to: str, **rest: Any) -> Object:
    return {"from": from_, "to": to, **rest}


def each(from_: str, to: str, collection: str = "input.items", **rest: Any) -> Object:
    """A foreach transition with `item` as its item variable; `max_parallel` goes where it belongs."""
    foreach: Object = {"collection": collection, "item_var": rest.pop("item_var", "item")}
    if "max_parallel" in rest:
        foreach["max_parallel"] = rest.pop("max_parallel")
    return go(from_, to, foreach=foreach, **rest)


def join(from_: str, to: str, **sync: Any) -> Object:
    return go(from_, to, synchronization=sync)


def into(target: str, strategy: str = "collect", source: str = "_branch.output") -> Object:
    return {"source": source, "target": target, "strategy": strategy}


@dataclass
class Stage:
    """The oracle, the time, and every call ever seen."""

    oracle: Oracle
    now: int = 0
    seen: dict[int, Call] = field(default_factory=dict[int, Call])

    def call(self, where: str) -> Call:
        found = [one for one in self.oracle.calls() if where in (one.node, one.path, at(one))]
        assert found, f"no call {where}, only {[at(one) for one in self.oracle.calls()]}"
        return found[0]


Act = Callable[[Stage], None]


def at(one: Call | Token) -> str:
    return f"{one.node}@{one.path}"


def ok(where: str, result: Any = None) -> Act:
    """The first open call of that node, path or node@path succeeds."""
    return lambda stage: stage.oracle.finish(stage.call(where).key, {} if result is None else result, stage.now)


def null(where: str) -> Act:
    return lambda stage: stage.oracle.finish(stage.call(where).key, None, stage.now)


def no(where: str, type_: str = "boom", *, retry: bool = False) -> Act:
    failure = {"step": "s", "type": type_, "message": "it broke", "transient": False, "retry": retry}
    return lambda stage: stage.oracle.fail(stage.call(where).key, failure, stage.now)


def alarm(now: int) -> Act:
    def ring(stage: Stage) -> None:
        stage.now = now
        stage.oracle.alarm(now)

    return ring


def later(now: int) -> Act:
    """Time passes, and nobody rings."""

    def pass_by(stage: Stage) -> None:
        stage.now = now

    return pass_by


def cancel(reason: str = "enough") -> Act:
    return lambda stage: stage.oracle.cancel(reason, stage.now)


def late_answers() -> Act:
    """Every call ever made answers once more; those still open are left alone."""

    def answer(stage: Stage) -> None:
        still_open = [call.key for call in stage.oracle.calls()]
        for key in stage.seen:
            if key not in still_open:
                stage.oracle.finish(key, {"late": True}, stage.now)
                stage.oracle.fail(key, {"type": "late", "message": "late", "retry": True}, stage.now)

    return answer


def then(**expected: Any) -> Act:
    """What must be seen now. `calls` and `tokens` are written "node@path", tokens with their status behind."""

    def look(stage: Stage) -> None:
        oracle = stage.oracle
        calls = oracle.calls()
        views: dict[str, Callable[[], Any]] = {
            "status": lambda: oracle.status,
            "output": lambda: oracle.output,
            "state": lambda: oracle.state,
            "out": lambda: oracle.out,
            "error": lambda: None if oracle.error is None else oracle.error["type"],
            "error_has": lambda: {key: (oracle.error or {}).get(key) for key in expected["error_has"]},
            "calls": lambda: " ".join(at(call) for call in calls),
            "inputs": lambda: [call.input for call in calls],
            "attempts": lambda: [call.attempt for call in calls],
            "due": lambda: oracle.next_due(),
            "tokens": lambda: ", ".join(f"{at(token)} {token.status}" for token in oracle.tokens),
            "parents": lambda: [token.parent for token in oracle.tokens],
        }
        assert {key: views[key]() for key in expected} == expected

    return look


def row(id_: str, workflow: Object, *acts: Act, input: Object | None = None, work: Object | None = None) -> Any:
    """One row of a table; `work` is the definition of the one task there is."""
    return pytest.param(workflow, input or {}, {"work": work or {}}, acts, id=id_)


def play(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> Oracle:
    stage = Stage(Oracle(workflow, tasks))
    stage.oracle.start(input, 0)
    for act in acts:
        stage.seen.update({call.key: call for call in stage.oracle.calls()})
        act(stage)
    if stage.oracle.status in TERMINAL:
        nothing_moves_any_more(stage)
    return stage.oracle


def nothing_moves_any_more(stage: Stage) -> None:
    """token-graphs.md#run-status: terminal is for ever, and when the run ends every token is terminal."""
    oracle = stage.oracle

    def picture() -> Any:
        tokens = [(at(token), token.status) for token in oracle.tokens]
        return oracle.status, oracle.output, oracle.error, oracle.state, oracle.out, tokens

    before = picture()
    assert all(token.status in TERMINAL for token in oracle.tokens)
    assert oracle.calls() == []
    assert oracle.next_due() is None
    late_answers()(stage)
    oracle.alarm(10**12)
    oracle.cancel("too late", 10**12)
    assert picture() == before
