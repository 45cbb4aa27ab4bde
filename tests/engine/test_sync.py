"""The engine without await: the same methods, and the same answers."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import jeton
from jeton.engine.engine import Engine
from jeton.engine.run import Run
from jeton.engine.sync import SyncEngine, SyncRun
from jeton.model.json import JsonObject
from tools.generate_sync import (
    ONLY_ASYNC,
    QUERIES_TARGET,
    TALK_TARGET,
    TARGET,
    Method,
    generated,
    generated_queries,
    generated_talk,
    twin,
)

LIBRARY: JsonObject = {
    "workflows": {
        "double": {"initial_node": "a", "nodes": {"a": {"output_mapping": {"output.n": "input.n * 2"}}}},
        "nap": {"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 600}}}},
    }
}


def test_a_script_runs_a_workflow(tmp_path: Path) -> None:
    with jeton.open_sync(tmp_path / "runs.db") as engine:
        assert engine.deploy(LIBRARY).versions == {"double": 1, "nap": 1}
        run = engine.start("double", {"n": 21})
        assert run.result().output == {"n": 42}
        assert engine.get(run.id).status == "completed"
        assert [event["seq"] for event in run.events()] == list(range(6))
        assert engine.context(run.id).output == {"n": 42}


def test_a_script_cancels_and_asks_why(tmp_path: Path) -> None:
    with jeton.open_sync(tmp_path / "runs.db") as engine:
        engine.deploy(LIBRARY)
        run = engine.start("nap")
        engine.idle()
        assert engine.get(run.id).waiting_at_node == "a"
        assert run.cancel("enough").accepted
        assert [token.status for token in engine.tokens(run.id)] == ["cancelled"]
        told = engine.explain(run.id)
        assert isinstance(told, jeton.RunExplained)
        assert told.cancelled[0].request == "enough"


def test_what_is_refused_is_raised_in_the_script(tmp_path: Path) -> None:
    with jeton.open_sync(tmp_path / "runs.db") as engine, pytest.raises(jeton.Refused):
        engine.get("nobody")


def test_leaving_an_iteration_early_holds_nothing_open(tmp_path: Path) -> None:
    with jeton.open_sync(tmp_path / "runs.db") as engine:
        engine.deploy(LIBRARY)
        for event in engine.start("nap").events():
            assert event["seq"] == 0
            break


@pytest.mark.parametrize(
    ("awaited", "blocking"), [pytest.param(Engine, SyncEngine, id="engine"), pytest.param(Run, SyncRun, id="run")]
)
def test_both_forms_have_the_same_methods_with_the_same_parameters(awaited: type, blocking: type) -> None:
    here = {name: parameters for name, parameters in public(awaited).items() if name not in ONLY_ASYNC}
    assert here == public(blocking)


def public(face: type) -> dict[str, list[str] | None]:
    """The parameters of each public method; None for a property."""
    found = {name: inspect.getattr_static(face, name) for name in dir(face) if not name.startswith("_")}
    return {
        name: [str(p) for p in inspect.signature(member).parameters.values()] if callable(member) else None
        for name, member in found.items()
    }


def test_the_blocking_engine_is_generated_from_the_async_one() -> None:
    assert TARGET.read_text() == generated(), "run `make sync`"
    assert QUERIES_TARGET.read_text() == generated_queries(), "run `make sync`"
    assert TALK_TARGET.read_text() == generated_talk(), "run `make sync`"


class Awkward:
    """What cannot have a twin."""

    async def undocumented(self) -> None: ...

    async def any_number(self, *runs: str) -> None:
        """Parameters that cannot be named."""


@pytest.mark.parametrize("name", ["undocumented", "any_number"])
def test_a_method_that_cannot_have_a_twin_stops_the_generator(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        twin(Method(name, vars(Awkward)[name]), "_engine")


INTERRUPTED = """
import gc, os, signal, threading
import jeton
from tests.engine.waits import LIBRARY

kept = None
try:
    with jeton.open_sync("runs.db") as engine:
        engine.deploy(LIBRARY)
        run = engine.start("ask", {"what": "it"})
        kept = iter(engine.events(run.id, follow=True))
        next(kept)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        run.result()
except KeyboardInterrupt:
    print("interrupted")
del kept
gc.collect()
"""


@pytest.mark.long
def test_an_interrupt_leaves_nothing_pending(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    args = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(args, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
