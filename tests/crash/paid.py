"""Runs that an account pays for, while the process is being killed.

usage: python -m tests.crash.paid STORE
"""

import asyncio
import sys
from pathlib import Path

import jeton
from jeton.model.json import JsonObject

BALANCE = 8
MOCK: JsonObject = {"kind": "mock", "implementation": {"output": {}}}
LIBRARY: JsonObject = {
    "workflows": {
        "chain": {
            "initial_node": "a",
            "nodes": {"a": {"action": MOCK}, "b": {"action": MOCK}, "c": {}},
            "transitions": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}],
        }
    },
    "project": {"settings": {"credits": {"balance": BALANCE}}},
}


async def spend(store: Path) -> tuple[int, int, int]:
    """Three runs, however often this is begun; what is left, what is granted and what was used then."""
    async with jeton.open(store) as engine:
        await engine.deploy(LIBRARY)
        runs = [await engine.start("chain", {}, key=str(number)) for number in range(3)]
        records = [await run.result(60) for run in runs]
        assert {record.status for record in records} <= {"completed", "exhausted"}
        account = await engine.credits()
        assert account.balance is not None
        return account.balance, account.granted, sum(each.credits for each in await engine.usage())


if __name__ == "__main__":
    asyncio.run(spend(Path(sys.argv[1])))
