"""Two people must agree before anything is shipped. The run waits for them without a worker, and without memory.

    python examples/approval.py

Prints:
    Ship 3 boxes?
    ada said yes, and the run is waiting
    bob said yes, and the run is completed
    {'shipped': 3}
"""

import tempfile
from pathlib import Path

import jeton

ship = jeton.Workflow("ship")
approve = ship.node(
    "approve",
    gate={
        "title": "Ship {{ input.boxes }} boxes?",
        "schema": {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}},
        "approvals": 2,
    },
)
send = ship.node("send", output={"output.shipped": "input.boxes"})
stop = ship.node("stop", output={"output.shipped": "0"})
ship.transition(approve, send, condition="result.all(answer, answer.ok)")
ship.transition(approve, stop, priority=2)


def main() -> None:
    """One process asks here; in life the answers come from `jeton answer RUN`, or from your own page."""
    with tempfile.TemporaryDirectory() as folder, jeton.open_sync(Path(folder, "shop.db")) as engine:
        run = engine.start(ship, {"boxes": 3})
        engine.idle()
        print(engine.gates(run.id)[0].title)
        for who in ("ada", "bob"):
            run.answer({"ok": True}, by=who)
            print(f"{who} said yes, and the run is {run.record().status}")
        print(run.result().output)


if __name__ == "__main__":
    main()
