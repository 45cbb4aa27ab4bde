"""Runs that end the process while they are advanced.

No exception tells of it: native code aborts, memory runs out. So a host notes which run it advances, and with which
messages; the next process counts the note that was left behind. A run is set aside after three such ends, and the
others go on. An end is forgotten once the run has handled the same messages, because a process may be killed at any
moment for other reasons: an innocent run would have to be killed three times before it gets past one place.
"""

from collections.abc import Collection, Sequence
from typing import TypeAlias, get_args

from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import Message, TaskNoted, TaskStarted

MOST_ENDS = 3
MOST_PLACES = 32
LOADING = "\nloading"

Ends: TypeAlias = dict[RunId, tuple[tuple[str, ...], ...]]
"""By run, for each end of the process: the messages it was handling, without those that it has handled since."""

_NAMES: dict[type, tuple[str, bool]] = {
    kind: (f"\n{kind.__name__} ", "token" in kind.__struct_fields__)
    for kind in get_args(Message)
    if kind not in (TaskStarted, TaskNoted)
}


def places_of(batch: Sequence[Message]) -> str:
    """The names of a batch's messages, each on a new line. The same work, done again after a crash, has the same names.

    Notices are left out, because they need not come again. It is one text, because it is made for every batch."""
    places = ""
    for message in batch if len(batch) <= MOST_PLACES else batch[:MOST_PLACES]:
        known = _NAMES.get(type(message))
        if known is not None:
            places += f"{known[0]}{message.token}" if known[1] else known[0]  # type: ignore[union-attr]  # it has one
    return places


def with_end(ends: Ends, run: RunId, places: tuple[str, ...]) -> Ends:
    """The ends with one more."""
    return {**ends, run: (*ends.get(run, ()), places)}


def without_places(ends: Ends, run: RunId, places: Collection[str]) -> Ends:
    """The ends without places that the run has got past."""
    left = [tuple(place for place in end if place not in places) for end in ends.get(run, ())]
    return {**without_run(ends, run), **({run: tuple(kept)} if (kept := [end for end in left if end]) else {})}


def without_run(ends: Ends, run: RunId) -> Ends:
    """The ends without those of a run, which has ended or is to be tried again."""
    return {each: found for each, found in ends.items() if each != run}


def set_aside_in(ends: Ends) -> dict[RunId, Refused]:
    """The runs that are set aside, each with its refusal."""
    return {run: _refusal(run, len(found)) for run, found in ends.items() if len(found) >= MOST_ENDS}


def _refusal(run: RunId, count: int) -> Refused:
    problem = f"run {run} is set aside, because the process ended {count} times while it was advanced"
    return Refused("run_set_aside", problem, f"`jeton unpause {run}` tries it again, `jeton cancel {run}` ends it")
