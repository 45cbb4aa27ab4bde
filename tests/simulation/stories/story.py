"""A failing seed, told so that somebody can act on it: with as few faults as still make it fail, and what happened."""

import json
from collections.abc import Iterable

import msgspec

from jeton.actor.journal import decode_entry
from jeton.hosts.simulated.clock import EPOCH_MS
from jeton.hosts.simulated.faults import FaultPlan
from jeton.hosts.simulated.shrink import shrunk
from jeton.hosts.simulated.world import World
from jeton.model.decision import Decision
from jeton.model.message import Message, TaskFinished, TaskLost
from tests.simulation.scenario import Scenario, finish, play, prepared

LONGEST = 200


def problem_of(scenario: Scenario) -> Exception | None:
    """What goes wrong with it, if anything does."""
    try:
        play(scenario)
    except Exception as problem:
        return problem
    return None


def with_fewer_faults(scenario: Scenario) -> Scenario:
    """The same failure with every fault left out that it does not need."""
    kind_of_problem = type(problem_of(scenario))

    def still(plan: FaultPlan) -> bool:
        return type(problem_of(msgspec.structs.replace(scenario, plan=plan))) is kind_of_problem

    return msgspec.structs.replace(scenario, plan=shrunk(scenario.plan, still))


def tell(scenario: Scenario) -> str:
    """Definition, faults, and every commit until it went wrong."""
    world, watchers = prepared(scenario)
    try:
        finish(world, watchers)
        ending = "and it went well"
    except Exception as problem:
        ending = f"{type(problem).__name__}: {problem}"
    nodes = [f"  {name}: {json.dumps(node)}" for name, node in scenario.workflow["nodes"].items()]
    transitions = [f"  {n}: {json.dumps(one)}" for n, one in enumerate(scenario.workflow["transitions"])]
    rest = {key: value for key, value in scenario.workflow.items() if key not in ("nodes", "transitions")}
    return "\n".join(
        [
            f"seed {scenario.seed}",
            *("nodes:", *nodes, "transitions:", *transitions, f"rest: {json.dumps(rest)}"),
            f"tasks: {json.dumps(scenario.tasks)}",
            f"inputs: {json.dumps(scenario.inputs)}, cancelled: {json.dumps(scenario.cancels)}",
            f"fault plan: {scenario.plan}",
            *_commits(world),
            ending,
        ]
    )


def _commits(world: World) -> Iterable[str]:
    for run in world.store.runs():
        for body in world.store.journal(run):
            entry = decode_entry(body)
            yield f"{run} #{entry.number} at {entry.at - EPOCH_MS} ms: " + ", ".join(map(_message, entry.messages))
            yield from (f"    {_decision(decision)}" for decision in entry.decisions)


def _message(message: Message) -> str:
    name = type(message).__name__
    return f"{name} {message.token}/{message.attempt}" if isinstance(message, TaskFinished | TaskLost) else name


def _decision(decision: Decision) -> str:
    told = msgspec.json.encode(decision).decode().replace(str(EPOCH_MS)[:-6], "…")
    return told if len(told) <= LONGEST else told[:LONGEST] + "…"
