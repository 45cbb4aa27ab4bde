"""Runs that an account pays for, or the run at the top, while the process is being killed.

usage: python -m tests.crash.paid spend|spend_own STORE
"""

import asyncio
import sys
from pathlib import Path

import jeton
from jeton.model.json import JsonObject

BALANCE = 8
OWN = 6  # of the eight that two calls would cost
MOCK: JsonObject = {"kind": "mock", "implementation": {"output": {}}}
LIBRARY: JsonObject = {
    "workflows": {
        "chain": {
            "initial_node": "a",
            "nodes": {"a": {"action": MOCK}, "b": {"action": MOCK}, "c": {}},
            "transitions": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}],
        },
        "calls": {
            "initial_node": "first",
            "nodes": {"first": {"workflow": "chain"}, "second": {"workflow": "chain"}},
            "transitions": [{"from": "first", "to": "second"}],
        },
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


async def spend_own(store: Path) -> list[int]:
    """Three trees with credits of their own, however often this is begun; what each used, with what it called."""
    async with jeton.open(store) as engine:
        await engine.deploy(LIBRARY)
        runs = [await engine.start("calls", {}, key=str(number), credits=OWN) for number in range(3)]
        records = [await run.result(60) for run in runs]
        assert {record.status for record in records} == {"exhausted"}
        trees = [await engine.usage(run.id, tree=True) for run in runs]
        return [sum(each.credits for each in tree) for tree in trees]


if __name__ == "__main__":
    asyncio.run({"spend": spend, "spend_own": spend_own}[sys.argv[1]](Path(sys.argv[2])))
