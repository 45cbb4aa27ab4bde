"""One seed: a flow, what its Python nodes do, what goes wrong, and where it must end.

What a flow comes to depends on no order: every node's result follows from those before it. So the oracle is told what
each node gave, in its own order and with nothing stopping it early, and whatever the run did has to agree with that. A
run that ended in the middle (a limit, `on_error: fail`, a cancellation) did a part of it, and nothing else.

A fork, wherever it begins, and a retry come to the same as a run of their own would, and ask for nothing that was done
in what they share. Which nodes a fault made fail is read off each run itself: a retry may get what the first one lost.
"""

from collections import Counter
from random import Random

import msgspec

from jeton.actor.advance import LiveRun
from jeton.actor.journal import decode_entry
from jeton.actor.sections import load_run
from jeton.definitions.library import read_library
from jeton.definitions.report import Report
from jeton.definitions.text.files import SourceFile
from jeton.definitions.text.python import read_python
from jeton.hosts.simulated.faults import FaultPlan, storm_from_seed
from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.script import Answer, Script, ScriptedCall
from jeton.hosts.simulated.world import World
from jeton.model.decision import ForkHistory, ReopenNodes, SuspendToken, WakeToken
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library
from jeton.model.effect import Effect
from jeton.model.failure import Refused, TaskFailed
from jeton.model.ids import RunId
from jeton.model.state.flow_run import FlowState
from jeton.model.state.run import FiredBy
from jeton.planning.flow.readiness import connection_status
from jeton.planning.flow.view import node_view
from jeton.planning.program.compile import compile_definition
from tests.simulation.grammar.flow import make_flow, make_overrides, make_result
from tests.simulation.grammar.flow_data import timed_tasks, with_timeouts
from tests.simulation.invariants.check import RunInvariants
from tests.simulation.invariants.flow import FlowNodes
from tests.simulation.invariants.folding import batch_repeats, journal_folds, sections_reload
from tests.simulation.invariants.seen import Seen, broken
from tests.simulation.oracle.flow import FlowOracle, plain_input, without_messages
from tests.simulation.oracle.model import Object
from tests.simulation.scenario import Played, Stuck, journal
from tests.simulation.stories.naps import Naps, sleeps_until

CLOSE_LOOKS = 0.15
MOST_FORKS = 3
TROUBLES = ("timed_out", "worker_lost")
GIVEN: tuple[Object, ...] = ({}, {"x": 1, "y": "y"}, {"_branch": "x", "k": {"x": 2}})
FLOW_CASES = (
    "flow completed", "flow failed", "flow cancelled", "flow stopped at its limit", "flow stopped by an error",
    "node skipped: upstream_failure", "node skipped: branch_not_taken", "node failed by a fault", "node failed",
    "node waited", "node given an override", "nodes at once", "empty flow", "back edge ignored",
    "node fell asleep", "node woken", "flow forked", "flow forked with a node asleep", "flow retried",
    "retry completed what had failed", "fork of a fork", "failure routed", "failure replaced by a default",
    "flow timed out", "flow whose timeout is no count", "task of a flow with its timeout from data",
    "gate of a flow timed out", "gate of a flow timed out with a default", "gate of a flow whose timeout is no count",
    "node ran in spite of a failure", "retry redid what ran in spite of a failure", "retry dropped what was under way",
)  # fmt: skip


class FlowScenario(msgspec.Struct, frozen=True):
    """Everything that follows from a seed."""

    seed: int
    flow: Object
    given: Object
    overrides: Object
    fired: str | None
    plan: FaultPlan
    cancel_ms: int | None


def flows_from(seed: int) -> FlowScenario:
    rng = Random(f"{seed}/flow")
    flow = with_timeouts(Random(f"{seed}/flow timeouts"), make_flow(rng))
    plan = storm_from_seed(seed)
    if rng.random() < 0.15:
        plan = msgspec.structs.replace(plan, moves=rng.randint(1, 6))
    return FlowScenario(
        seed=seed,
        flow=flow,
        given=rng.choice(GIVEN),
        overrides=make_overrides(rng, flow),
        fired=rng.choice((None, *flow["nodes"])),
        plan=plan,
        cancel_ms=rng.randint(0, 60) if rng.random() < 0.07 else None,
    )


def flow_library(flow: Object) -> Library:
    """The flow, called `f`, and the one Python node it uses."""
    report = Report()
    document = read_python({"flows": {"f": flow}, "tasks": timed_tasks()}, "grammar", report)
    assert document is not None
    library = read_library([SourceFile("grammar", document)], report).library()
    assert not report.problems, report.problems
    return msgspec.structs.replace(library, actions={"work": Action("node", {"function": "work"})})


def result_of(seed: int, node: str) -> Object | None:
    """What the node gives back, whenever and however often it is asked; nothing if it fails."""
    return make_result(Random(f"{seed}/{node}/result"))


class FlowWatchers:
    """The invariants and the counters."""

    looks_back: bool = True

    def __init__(self, seed: int, library: Library) -> None:
        program = compile_definition(library, "f").flow
        assert program is not None
        self._program = program
        self._chance = Random(f"{seed}/looks")
        self._forks = Random(f"{seed}/forks")
        self._invariants: dict[RunId, RunInvariants] = {}
        self._nodes: dict[RunId, FlowNodes] = {}
        self.cases: Counter[str] = Counter()
        self.calls: dict[RunId, dict[str, ScriptedCall]] = {}
        self.shared: dict[RunId, set[str]] = {}  # by fork: the nodes that were done in what it shares
        self.commits = 0
        self.world: World | None = None

    def committed(self, step: Step) -> None:
        assert self.world is not None
        self.commits += 1
        flow = step.live.state.flow
        self.cases["node waited"] += bool(flow.waiting)
        self.cases["nodes at once"] += len(flow.executing) > 1
        if step.turn.entry is not None:
            entry = decode_entry(step.turn.entry.body)
            self._look(step, Seen(step.program, step.turn, entry, step.live, step.turn.effects))
            if len(self.shared) < MOST_FORKS and self._forks.random() < 0.04:
                self.fork(step.run, self._forks.randint(0, entry.number))
        if step.turn.ended or self._chance.random() < CLOSE_LOOKS:
            batch_repeats(step)
            sections = self.world.store.sections(step.run)
            if sections is not None:
                sections_reload(step.live, sections)
                journal_folds(step.live, journal(self.world, step.run), sections)

    def _look(self, step: Step, seen: Seen) -> None:
        nodes = self._nodes.setdefault(step.run, FlowNodes())
        self.cases["node fell asleep"] += any(isinstance(d, SuspendToken) for d in seen.entry.decisions)
        for decision in seen.entry.decisions:
            match decision:
                case ReopenNodes(begun=begun):
                    self.cases["retry redid what ran in spite of a failure"] += bool(begun)
                case ForkHistory(dropped=dropped):
                    self.cases["retry dropped what was under way"] += bool(dropped)
                case _:
                    pass
        self.cases["node woken"] += any(isinstance(d, WakeToken) for d in seen.entry.decisions)
        if step.live.state.head.forked is None:
            self._invariants.setdefault(step.run, RunInvariants()).committed(seen)
            nodes.committed(seen)
        else:  # its tokens, timers and nodes began in another run
            nodes.settled(seen)

    def fork(self, run: RunId, entry: int, *, again: bool = False) -> None:
        """Begin one, unless there is nothing to share."""
        assert self.world is not None
        try:
            fork = self.world.fork(run, entry, again=again)
        except Refused as refused:
            if refused.code != "nothing_shared":
                raise
            return
        state = self.world.load(fork).state
        self.shared[fork] = set(state.flow.executed) - (self._behind_failures(state.flow) if again else set())
        asleep = any(sleeps_until(token) for token in state.tokens.values())
        self.cases["flow retried" if again else "flow forked"] += 1
        self.cases["flow forked with a node asleep"] += asleep
        self.cases["fork of a fork"] += run in self.shared

    def _behind_failures(self, flow: FlowState) -> set[str]:
        """The nodes that a retry may do again although they ran: a failed one leads there."""
        found: set[str] = set()
        for node in self._program.order:
            if node in flow.errors or node in found:
                found.update(connection.target for connection in self._program.nodes[node].leaving)
        return found

    def released(self, run: RunId, effect: Effect) -> None:
        if run in self._invariants:
            self._invariants[run].released(effect)


def play_flow(scenario: FlowScenario) -> Played:
    """Let everything happen, and see that the run came to what its nodes gave."""
    library = flow_library(scenario.flow)
    watchers = FlowWatchers(scenario.seed, library)
    naps = Naps(scenario.seed)

    def answer(call: ScriptedCall) -> Answer:
        before = watchers.calls.setdefault(call.run, {}).setdefault(call.node, call)
        if before.input != call.input:
            broken(f"node {call.node} is asked again with other input: {call.input}, it was {before.input}")
        result = result_of(scenario.seed, call.node)
        failed = Answer(failure=TaskFailed("boom", "as it should"))
        return naps.before(call, failed if result is None else Answer(result))

    script = Script(dict.fromkeys(scenario.flow["nodes"], answer), seed=scenario.seed)
    world = watchers.world = World(library, seed=scenario.seed, plan=scenario.plan, script=script, observer=watchers)
    trigger = None if scenario.fired is None else FiredBy("manual", node=scenario.fired)
    run = world.start("f", scenario.given, trigger=trigger, overrides=scenario.overrides)
    if scenario.cancel_ms is not None:
        world.cancel(run, "enough", after_ms=scenario.cancel_ms)
    world.run()
    _retry_what_failed(scenario.seed, world, watchers)
    for each in (run, *watchers.shared):
        _came_to_what_it_should(scenario, world, watchers, each)
    cases = watchers.cases
    cases.update(_met(scenario, _ended(world, run), library))
    cases.update(f"flow, fault: {kind}" for kind, _ in world.faults.struck)
    return Played(world.store.digest(), cases, watchers.commits)


def _retry_what_failed(seed: int, world: World, watchers: FlowWatchers) -> None:
    """Some of them; what one was asked for and could not do is done by the other, unless it fails every time."""
    rng = Random(f"{seed}/retries")
    for run in list(world.store.runs()):
        row = world.store.row(run)
        if row is not None and row.status == "failed" and rng.random() < 0.5:
            before = set(watchers.shared)
            watchers.fork(run, row.entries - 1, again=True)
            world.run()
            ended = [world.store.row(retry) for retry in watchers.shared if retry not in before]
            watchers.cases["retry completed what had failed"] += any(r and r.status == "completed" for r in ended)


def _ended(world: World, run: RunId) -> LiveRun:
    row, sections = world.store.row(run), world.store.sections(run)
    if row is None or sections is None or world.unfinished():
        raise Stuck(f"{run}: {row}")
    return load_run(sections)


def _came_to_what_it_should(scenario: FlowScenario, world: World, watchers: FlowWatchers, run: RunId) -> None:
    live, calls = _ended(world, run), watchers.calls.get(run, {})
    oracle = settled_oracle(scenario, live)
    _agree(scenario, oracle, live, world)
    _asked_as_it_should(oracle, calls)
    twice = watchers.shared.get(run, set()) & set(calls)
    if twice:
        broken(f"run {run} shares what became of {twice}, and asked for it again")


def facts_of(run: RunId, fired: str | None) -> Object:
    """expressions.md#run: those that a fork shares with the run it came from, and an id of some kind."""
    trigger = None if fired is None else {"type": "manual", "id": None, "depth": 0}
    started_at = "2023-11-14T22:13:20Z"  # or later, which nobody sees: it has passed
    return {"id": run, "workflow": "f", "version": 1, "key": None, "trigger": trigger, "started_at": started_at}


def settled_oracle(scenario: FlowScenario, live: LiveRun) -> FlowOracle:
    """The oracle when every node has given what it gives, except those that a fault made fail."""
    unbounded = {**scenario.flow, "on_error": "continue", "limits": {"max_nodes": 1000}}
    now = live.state.head.submitted_at
    assert now is not None
    facts, tasks = facts_of(live.state.head.run, scenario.fired), timed_tasks()
    oracle = FlowOracle(unbounded, scenario.given, scenario.overrides, scenario.fired, now, facts=facts, tasks=tasks)
    lost = {node: error.type for node, error in failures_in(live).items() if error.type in TROUBLES}
    while oracle.status == "running":
        under_way = oracle.executing()
        if not under_way:
            oracle.wake(next(iter(oracle.waiting)))
            continue
        result = None if under_way[0] in lost else result_of(scenario.seed, under_way[0])
        if result is None:
            oracle.fail(under_way[0], lost.get(under_way[0], "boom"))
        else:
            oracle.finish(under_way[0], result)
    return oracle


def _agree(scenario: FlowScenario, oracle: FlowOracle, live: LiveRun, world: World) -> None:
    head, flow = live.state.head, live.state.flow
    skipped = {node: reason for node in oracle.nodes if (reason := oracle.skipped(node)) is not None}
    executed = {node: (outputs, oracle.branch[node]) for node, outputs in oracle.executed.items()}
    ours = {node: (without_messages(done.outputs), done.branch) for node, done in flow.executed.items()}
    lost = [node for node, error in failures_in(live).items() if error.type in TROUBLES]
    if any(node not in oracle.unanswered for node in lost) and not world.faults.struck:
        broken(f"nothing went wrong, and nodes were lost: {flow.errors}")
    if any(executed.get(node) != done for node, done in ours.items()):
        broken(f"executed {ours}, and should have {executed}")
    if not set(flow.errors) <= oracle.errors or not set(flow.skipped) <= set(skipped):
        broken(f"failed {set(flow.errors)} of {oracle.errors}, skipped {set(flow.skipped)} of {skipped}")
    if head.status == "cancelled" and scenario.cancel_ms is not None:
        return
    if oracle.refused is not None:
        if ours or flow.errors or head.error is None or head.error.type != oracle.refused:
            broken(f"the run's timeout is none ({oracle.refused}), and it came to {ours}: {head.error}")
        return
    if head.status == "timed_out" and "timeout_ms" in scenario.flow:
        return
    most = scenario.flow.get("limits", {}).get("max_nodes", 50)
    over_limit = len(oracle.started) > most
    stops = scenario.flow.get("on_error") == "fail" and bool(oracle.errors)
    if over_limit or stops:
        _stopped(head.error.type if head.error else "", live, over_limit=over_limit, stops=stops, most=most)
        return
    if (set(ours), set(flow.errors), set(flow.skipped)) != (set(executed), oracle.errors, set(skipped)):
        broken(f"{set(ours)}, {set(flow.errors)}, {set(flow.skipped)}; should be {oracle.status}: {executed}")
    program = compile_definition(flow_library(scenario.flow), "f").flow
    assert program is not None
    for node, reason in skipped.items():
        view = node_view(program, flow, node)
        blocked = oracle.blocked_by(node)
        if (view.skip_reason, list(view.blocked_by)) != (reason, blocked):
            broken(f"{node} is {view}, and should be {reason} by {blocked}")
    for node in (*executed, *oracle.errors):
        shown = node_view(program, flow, node).inputs
        if without_messages(shown) != oracle.inputs(node):
            broken(f"{node} is shown with {shown}, and should have been given {oracle.inputs(node)}")
    if head.status != oracle.status:
        broken(f"the run is {head.status}, and should be {oracle.status}: {head.error}")
    if head.status == "completed" and without_messages(head.result) != oracle.output():
        broken(f"the output is {head.result}, and should be {oracle.output()}")


def _stopped(error: str, live: LiveRun, *, over_limit: bool, stops: bool, most: int) -> None:
    """It ended in the middle: at the limit with as many nodes as are allowed, or with the first error."""
    head, flow = live.state.head, live.state.flow
    if head.status != "failed":
        broken(f"the run should have failed, and is {head.status}")
    if error == "limit_exceeded":
        if not over_limit or flow.started < most:
            broken(f"{flow.started} nodes began, and {most} may")
    elif not stops or len(flow.errors) != 1:
        broken(f"it stopped because of {error}, with {list(flow.errors)} failed")


def failures_in(live: LiveRun) -> dict[str, TaskFailed]:
    """By node: the failures of a run, those too that their nodes handled."""
    flow = live.state.flow
    handled = {node: done.handled for node, done in flow.executed.items() if done.handled is not None}
    return {**flow.errors, **handled}


def _asked_as_it_should(oracle: FlowOracle, calls: dict[str, ScriptedCall]) -> None:
    for node, call in calls.items():
        if oracle.nodes[node]["type"] in oracle.tasks:
            if without_messages(call.input) != plain_input(oracle.inputs(node)):
                broken(f"task {node} was given {call.input}, and should have been {oracle.inputs(node)}")
            continue
        given = {"inputs": oracle.inputs(node), "context": oracle.context(node)}
        asked: Object = without_messages(call.input) if isinstance(call.input, dict) else {}
        if {key: asked.get(key) for key in given} != given or asked.get("node_id") != node:
            broken(f"node {node} was given {asked}, and should have been {given}")


def _met(scenario: FlowScenario, live: LiveRun, library: Library) -> Counter[str]:
    head, flow = live.state.head, live.state.flow
    met: Counter[str] = Counter({f"flow {head.status}".replace("_", " "): 1})
    program = compile_definition(library, "f").flow
    assert program is not None
    met["flow stopped at its limit"] += head.error is not None and head.error.type == "limit_exceeded"
    timeout_problems = ("not_a_count", "expression_error")
    refused = head.error is not None and head.error.node is None and head.error.type in timeout_problems
    met["flow whose timeout is no count"] += refused
    timed = [node for node in flow.executed if scenario.flow["nodes"][node]["type"].startswith("timed")]
    met["task of a flow with its timeout from data"] += len(timed)
    met["flow stopped by an error"] += program.flow.on_error == "fail" and bool(flow.errors)
    met.update(f"node skipped: {node_view(program, flow, node).skip_reason}" for node in flow.skipped)
    met["node failed by a fault"] += any(error.type in TROUBLES for error in flow.errors.values())
    met["node failed"] += any(error.type not in TROUBLES for error in flow.errors.values())
    handled = {node: done.branch for node, done in flow.executed.items() if done.handled is not None}
    met["failure routed"] += "error" in handled.values()
    met["failure replaced by a default"] += any(branch != "error" for branch in handled.values())
    met["node ran in spite of a failure"] += any(
        connection_status(program, flow, each) == "failed"
        for node in (*flow.executed, *flow.errors)
        for each in program.nodes[node].incoming
    )
    gates = [node for node in scenario.flow["nodes"] if scenario.flow["nodes"][node]["type"] == "gate"]
    failures = {node: failure.type for node, failure in failures_in(live).items() if node in gates}
    met["gate of a flow timed out"] += "timed_out" in failures.values()
    met["gate of a flow timed out with a default"] += any(
        node in flow.executed for node in gates if node not in failures
    )
    met["gate of a flow whose timeout is no count"] += "not_a_count" in failures.values()
    met["node given an override"] += bool(scenario.overrides)
    met["empty flow"] += not scenario.flow["nodes"]
    wires = sum(len(place.incoming) for place in program.nodes.values())
    met["back edge ignored"] += wires < len(program.flow.connections)
    return met
