"""The laws of the port on the simulated host: each by a test that kills, repeats, delays or sets the clock."""

from typing import Any

import pytest

from jeton.definitions import library_from
from jeton.hosts.simulated.clock import EPOCH_MS
from jeton.hosts.simulated.faults import Fault, FaultKind, FaultPlan
from jeton.hosts.simulated.process import LOOK_AFTER_MS
from jeton.hosts.simulated.script import Answer, Script, ScriptedCall
from jeton.hosts.simulated.simulated_run import SimulatedRun, simulated_run
from jeton.hosts.simulated.world import World
from jeton.model.decision import RedeliverToken
from jeton.model.definition.workflow import Library
from jeton.model.event import LateIgnored
from jeton.model.failure import TaskFailed
from jeton.model.json import Json
from jeton.model.message import AlarmRang, TaskFinished, TaskLost, TaskStarted
from tests.simulation.invariants.check import RunInvariants
from tests.simulation.invariants.seen import Broken
from tests.simulation.stories.watched import Watched

STEPS = [{"ref": "only", "action": {"kind": "mock"}}]


def library(workflow: dict[str, Any], **task: Any) -> Library:
    tasks = {"t": {"steps": STEPS, "timeout_ms": 100, **task}}
    return library_from({"workflows": {"w": workflow}, "tasks": tasks}).require()


PANEL = library(
    {
        "initial_node": "prepare",
        "nodes": {
            "prepare": {"wait": {"seconds": 0.005}},
            "judge": {"task": "t", "input_mapping": {"judge": "judge"}},
            "tally": {"task": "t", "output_mapping": {"state.count": "size(state.votes)"}},
        },
        "transitions": [
            {"from": "prepare", "to": "judge", "foreach": {"collection": "input.judges", "item_var": "judge"}},
            {
                "from": "judge",
                "to": "tally",
                "synchronization": {"merge": {"source": "_branch.output.vote", "target": "state.votes"}},
            },
        ],
        "output_mapping": {"votes": "state.votes", "count": "state.count"},
    }
)
JUDGES: Json = {"judges": ["a", "b", "c"]}
VOTES: Json = {"votes": ["a", "b", "c"], "count": 3}


def vote(call: ScriptedCall) -> Answer:
    return Answer({"vote": call.input["judge"]} if isinstance(call.input, dict) and "judge" in call.input else {})


def played(
    plan: FaultPlan | None = None, definition: Library = PANEL, script: Script | None = None
) -> tuple[SimulatedRun, Watched, World]:
    watched = Watched()
    answers = script or Script({"judge": vote, "tally": vote}, seed=1)
    world = watched.world = World(definition, seed=1, plan=plan, script=answers, observer=watched)
    run = world.start("w", JUDGES)
    world.run()
    return simulated_run(world, run), watched, world


def struck(kind: FaultKind, *nth: int, by_ms: int = 0) -> FaultPlan:
    return FaultPlan({kind: tuple(Fault(n, by_ms) for n in nth)}, storm_ms=10_000)


def test_a_run_goes_to_its_end_in_virtual_time() -> None:
    outcome, _, world = played()
    assert (outcome.status, outcome.output) == ("completed", VOTES)
    assert world.crashes == 0


CRASHES: tuple[FaultKind, ...] = (
    "crash_before_commit",
    "crash_after_commit",
    "crash_amid_effects",
    "commit_fails",
    "commit_unknown",
)


@pytest.mark.parametrize("down_ms", [0, 30], ids=["at once", "after a while"])
@pytest.mark.parametrize("kind", CRASHES)
def test_a_crash_at_any_step_changes_nothing_but_the_time(kind: FaultKind, down_ms: int) -> None:
    for nth in range(12):
        outcome, _, world = played(struck(kind, nth, by_ms=down_ms))
        assert (outcome.status, outcome.output) == ("completed", VOTES)
        assert world.crashes == len(world.faults.struck)


def test_crashing_again_and_again_still_comes_to_an_end() -> None:
    outcome, _, world = played(struck("crash_before_commit", *range(40)))
    assert (outcome.status, outcome.output) == ("completed", VOTES)
    assert world.crashes == 40


def test_a_task_that_kills_its_host_is_not_tried_for_ever() -> None:
    outcome, _, _ = played(struck("crash_after_commit", *range(3, 40)))
    assert outcome.status == "failed"
    assert outcome.error is not None
    assert outcome.error.type == "worker_lost"


def test_a_forgotten_run_is_the_same_run_when_it_is_loaded() -> None:
    outcome, _, _ = played(struck("run_forgotten", *range(40)))
    undisturbed, _, _ = played()
    assert outcome.events == undisturbed.events


def test_a_doubled_result_counts_once() -> None:
    outcome, watched, _ = played(struck("result_doubled", *range(10), by_ms=3))
    assert (outcome.status, outcome.output) == ("completed", VOTES)
    answers = [m for step in watched.steps for m in step.batch if isinstance(m, TaskFinished)]
    assert len(answers) > 4


def test_a_worker_that_dies_is_replaced_when_the_host_looks() -> None:
    outcome, watched, _ = played(struck("worker_dies", 0))
    assert (outcome.status, outcome.output) == ("completed", VOTES)
    lost = [m for step in watched.steps for m in step.batch if isinstance(m, TaskLost)]
    assert len(lost) == 1
    assert outcome.took_ms >= LOOK_AFTER_MS


def test_a_worker_that_never_begins_is_replaced_when_its_time_is_over() -> None:
    outcome, watched, _ = played(struck("worker_silent", 0))
    assert (outcome.status, outcome.output) == ("completed", VOTES)
    again = [d for step in watched.steps if step.entry for d in step.entry.decisions]
    assert [d.deliveries for d in again if isinstance(d, RedeliverToken)] == [1]


def test_a_worker_that_stalls_has_its_task_timed_out() -> None:
    outcome, _, _ = played(struck("worker_stalls", 0))
    assert outcome.error is not None
    assert outcome.error.type == "timed_out"


def test_a_late_result_of_a_lost_delivery_counts_and_the_other_is_ignored() -> None:
    outcome, _, _ = played(struck("result_late", 0, by_ms=LOOK_AFTER_MS + 1))
    assert (outcome.status, outcome.output) == ("completed", VOTES)


def test_a_late_answer_of_an_earlier_attempt_is_ignored() -> None:
    def second_time_right(call: ScriptedCall) -> Answer:
        if call.attempt == 1:
            return Answer(failure=TaskFailed("boom", "not yet", retry=True), takes_ms=1)
        return Answer({"n": 2}, takes_ms=10)

    twice = library(
        {"initial_node": "a", "nodes": {"a": {"task": "t", "output_mapping": {"output.n": "result.n"}}}},
        retry={"max_attempts": 2},
    )
    plan = struck("result_doubled", 0, by_ms=5)
    outcome, _, _ = played(plan, twice, Script({"a": second_time_right}))
    assert (outcome.status, outcome.output) == ("completed", {"n": 2})
    assert [event.fact for event in outcome.events if isinstance(event.fact, LateIgnored)] != []


def test_that_a_task_began_rides_on_the_next_commit_and_causes_none() -> None:
    _, watched, _ = played()
    assert any(isinstance(m, TaskStarted) for step in watched.steps for m in step.batch)
    assert all(any(not isinstance(m, TaskStarted) for m in step.batch) for step in watched.steps)


@pytest.mark.parametrize("by_ms", [-500, -1, 1, 500])
def test_a_length_of_time_takes_as_long_when_the_wall_clock_is_set(by_ms: int) -> None:
    outcome, watched, world = played(struck("clock_jump", 0, by_ms=by_ms))
    assert outcome.status == "completed"
    assert alarms(watched) == [AlarmRang(EPOCH_MS + 5, EPOCH_MS + 5 + by_ms)]
    assert (world.clock.now(), world.clock.ahead) == (world.clock.steady + EPOCH_MS, -by_ms)


@pytest.mark.parametrize("by_ms", [-500, -1, 1, 500])
def test_a_point_in_time_comes_when_the_wall_clock_shows_it(by_ms: int) -> None:
    until = {"initial_node": "a", "nodes": {"a": {"wait": {"until": "'2023-11-14T22:13:20.005Z'"}}}}
    outcome, watched, _ = played(struck("clock_jump", 0, by_ms=by_ms), library(until))
    assert outcome.status == "completed"
    passed = max(0, 5 - by_ms)
    assert alarms(watched) == [AlarmRang(EPOCH_MS + passed, EPOCH_MS + passed + by_ms)]


@pytest.mark.parametrize(("by_ms", "rings_after"), [(-500, range(505, 506)), (500, range(20, 60))])
def test_after_a_crash_the_wall_clock_says_how_much_of_a_length_is_left(by_ms: int, rings_after: range) -> None:
    plan = FaultPlan({"clock_jump": (Fault(0, by_ms),), "crash_before_commit": (Fault(1, 20),)})
    _, watched, world = played(plan, library({"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 0.005}}}}))
    rang = alarms(watched)[-1]
    assert rang.at - EPOCH_MS - by_ms in rings_after
    assert (rang.wall, world.clock.ahead) == (rang.at, 0)


def alarms(watched: Watched) -> list[AlarmRang]:
    return [m for step in watched.steps for m in step.batch if isinstance(m, AlarmRang)]


def test_a_stale_alarm_changes_nothing() -> None:
    outcome, watched, _ = played(struck("alarm_stale", *range(10), by_ms=1))
    assert (outcome.status, outcome.output) == ("completed", VOTES)
    alone = [step for step in watched.steps if [type(message) for message in step.batch] == [AlarmRang]]
    assert any(step.turn.entry is None for step in alone)


def test_after_the_end_messages_are_no_ops() -> None:
    outcome, _, world = played()
    world.cancel(outcome.run, "too late")
    world.run()
    assert simulated_run(world, outcome.run) == outcome


def test_effects_leave_after_their_commit() -> None:
    _, watched, _ = played()
    assert len(watched.released_effects) == sum(len(step.turn.effects) for step in watched.steps)
    too_early = RunInvariants()
    with pytest.raises(Broken):
        too_early.released(watched.released_effects[0])


def test_the_same_seed_is_the_same_history_and_another_seed_another() -> None:
    digests: list[str] = []
    for seed in (1, 1, 2):
        world = World(PANEL, seed=seed, script=Script({"judge": vote, "tally": vote}, seed=seed))
        world.start("w", JUDGES)
        world.run()
        digests.append(world.store.digest())
    assert digests[0] == digests[1] != digests[2]


def test_many_runs_share_a_host_and_its_crashes() -> None:
    plan = struck("crash_after_commit", 2, 5, 9)
    world = World(PANEL, seed=3, plan=plan, script=Script({"judge": vote, "tally": vote}, seed=3))
    runs = [world.start("w", JUDGES, after_ms=n) for n in range(20)]
    world.run()
    assert [simulated_run(world, run).output for run in runs] == [VOTES] * 20
    assert world.crashes == 3
