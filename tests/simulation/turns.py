"""Every turn of a few simulated worlds, as text: `python -m tests.simulation.turns 0 1 2` plays these seeds."""

import sys
from collections.abc import Callable, Iterable
from typing import Concatenate, ParamSpec

from jeton.actor.journal import decode_entry
from jeton.actor.turn import Turn
from jeton.apply.record import events_of
from jeton.hosts.simulated.memory.store import Store
from tests.simulation.credit_trees import play_credit_tree
from tests.simulation.flows import flows_from, play_flow
from tests.simulation.scenario import play, scenario_from
from tests.simulation.tree import play_tree
from tests.simulation.waits import play_waits, waits_from

Rest = ParamSpec("Rest")

WORLDS: tuple[Callable[[int], object], ...] = (
    lambda seed: play(scenario_from(seed)),
    lambda seed: play_waits(waits_from(seed)),
    lambda seed: play_flow(flows_from(seed)),
    play_credit_tree,
    play_tree,
)


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
