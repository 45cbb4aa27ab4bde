"""Every turn of a few simulated worlds, as text: `python -m tests.simulation.stories.turns 0 1 2` plays these seeds."""

import sys
from collections.abc import Callable, Iterable
from typing import Concatenate, ParamSpec

from jeton.actor.journal import decode_entry
from jeton.actor.turn import Turn
from jeton.apply.record import events_of
from jeton.definitions import library_from
from jeton.hosts.simulated.memory.store import Store
from jeton.hosts.simulated.script import Answer, Script
from jeton.hosts.simulated.world import World
from jeton.model.ids import TokenId
from jeton.model.json import JsonObject
from jeton.model.message import AnswerGate
from tests.simulation.scenario import play, scenario_from
from tests.simulation.stories.credit_trees import play_credit_tree
from tests.simulation.stories.flows import flows_from, play_flow
from tests.simulation.stories.talk import play_talk, talk_from
from tests.simulation.stories.tree import play_tree
from tests.simulation.stories.waits import play_waits, waits_from

Rest = ParamSpec("Rest")

WORLDS: tuple[Callable[[int], object], ...] = (
    lambda seed: play(scenario_from(seed)),
    lambda seed: play_waits(waits_from(seed)),
    lambda seed: play_flow(flows_from(seed)),
    play_credit_tree,
    play_tree,
    lambda seed: play_talk(talk_from(seed)),
    lambda seed: play_typed(seed),
)


def play_typed(seed: int) -> None:
    """A run whose state and branches have tables, with a gate in each branch, credits and many snapshots."""
    list_of: JsonObject = {"type": "array"}
    nodes: JsonObject = {
        "s": {"output_mapping": {"state.b": "1", "state.a": "2", "state.c": "input.items"}},
        "w": {"action": {"kind": "mock"}, "output_mapping": {"state.v": "result.v"}},
        "g": {"gate": {"title": "Sure?", "timeout_ms": 40}, "output_mapping": {"state.said": "result"}},
        "end": {"output_mapping": {"output.out": "state.out"}},
    }
    workflow: JsonObject = {
        "initial_node": "s",
        "state_schema": {"type": "object", "properties": {"out": list_of, "c": list_of, "a": {}, "b": {}}},
        "nodes": nodes,
        "transitions": [
            {"from": "s", "to": "w", "foreach": {"collection": "input.items", "item_var": "i"}, "sibling_group": "g"},
            {"from": "w", "to": "g"},
            {
                "from": "g",
                "to": "end",
                "synchronization": {"strategy": "all", "merge": {"source": "_branch.output", "target": "state.out"}},
            },
        ],
    }
    settings: JsonObject = {"credits": {"balance": 90}, "snapshot_policy": {"every_n_entries": 2}}
    library = library_from({"workflows": {"w": workflow}, "project": {"settings": settings}}).require()
    world = World(library, seed=seed, script=Script({"w": lambda call: Answer({"v": call.path})}, seed=seed))
    run = world.start("w", {"items": list(range(9))})
    for branch in range(9):
        world.answer(run, AnswerGate(0, f"a{branch}", branch, token=TokenId(branch + 10)), after_ms=30)
    world.run()


def show(turn: Turn) -> None:
    """Print everything a host commits for a turn, in the order it is given."""
    print("turn", turn.head.run, turn.hash.hex(), turn.wake, turn.again, turn.ended)
    if turn.entry is not None:
        print("entry", turn.entry.body.decode())
        for event in events_of(turn.head.run, decode_entry(turn.entry.body)):
            print("event", event)
    for name, body in turn.sections.items():
        print("section", name, body)
    for effect in turn.effects:
        print("effect", effect)
    print("queries", turn.queries)


def shown(commit: Callable[Concatenate[Store, Turn, Rest], None]) -> Callable[..., None]:
    def show_and_commit(store: Store, turn: Turn, /, *rest: Rest.args, **named: Rest.kwargs) -> None:
        show(turn)
        commit(store, turn, *rest, **named)

    return show_and_commit


def main(seeds: Iterable[str]) -> None:
    Store.commit = shown(Store.commit)  # type: ignore[method-assign] # whoever makes the store, its turns are shown
    for seed in map(int, seeds):
        for world in WORLDS:
            world(seed)


if __name__ == "__main__":
    main(sys.argv[1:])
