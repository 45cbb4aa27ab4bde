"""Which run is being advanced, noted for the process that comes after a sudden end."""

from typing import Protocol

from jeton.actor.whole.set_aside import Ends
from jeton.model.ids import RunId


class Advancing(Protocol):
    """The note of the run that is being advanced, and the ends that were counted."""

    ends: Ends

    def begin(self, run: RunId, places: str) -> None:
        """Note a run that is about to be advanced, and with what."""
        ...

    def finish(self) -> None:
        """Take the note back: the run was advanced."""
        ...

    def passed(self, run: RunId, places: str) -> None:
        """Forget ends at places that the run has got past."""
        ...

    def forget(self, run: RunId) -> None:
        """Forget all ends of a run, which has ended or is to be tried again."""
        ...

    def close(self) -> None:
        """Close the note."""
        ...
