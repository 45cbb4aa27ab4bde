"""Paths of webhooks, which are unique in a store, because a request goes to one trigger."""

from collections.abc import Collection

from jeton.actor.host import Reads
from jeton.model.definition.trigger import OnWebhook
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused


async def check_paths(reads: Reads, library: Library, origins: Collection[str]) -> None:
    """Raise Refused for a path that another trigger has, before anything of the library is stored.

    Triggers that were declared in `origins` and are not in the library are removed, so their paths are free."""
    wanted = {each.on.path: name for name, each in library.triggers.items() if isinstance(each.on, OnWebhook)}
    if not wanted:
        return
    for row in await reads.triggers():
        on, other = row.trigger.on, row.trigger.name
        if other in library.triggers or row.origin in origins or not isinstance(on, OnWebhook):
            continue
        if on.path in wanted:
            problem = f"'{on.path}', the path of trigger '{wanted[on.path]}', is that of '{other}' too, of {row.origin}"
            raise Refused("duplicate_path", problem, f"give one of them another path, or remove '{other}'")
