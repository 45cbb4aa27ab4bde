"""A world with every invariant looking on, closely, at every commit: for small runs."""

from jeton.actor.journal import decode_entry
from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.world import World
from jeton.model.effect import Effect
from jeton.model.ids import RunId
from tests.simulation.invariants.check import RunInvariants
from tests.simulation.invariants.folding import batch_repeats, journal_folds, sections_reload
from tests.simulation.invariants.seen import Seen


class Watched:
    """The one run of a world, and every batch and effect of it."""

    looks_back: bool = True

    def __init__(self) -> None:
        self.invariants = RunInvariants()
        self.steps: list[Step] = []
        self.released_effects: list[Effect] = []
        self.world: World | None = None

    def committed(self, step: Step) -> None:
        self.steps.append(step)
        batch_repeats(step)
        if step.turn.entry is not None:
            entry = decode_entry(step.turn.entry.body)
            self.invariants.committed(Seen(step.program, step.turn, entry, step.live, step.turn.effects))
            assert self.world is not None
            sections = self.world.store.sections(step.run) or {}
            sections_reload(step.live, sections)
            journal_folds(step.live, map(decode_entry, self.world.store.journal(step.run)), sections)

    def released(self, run: RunId, effect: Effect) -> None:
        self.invariants.released(effect)
        self.released_effects.append(effect)
