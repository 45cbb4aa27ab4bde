"""Journals to read: runs of small workflows on the simulated host, whose clock and workers are ours."""

from collections.abc import Callable, Mapping
from typing import cast

from jeton.actor.journal import decode_entry
from jeton.definitions import library_from
from jeton.engine.views.explain.explain import RunHistory
from jeton.hosts.simulated.script import Answer, Script, ScriptedAnswer
from jeton.hosts.simulated.world import World
from jeton.model.failure import TaskFailed
from jeton.model.json import Json
from jeton.model.state.run import Head
from jeton.planning.program.workflow import compile_program

FAILS = Answer(failure=TaskFailed("broken", "it broke"), takes_ms=1)
WORK: dict[str, Json] = {"action": {"kind": "mock", "implementation": {"output": {}}}}
PANEL: dict[str, Json] = {
    "initial_node": "ask",
    "nodes": {"ask": {}, "judge": WORK, "tally": {}},
    "transitions": [
        {"from": "ask", "to": "judge", "foreach": {"collection": "input.judges", "item_var": "judge"}},
        {
            "from": "judge",
            "to": "tally",
            "synchronization": {
                "strategy": {"m_of_n": 2},
                "merge": {"target": "state.votes"},
                "on_branch_failure": "continue",
            },
        },
    ],
}


def told(
    workflow: Mapping[str, object],
    input: object = None,
    answers: Mapping[str, ScriptedAnswer] | None = None,
    *,
    meanwhile: Callable[[World], None] | None = None,
) -> RunHistory:
    """Everything a run of the workflow `w` decided, to its end."""
    library = library_from({"workflows": {"w": workflow}}).require()
    world = World(library, script=Script(answers))
    run = world.start("w", cast("Json", input or {}), run="r")
    if meanwhile is not None:
        meanwhile(world)
    world.run()
    entries = [decode_entry(body) for body in world.store.journal(run)]
    return RunHistory(compile_program(library.workflows["w"], library), Head(run, "w"), entries)


def up_to(whole: RunHistory, entries: int) -> RunHistory:
    """The same run when it had made so many commits."""
    return RunHistory(whole.program, whole.head, whole.entries[:entries])


def branches_take(*ms: int) -> ScriptedAnswer:
    """An answer that takes its time by branch: the first number is branch 0's."""
    return lambda call: Answer({}, takes_ms=ms[int(call.path.rpartition(".")[2])])
