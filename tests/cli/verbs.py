"""Verbs as a user calls them, in this process."""

import json
from pathlib import Path
from typing import Any

import msgspec
from click.testing import CliRunner, Result

from jeton.cli.main import main
from jeton.model.json import JsonObject

MOCK: JsonObject = {"kind": "mock", "implementation": {"output": {"ok": True}}}
LIBRARY: JsonObject = {
    "workflows": {
        "double": {
            "input_schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
            "initial_node": "a",
            "nodes": {"a": {"output_mapping": {"output.n": "input.n * 2"}}},
        },
        "broken": {
            "initial_node": "a",
            "nodes": {"a": {"action": {"kind": "assert", "implementation": {"that": "false"}}}},
        },
        "nap": {"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 600, "label": "a nap"}}}},
        "ship": {
            "initial_node": "gate",
            "nodes": {
                "gate": {
                    "gate": {
                        "title": "Ship it?",
                        "schema": {
                            "type": "object",
                            "required": ["ok"],
                            "properties": {
                                "ok": {"type": "boolean"},
                                "how": {"enum": ["fast", "slow"]},
                                "boxes": {"type": "integer"},
                            },
                        },
                    },
                    "output_mapping": {"output.ok": "result.ok"},
                },
                "pack": {"action": MOCK, "output_mapping": {"output.packed": "result.ok"}},
            },
            "transitions": [
                {"from": "gate", "to": "pack", "condition": "result.ok"},
                {"from": "gate", "to": "pack", "priority": 2},
            ],
        },
        "calls": {
            "initial_node": "a",
            "nodes": {"a": {"workflow": "ship", "output_mapping": {"output.ok": "result.ok"}}},
        },
        "hear": {
            "initial_node": "a",
            "nodes": {
                "a": {
                    "wait": {"signal": "paid", "schema": {"type": "integer"}},
                    "output_mapping": {"output.paid": "result"},
                }
            },
        },
        "slip": {
            "initial_node": "set",
            "nodes": {
                "set": {"output_mapping": {"state.n": "input.n"}},
                "work": {"action": MOCK},
                "check": {
                    "action": {"kind": "assert", "implementation": {"that": "input.n == 7"}},
                    "input_mapping": {"n": "state.n"},
                },
            },
            "transitions": [{"from": "set", "to": "work"}, {"from": "work", "to": "check"}],
            "output_mapping": {"n": "state.n"},
        },
        "panel": {
            "initial_node": "ask",
            "nodes": {"ask": {}, "judge": {"action": MOCK}, "tally": {}},
            "transitions": [
                {"from": "ask", "to": "judge", "foreach": {"collection": "[1, 2, 3]"}},
                {"from": "judge", "to": "tally", "synchronization": {"strategy": {"m_of_n": 2}}},
            ],
        },
    }
}


class Verbs:
    """One folder with a library and a store, and `jeton` called in it."""

    served = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "runs.db"
        self.library = folder / "library.json"
        self.library.write_bytes(msgspec.json.encode(LIBRARY))

    def environment(self) -> dict[str, str]:
        """What verbs find in the environment."""
        return {"JETON_STORE": str(self.store)}

    def where(self) -> list[str]:
        """Options that say where the runs are, if the environment does not."""
        return []

    def __call__(self, *args: str) -> Result:
        """The verb with its arguments, on our store."""
        runner = CliRunner(env=self.environment())
        return runner.invoke(main, [*args, *self.where()], catch_exceptions=False)

    def json(self, *args: str, exits: int = 0) -> Any:
        """What the verb prints for machines: one value, and nothing around it."""
        done = self(*args, "--json")
        assert done.exit_code == exits, done.output
        return json.loads(done.stdout)

    def run(self, name: str, *args: str, exits: int = 0) -> Any:
        """Run a workflow of the library."""
        return self.json("run", str(self.library), name, *args, exits=exits)

    def parked(self, name: str) -> str:
        """The id of a run that waits, in a store without an owner."""
        run = str(self.run(name, "--wait", "0", exits=4)["run_id"])
        self.drive()
        return run

    def drive(self) -> None:
        """Let all runs go on until each has ended or waits."""
        assert self("resume").exit_code in (0, 1)
