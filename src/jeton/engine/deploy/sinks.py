"""Where sinks begin: a new one at what follows its deployment, and one that has moved where it was."""

from jeton.actor.host import Host
from jeton.definitions.bundle import deployable
from jeton.engine.look.position import behind
from jeton.model.definition.sink import Sink, sinks_in
from jeton.model.definition.workflow import Library


async def place_sinks(host: Host, library: Library) -> None:
    """Remember a place in the line for each sink that has none, before anything is started that it must hear of."""
    for sink in sinks_in(library.settings):
        if await host.access.place(sink.reader) is None:
            place = await _place_of_former(host, library, sink)
            await host.access.keep_place(sink.reader, place or str(behind(await host.reads.head())))


async def _place_of_former(host: Host, library: Library, sink: Sink) -> str | None:
    """How far the same sink has come at the address that it had before: what is left goes to the new one."""
    for name in deployable(library):
        found = await host.reads.bundle(name)
        for former in () if found is None else sinks_in(found[0].settings):
            if former.name == sink.name and (place := await host.access.place(former.reader)) is not None:
                return place
    return None
