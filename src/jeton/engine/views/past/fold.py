"""A run folded from its journal, entry by entry, with its counts; and as bytes, so that a fold can be kept."""

from collections.abc import Mapping

import msgspec

from jeton.actor.advance import LiveRun
from jeton.actor.sections import encode_sections, load_run
from jeton.apply.draft import Draft, Touched
from jeton.apply.fold import fold
from jeton.apply.record import count_events
from jeton.engine.views.past.counts import Counting, Tally
from jeton.model.decision import ForkHistory
from jeton.model.entry import Entry
from jeton.model.state.run import Head, RunState
from jeton.planning.program.workflow import Program

_encode = msgspec.msgpack.Encoder().encode
_tally = msgspec.msgpack.Decoder(Tally).decode


class KeptFold(msgspec.Struct, frozen=True):
    """A fold as bytes."""

    sections: Mapping[str, bytes]
    tally: bytes

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return len(self.tally) + sum(map(len, self.sections.values()))


class FoldedRun:
    """A run after some of its entries."""

    def __init__(self, program: Program, live: LiveRun, tally: Tally) -> None:
        self.program = program
        self.live = live
        self.counting = Counting(program, tally)

    @property
    def state(self) -> RunState:
        return self.live.state

    @property
    def tally(self) -> Tally:
        return self.counting.tally

    @property
    def entry(self) -> int:
        """The number of the last entry that was folded; -1: none."""
        return self.state.head.entries - 1

    def take(self, entry: Entry) -> None:
        """Fold the next entry."""
        state = self.state
        draft = Draft(state, self.live.timers)
        for decision in entry.decisions:
            self.counting.take(state, decision, entry.number)
            fold(draft, decision)
            if isinstance(decision, ForkHistory):
                self.counting.look_again(state)
        state.head.entries += 1
        state.head.events += count_events(entry.decisions)

    def keep(self) -> KeptFold:
        """The fold as bytes."""
        touched = Touched()
        touched.everything(self.state)
        sections = encode_sections(self.state, touched)
        return KeptFold({name: body for name, body in sections.items() if body is not None}, _encode(self.tally))


def unfolded(program: Program, head: Head) -> FoldedRun:
    """A run before its first entry. Of the head only the names of the run and its workflow are used."""
    return FoldedRun(program, LiveRun(RunState(Head(head.run, head.workflow, head.version))), Tally())


def from_kept(program: Program, kept: KeptFold) -> FoldedRun:
    """The fold that was kept as these bytes."""
    return FoldedRun(program, load_run(kept.sections), _tally(kept.tally))
