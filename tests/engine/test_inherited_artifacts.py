"""A called run holds its caller's artifacts if the node says so, and not otherwise."""

from pathlib import Path

import pytest

import jeton
from jeton.model.json import JsonObject


def library(inherit: bool) -> JsonObject:
    def artifact(**implementation: str) -> JsonObject:
        return {"kind": "artifact", "implementation": {**implementation}}

    return {
        "workflows": {
            "caller": {
                "initial_node": "keep",
                "nodes": {
                    "keep": {"action": artifact(operation="write"), "input_mapping": {"text": "'kept'"}},
                    "call": {
                        "workflow": "called",
                        "inherit_artifacts": inherit,
                        "output_mapping": {"output.held": "result.held"},
                    },
                },
                "transitions": [{"from": "keep", "to": "call"}],
            },
            "called": {
                "initial_node": "look",
                "nodes": {
                    "look": {
                        "action": artifact(operation="list"),
                        "output_mapping": {"output.held": "size(result.artifacts)"},
                    }
                },
            },
        }
    }


@pytest.mark.parametrize(("inherit", "held"), [(True, 1), (False, 0)])
async def test_who_holds_what(tmp_path: Path, inherit: bool, held: int) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library(inherit))
        run = await engine.start("caller")
        assert (await run.result(30)).output_or_raise() == {"held": held}
