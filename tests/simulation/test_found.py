"""What the simulation found, each as the smallest case that shows it."""

from itertools import pairwise
from typing import Any

import pytest

from jeton.actor.advance import LiveRun, advance
from jeton.hosts.simulated.faults import Fault, FaultPlan
from jeton.hosts.simulated.script import Answer, Script
from jeton.hosts.simulated.world import World
from jeton.model.effect import StartTask, StopTask
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.message import AlarmRang, StartRun, TaskFinished, TaskStarted, TaskSuspended
from jeton.model.state.phase import Executing
from jeton.model.state.run import Head, RunState
from jeton.planning.program.workflow import compile_program
from tests.simulation.loading import library_of, played
from tests.simulation.stories.watched import Watched

TASKS: dict[str, Any] = {"t": {"steps": [{"ref": "only", "action": {"kind": "mock"}}], "timeout_ms": 100}}


def flow(nodes: dict[str, Any], *transitions: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"initial_node": next(iter(nodes)), "nodes": nodes, "transitions": list(transitions), **rest}


@pytest.mark.parametrize(
    ("items", "status"),
    [
        pytest.param([1, 2, 3], "completed", id="as many as are allowed"),
        pytest.param([1, 2, 3, 4], "failed", id="one too many"),
    ],
)
def test_the_token_that_fans_out_is_not_alive_beside_its_branches(items: Json, status: str) -> None:
    fan = {"from": "a", "to": "b", "foreach": {"collection": "input.items"}}
    workflow = flow({"a": {}, "b": {"task": "t"}}, fan, limits={"max_tokens": 3})
    assert played(library_of(workflow, TASKS), {"items": items}).status == status


def test_a_continuation_counts_as_a_token_too() -> None:
    empty = {"foreach": {"collection": "[]"}}
    workflow = flow(
        {"a": {}, "b": {}, "c": {}, "x": {"task": "t"}, "y": {"task": "t"}},
        {"from": "a", "to": "b", **empty, "sibling_group": "one"},
        {"from": "a", "to": "c", **empty, "sibling_group": "two"},
        {"from": "b", "to": "x", "synchronization": {"sibling_group": "one"}},
        {"from": "c", "to": "y", "synchronization": {"sibling_group": "two"}},
        limits={"max_tokens": 1},
    )
    error = played(library_of(workflow, TASKS)).error
    assert error is not None
    assert error.type == "limit_exceeded"


def test_a_node_that_finished_and_cannot_fan_out_is_executed_once() -> None:
    workflow = flow(
        {"a": {}, "b": {}, "c": {"task": "t"}, "caught": {}},
        {"from": "a", "to": "b"},
        {"from": "b", "to": "c", "foreach": {"collection": "input.number"}},
        {"from": "b", "to": "caught", "condition": "has(state._last_error)"},
        limits={"max_node_executions": 3},
    )
    assert played(library_of(workflow, TASKS), {"number": 1}).status == "completed"


def test_a_group_leads_to_the_joins_it_can_reach_from_where_it_stands() -> None:
    # seen from group g alone, its token would pass j by and be joined at k; inside group a it is joined at j
    inside = {"synchronization": {"sibling_group": "a"}}
    workflow = flow(
        {"s": {}, "a": {}, "b": {}, "c": {}, "d": {"task": "t"}, "j": {}, "k": {}},
        {"from": "s", "to": "a", "spawn_count": 1},
        {"from": "a", "to": "b"},
        {"from": "a", "to": "c", "condition": "true"},
        {"from": "b", "to": "d", "spawn_count": 1, "sibling_group": "g"},
        {"from": "c", "to": "j", **inside},
        {"from": "d", "to": "j", **inside},
        {"from": "j", "to": "k", "synchronization": {"strategy": "any"}},
    )
    assert played(library_of(workflow, TASKS)).status == "completed"


def test_a_run_that_was_loaded_sees_its_context_in_the_same_order() -> None:
    workflow = flow(
        {
            "a": {"task": "t", "output_mapping": {"state.z": 1, "state.b": 2}},
            "c": {"task": "t", "output_mapping": {"state.a": 3}},
        },
        {"from": "a", "to": "c"},
        output_mapping={"whole": "state"},
    )
    forgotten = FaultPlan({"run_forgotten": tuple(Fault(n) for n in range(9))})
    digests: set[str] = set()
    for plan in (None, forgotten):
        world = World(library_of(workflow, TASKS), plan=plan, script=Script({"a": Answer({}), "c": Answer({})}))
        world.start("w", {})
        world.run()
        digests.add(world.store.digest())
    assert len(digests) == 1


def test_what_a_message_left_for_the_next_batch_is_not_forgotten_by_the_message_after_it() -> None:
    workflow = flow({"a": {"task": "t"}, "b": {}}, {"from": "a", "to": "b"})
    library = library_of(workflow, TASKS)
    program = compile_program(library.workflows["w"], library)
    run = LiveRun(RunState(Head(RunId("r"), "w")))
    advance(program, run, [StartRun(0, {})])
    commit = advance(program, run, [TaskFinished(1, TokenId(0), 1, {}), AlarmRang(1)], moves=0)
    assert commit.again


def test_the_worker_of_an_abandoned_task_is_stopped_when_its_time_is_over() -> None:
    workflow = flow(
        {"a": {}, "slow": {"task": "t"}, "quick": {"task": "t"}, "end": {"wait": {"seconds": 1}}},
        {"from": "a", "to": "slow"},
        {"from": "a", "to": "quick"},
        *({"from": name, "to": "end", "synchronization": {"strategy": "any", "on_early_complete": "abandon"}}
          for name in ("slow", "quick")),
    )  # fmt: skip
    script = Script({"slow": Answer({}, takes_ms=5000), "quick": Answer({}, takes_ms=1)})
    watched = Watched()
    world = watched.world = World(library_of(workflow, TASKS), script=script, observer=watched)
    world.start("w", {})
    world.run()
    assert [type(effect) for effect in watched.released_effects] == [StartTask, StartTask, StopTask]


def test_a_slot_arrives_at_its_own_join_though_another_token_of_it_went_further_out_before() -> None:
    def one(group: str) -> dict[str, Any]:
        return {"spawn_count": 1, "sibling_group": group}

    def join(group: str, **merge: str) -> dict[str, Any]:
        return {"synchronization": {"sibling_group": group, **({"merge": merge} if merge else {})}}

    workflow = flow(
        {"s": {}, "m": {}, "w": {}, "x": {"task": "t"}, "y": {"task": "t"}, "a": {}, "b": {}, "k": {}, "j": {}},
        {"from": "s", "to": "m", **one("outer")},
        {"from": "m", "to": "w", "spawn_count": 2, "sibling_group": "inner"},
        {"from": "w", "to": "x", **one("g0")},
        {"from": "w", "to": "y", **one("g1")},
        {"from": "x", "to": "a", **join("g0")},
        {"from": "y", "to": "b", **join("g1")},
        {"from": "a", "to": "j", **join("outer", source="_branch.output.k", target="state.k", strategy="collect")},
        {"from": "b", "to": "k", **join("inner", source="_branch.output", target="state.k", strategy="collect")},
        {"from": "k", "to": "j", **join("outer", source="_branch.output.k", target="state.k", strategy="collect")},
    )
    script = Script({"x": Answer({}, takes_ms=1), "y": Answer({}, takes_ms=5)})
    outcome = played(library_of(workflow, TASKS), script=script)
    assert outcome.state == {"k": [[{}, {}]]}


def test_a_sleep_that_is_told_of_again_when_it_is_over_is_not_slept_again() -> None:
    """Found by the flow of seed 11978: the worker that had begun was never heard of, and nobody asked after it."""
    workflow = flow({"a": {"task": "t"}})
    library = library_of(workflow, TASKS)
    program, live = compile_program(library.workflows["w"], library), LiveRun(RunState(Head(RunId("r"), "w")))
    token = TokenId(0)
    asleep = TaskSuspended(20, token, 1, 30, "nap")
    for message in (StartRun(10, {}), asleep, AlarmRang(30), TaskStarted(31, token, 1), asleep):
        commit = advance(program, live, [message])
    assert commit.effects == ()
    assert isinstance(live.state.tokens[token].phase, Executing)
    advance(program, live, [TaskSuspended(40, token, 1, 50, "another nap")])
    assert live.state.tokens[token].last_sleep == "another nap"


QUORUM_THAT_IS_NONE: dict[str, Any] = {"synchronization": {"strategy": {"m_of_n": "input.gone"}}}


@pytest.mark.parametrize(
    ("first", "waits_s", "begins_ms", "error"),
    [
        pytest.param("wait", (0.105,), 5, "not_a_count", id="a wait that is older than the task goes first"),
        pytest.param("wait", (0.1,), 0, "not_a_count", id="of two that are as old, the one with the lower number"),
        pytest.param("task", (0.1,), 0, "timed_out", id="of two that are as old, the lower number: a task"),
        pytest.param("wait", (0.05, 0.055), 5, "timed_out", id="a task that is older than the wait times out first"),
    ],
)
def test_a_deadline_and_a_wait_of_the_same_millisecond_act_in_the_order_they_began(
    first: str, waits_s: tuple[float, ...], begins_ms: int, error: str
) -> None:
    """Found by seed 715109612, where the wait led to a fan-in whose quorum was no count."""
    waits = {f"w{number}": {"wait": {"seconds": seconds}} for number, seconds in enumerate(waits_s)}
    names = [*waits, "join"]
    ways = [{"from": "a", "to": "w0"}, {"from": "a", "to": "t"}]
    workflow = flow(
        {"a": {}, **waits, "t": {"task": "t"}, "join": {}},
        *(ways if first == "wait" else reversed(ways)),
        *({"from": a, "to": b, **(QUORUM_THAT_IS_NONE if b == "join" else {})} for a, b in pairwise(names)),
        {"from": "t", "to": "join", **QUORUM_THAT_IS_NONE},
    )
    library = library_of(workflow, TASKS)
    program, live = compile_program(library.workflows["w"], library), LiveRun(RunState(Head(RunId("r"), "w")))
    advance(program, live, [StartRun(1000, {})])
    task = next(token.id for token in live.state.tokens.values() if token.node == "t")
    for message in (TaskStarted(1000 + begins_ms, task, 1), AlarmRang(1050), AlarmRang(1100 + begins_ms)):
        advance(program, live, [message])
    assert live.state.head.error is not None
    assert live.state.head.error.type == error


def test_a_fan_in_keeps_its_quorum_from_data_when_another_of_its_group_opens() -> None:
    """Found by seed 382."""
    quorums: dict[str, Any] = {"j": "size([1, 2])", "k": 1}

    def join(node: str) -> dict[str, Any]:
        return {"synchronization": {"strategy": {"m_of_n": quorums[node]}, "sibling_group": "g"}}

    workflow = flow(
        {"s": {}, "a": {}, "b": {"wait": {"seconds": 0.001}}, "j": {}, "k": {}},
        {"from": "s", "to": "a", "foreach": {"collection": "[0, 1, 2]"}, "sibling_group": "g"},
        {"from": "a", "to": "j", "condition": "_branch.index == 0", **join("j")},
        {"from": "a", "to": "b", "priority": 2},
        {"from": "b", "to": "k", **join("k")},
    )
    error = played(library_of(workflow, TASKS)).error
    assert error is not None
    assert (error.type, error.node) == ("quorum_impossible", "j")


def test_a_slot_that_arrives_with_several_tokens_is_one_slot_of_a_quorum() -> None:
    """Two of three are needed, and each brings two tokens: one slot alone does not open the fan-in."""
    workflow = flow(
        {"s": {}, "a": {}, "quick": {"task": "t"}, "slow": {"task": "t"}, "b": {"task": "t"}, "j": {}},
        {"from": "s", "to": "a", "foreach": {"collection": "[0, 1, 2]"}, "sibling_group": "g"},
        {"from": "a", "to": "quick", "condition": "_branch.index == 0"},
        {"from": "a", "to": "slow", "condition": "_branch.index != 0"},
        *({"from": name, "to": "b", "spawn_count": 2} for name in ("quick", "slow")),
        {"from": "b", "to": "j", "synchronization": {
            "strategy": {"m_of_n": 2}, "sibling_group": "g",
            "merge": {"source": "_branch.output.i", "target": "state.arrived", "strategy": "collect"},
        }},
    )  # fmt: skip
    workflow["nodes"]["a"]["output_mapping"] = {"_branch.output.i": "_branch.index"}
    answers = {"quick": Answer({}, takes_ms=1), "slow": Answer({}, takes_ms=20), "b": Answer({}, takes_ms=1)}
    assert played(library_of(workflow, TASKS), script=Script(answers)).state == {"arrived": [0, 1]}


def test_a_fan_in_whose_number_cannot_be_had_fails_before_another_of_its_group_opens() -> None:
    """Found by seed 5172: the last slot reaches j, and k has waited for it."""
    workflow = flow(
        {"s": {}, "a": {"output_mapping": {"_branch.output.i": "_branch.index"}}, "t": {"task": "t"}, "j": {}, "k": {}},
        {"from": "s", "to": "a", "foreach": {"collection": "[0, 1]"}, "sibling_group": "g"},
        {"from": "a", "to": "k", "condition": "_branch.index == 0", "synchronization": {
            "strategy": "all", "sibling_group": "g",
            "merge": {"source": "_branch.output.i", "target": "state.arrived", "strategy": "collect"},
        }},
        {"from": "a", "to": "t", "condition": "_branch.index == 1"},
        {"from": "t", "to": "j", "synchronization": {"strategy": {"m_of_n": "state.nothing"}, "sibling_group": "g"}},
    )  # fmt: skip
    ended = played(library_of(workflow, TASKS))
    assert ended.error is not None
    assert (ended.error.type, ended.error.node, ended.state) == ("not_a_count", "j", {})
