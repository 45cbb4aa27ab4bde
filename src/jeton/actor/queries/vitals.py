"""How a host fares, for whoever watches it. None of it is read from the rows of runs, but for the first count."""

import msgspec


class Vitals(msgspec.Struct, frozen=True):
    """A host at this moment, and what it has done since it was opened.

    `failed`: why nothing can be written any more. `inbox`: messages that wait to be taken up."""

    commits: int = 0
    commit_s: float = 0.0
    commit_entries: int = 0
    actors: int = 0
    tasks: int = 0
    inbox: int = 0
    bytes: int = 0
    failed: str | None = None


class Census(msgspec.Struct, frozen=True):
    """The runs of a store by workflow and status, and its open gates, as they were at a position of the line.

    `under_way`: of each run that has not ended, its workflow, its status, and when it was submitted."""

    position: int
    runs: dict[tuple[str, str], int]
    under_way: dict[str, tuple[str, str, int]]
    gates: int
