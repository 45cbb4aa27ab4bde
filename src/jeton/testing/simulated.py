"""An engine on a simulated host: the same calls as on a store, in virtual time and without a file."""

from collections.abc import AsyncGenerator, Mapping

from jeton.engine.engine import Engine
from jeton.engine.misuse import opens
from jeton.hosts.simulated.faults import FaultPlan
from jeton.hosts.simulated.host import SimulatedHost
from jeton.hosts.simulated.observer import Observer
from jeton.hosts.simulated.script import Script, ScriptedAnswer


@opens("open_simulated")
async def open_simulated(
    *,
    script: Script | Mapping[str, ScriptedAnswer] | None = None,
    seed: int = 0,
    plan: FaultPlan | None = None,
    observer: Observer | None = None,
) -> AsyncGenerator[tuple[Engine, SimulatedHost], None]:
    """Open an engine on a new simulated host. Gives both.

    Virtual time passes while a call waits: for a run's end, its events, a reply. `host.sleep(ms)` lets it pass on
    purpose. `script` gives answers by node; the tasks of all other nodes are really run, and their delays and retries
    take virtual time. A `Script` answers every task. `seed` decides what is left to chance, `plan` adds faults."""
    host = SimulatedHost(seed=seed, plan=plan, script=script, observer=observer)
    try:
        yield Engine(host), host
    finally:
        await host.close()
