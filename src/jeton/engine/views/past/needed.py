"""How many branches a fan-out needs before its fan-in opens."""

from jeton.model.definition.workflow import MOfN, Strategy
from jeton.model.ids import GroupId
from jeton.model.state.run import RunState
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.joins import joins_of


def needed_of(strategy: Strategy, possible: int) -> int | None:
    """How many arrivals open a fan-in; with `all`, every branch that can still arrive. None: data will say."""
    match strategy:
        case "all":
            return possible
        case "any":
            return 1
        case MOfN(needed):
            return needed if isinstance(needed, int) else None


def needed_in(program: Program, state: RunState, group: GroupId) -> int | None:
    """How many branches a fan-out needs: at the fan-in that some reached, else at the nearest one.

    None: it leads to no fan-in, or the number comes from data and nobody has arrived yet."""
    progress = state.progress[group]
    for node, fan_in in progress.fan_ins.items():
        if node in progress.needed:
            return progress.needed[node]
        sync = program.transitions[fan_in.transition].synchronization
        return needed_of("all" if sync is None else sync.strategy, fan_in.arrived + progress.live)
    joins = joins_of(program, state, state.groups[group])
    return needed_of(joins[0].synchronization.strategy, progress.live) if joins else None
