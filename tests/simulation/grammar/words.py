"""The small change of a random workflow: expressions, mappings, tasks, joins, inputs.

Expressions keep to what the oracle's own evaluator can read. Durations are small, and retry delays stay under ten
milliseconds, where the engine adds no jitter.
"""

from random import Random
from typing import Any, TypeAlias

from jeton.hosts.simulated.script import Answer, Script, ScriptedCall
from jeton.model.failure import TaskFailed
from jeton.model.json import Json

Object: TypeAlias = dict[str, Any]

KEYS = ("a", "b", "c")
STEPS: list[Object] = [{"ref": "only", "action": {"kind": "mock"}}]
MERGES = ("append", "collect", "merge_object", "keyed_by_branch", "last_wins")


def tasks(rng: Random) -> Object:
    """Three tasks: an ordinary one, one that is tried again, one that has little time."""
    backoff = rng.choice(("none", "linear", "exponential"))
    retry: Object = {"max_attempts": rng.randint(2, 3), "backoff": backoff, "initial_delay_ms": rng.randint(0, 2)}
    if rng.random() < 0.3:
        retry["max_delay_ms"] = rng.randint(1, 4)
    return {
        "plain": {"steps": STEPS, "timeout_ms": rng.choice((60, 90, 150))},
        "again": {"steps": STEPS, "timeout_ms": rng.choice((60, 90)), "retry": retry},
        "brief": {"steps": STEPS, "timeout_ms": rng.choice((5, 12, 18))},
    }


def run_input(rng: Random) -> Object:
    """What a run is given: a number, lists of several lengths (none, one, some), a list of lists."""
    numbers = [rng.randint(0, 3) for _ in range(rng.choice((0, 1, 2, 2, 3, 4)))]
    lists = [[rng.randint(0, 3) for _ in range(rng.randint(0, 3))] for _ in range(rng.randint(0, 3))]
    return {"n": rng.randint(0, 3), "xs": numbers, "xss": lists, "flag": rng.random() < 0.5}


class SeededScript(Script):
    """Answers drawn from the call itself: mostly an object with a few fields, now and then a failure."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed=seed)
        swarm = Random(f"{seed}/script")
        self._failing = swarm.choice((0.0, 0.05, 0.15, 0.35))
        self._odd = swarm.choice((0.0, 0.0, 0.1))
        self._slow = swarm.choice((0.0, 0.1))

    def answer(self, call: ScriptedCall) -> Answer:
        rng = self.chance(call)
        takes_ms = rng.randint(30, 100) if rng.random() < self._slow else rng.randint(0, 12)
        if rng.random() < self._failing:
            retry = rng.random() < 0.5
            kind = rng.choice(("boom", "crack"))
            return Answer(failure=TaskFailed(kind, f"{call.node} broke", "only", retry=retry), takes_ms=takes_ms)
        return Answer(self._result(rng), takes_ms=takes_ms)

    def _result(self, rng: Random) -> Json:
        if rng.random() < self._odd:
            odd: tuple[Json, ...] = (None, 3, [1, 2], "text", {})
            return rng.choice(odd)
        number = rng.randint(0, 3)
        return {"n": number, "a": number, "xs": list(range(number)), "o": {"k": number}}


def condition(rng: Random, *, branch: bool, result: bool) -> Any:
    """Something that holds now and then; sometimes it reads what is not there."""
    choices = [
        f"input.n > {rng.randint(0, 2)}",
        "input.flag",
        f"size(input.xs) > {rng.randint(0, 2)}",
        f"state.{rng.choice(KEYS)} == {rng.randint(0, 2)}",
        f"has(state.{rng.choice(KEYS)})",
        "input.n >= 0",
    ]
    if branch:
        choices += [f"_branch.index == {rng.randint(0, 1)}", f"_branch.index < {rng.randint(1, 2)}"]
        choices += ["_branch.total > 2", f"has(_branch.output.{rng.choice(KEYS)})", "_branch.outer == null"]
    if result:
        choices += [f"result.n > {rng.randint(0, 2)}"] * 3 + [f"result.n == {rng.randint(0, 3)}"] * 3
        choices += ["result.n < 2 || input.flag", "has(result.n) && result.n > 0", "!(result.n == 1)"]
    return rng.choice(choices)


def handler_condition(rng: Random) -> str:
    """A condition that speaks of the last error."""
    return rng.choice(
        (
            "has(state._last_error)",
            "state._last_error.type == 'boom'",
            "state._last_error.type == 'timed_out'",
            "state._last_error.attempts > 1",
            "state._last_error.node != 'nowhere'",
        )
    )


def value(rng: Random, *, branch: bool, result: bool, items: tuple[str, ...]) -> Any:
    """The right side of a mapping; sometimes it reads what is not there, and gives null."""
    choices: list[Any] = ["input.n", "input.xs", f"state.{rng.choice(KEYS)}", f"output.{rng.choice(KEYS)}", 7, "'text'"]
    choices += ["size(input.xs)", "input.n + 1", [1, 2], {"k": 1}]
    if branch:
        choices += ["_branch.index", "_branch.total", "_branch.item", f"_branch.output.{rng.choice(KEYS)}"]
        choices += ["_branch.fan_out_node_id", "_branch.output", "_branch.outer"]
    if result:
        choices += ["result.n", "result.xs", "result.o", "result"] * 2
    choices += list(items) * 3
    return rng.choice(choices)


def input_mapping(rng: Random, *, branch: bool, items: tuple[str, ...]) -> Object:
    mapping: Object = {"n": value(rng, branch=branch, result=False, items=items)}
    if rng.random() < 0.4:
        mapping["deep.er"] = value(rng, branch=branch, result=False, items=items)
    return mapping


def output_mapping(rng: Random, *, branch: bool, result: bool, items: tuple[str, ...]) -> Object:
    """One or two targets. Both sections at once are a load error in a branch, so one mapping keeps to one."""
    section = rng.choice(("state", "output", "_branch.output") if branch else ("state", "state", "output"))
    mapping: Object = {}
    for key in rng.sample(KEYS, rng.randint(1, 2)):
        target = f"{section}.{key}.k" if rng.random() < 0.15 else f"{section}.{key}"
        mapping[target] = value(rng, branch=branch, result=result, items=items)
    return mapping


def merge(rng: Random) -> Object:
    source = rng.choice(("_branch.output", "_branch.output", *(f"_branch.output.{key}" for key in ("a", "xs", "o"))))
    target = rng.choice(("state.a", "state.b", "output.m", "state.deep.m"))
    return {"source": source, "target": target, "strategy": rng.choice(MERGES)}


def synchronization(
    rng: Random, *, group: str | None, on_branch_failure: str, fixed: int | None, branch: bool
) -> Object:
    """A join. `fixed`: how many slots there are, if the definition says so; a larger quorum is a load error."""
    sync: Object = {}
    strategy = rng.choice(("all", "all", "any", "m_of_n", "m_of_n", None))
    if strategy == "m_of_n" and fixed != 0:
        sync["strategy"] = {"m_of_n": rng.randint(1, min(3, fixed or 3))}
    elif strategy in ("all", "any"):
        sync["strategy"] = strategy
    if group is not None:
        sync["sibling_group"] = group
    if rng.random() < 0.7:
        sync["merge"] = merge(rng)
    if rng.random() < 0.3:
        sync["timeout_ms"] = rng.choice((2, 6, 11, 25))
        if rng.random() < 0.7:
            sync["on_timeout"] = rng.choice(("proceed_with_available", "proceed_with_available", "fail"))
    if rng.random() < 0.4:
        sync["on_early_complete"] = rng.choice(("cancel", "abandon", "abandon"))
    if on_branch_failure == "continue" or rng.random() < 0.2:
        sync["on_branch_failure"] = on_branch_failure
    return with_expressions(sync, branch=branch)


def with_expressions(sync: Object, *, branch: bool) -> Object:
    """The join, with some of its numbers from data. Drawn apart, so that a seed keeps the rest of its graph."""
    rng = Random(str(sync))
    strategy: Any = sync.get("strategy")
    if strategy not in (None, "all", "any") and rng.random() < 0.4:
        sync["strategy"] = {"m_of_n": count_expression(rng, strategy["m_of_n"], branch=branch)}
    if "timeout_ms" in sync and rng.random() < 0.4:
        sync["timeout_ms"] = count_expression(rng, sync["timeout_ms"], branch=branch)
    return sync


def count_expression(rng: Random, count: int, *, branch: bool = False) -> str:
    """An expression that mostly gives the count, and now and then none. `branch`: whether it can read a `_branch`."""
    if branch and rng.random() < 0.4:
        return rng.choice((f"_branch.index * 0 + {count}", "_branch.index + 1", "_branch.total", "_branch.output.a"))
    usual = (
        f"size(range({count}))",
        f"[{count + 1}, {count}].sort().first()",
        f"[[{count}]].flatten().max()",
        f"size(run.workflow) + {count - 1}",
        f"[size(run.id), {count}].min()",
    )
    unusual = ("input.gone", "input.n", "size(state.a)", f"{count} * 1.0", "size([]) + 1", "state.b", "0 - 1", "run.id")
    return rng.choice(usual) if rng.random() < 0.8 else rng.choice(unusual)
