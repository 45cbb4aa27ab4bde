"""Facts about forks."""

from typing import TypeAlias

from jeton.model.event.base import FactBase
from jeton.model.ids import RunId
from jeton.model.json import JsonObject


class RunForked(FactBase, frozen=True, tag="run.forked"):
    """The run was made from the history of another run."""

    from_run: RunId
    entry: int
    writes: JsonObject = {}


ForkFact: TypeAlias = RunForked
