"""The saga, in Python and in YAML: killed at every step it goes on, and what it did is taken back when shipping fails.

The processes and `kill -9` are real; the shop runs here, so that it can hold a call while the caller is killed.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import jeton
from examples.saga import shop as service
from jeton.testing import plan_from_seed, simulate

FOLDER = Path(__file__).parents[2] / "examples" / "saga"
PATIENCE_S = 60
FORMS = ["saga.py", "saga.yaml"]


class HeldShop(service.Shop):
    """A shop that can hold a call: before it does what was asked, or afterwards, before it answers."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, str]] = []  # each with its key
        self.done: list[tuple[str, str]] = []
        self.hold: tuple[str, str] | None = None
        self.held = threading.Event()
        self.go_on = threading.Event()

    def call(self, what: str, key: str, order: str, amount: int) -> tuple[int, object]:
        self.calls.append((what, key))
        self.wait_at("before", what)
        if key not in self.answers:
            self.done.append((what, key))
        answer = super().call(what, key, order, amount)
        self.wait_at("after", what)
        return answer

    def wait_at(self, moment: str, what: str) -> None:
        if self.hold == (moment, what):
            self.hold = None
            self.held.set()
            self.go_on.wait(PATIENCE_S)
            if moment == "before":
                raise ConnectionError("the caller is gone, and the call with it")


class Saga:
    """One order, as `jeton run` of one of the two forms in a process of its own."""

    def __init__(self, form: str, folder: Path, order: str, amount: int) -> None:
        self.shop = HeldShop()
        self.server = service.serve(self.shop)
        self.server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]  # callers are killed
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{self.server.server_port}"
        self.store, self.file = folder / "runs.db", folder / form
        self.file.write_text((FOLDER / form).read_text().replace("http://127.0.0.1:8800", url))
        given = json.dumps({"order": order, "amount": amount})
        verb = ["run", str(self.file), "--store", str(self.store), "--key", order, "--input", given, "--json"]
        self.command = [sys.executable, "-m", "jeton.cli.main", *verb]

    def start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.file.parent)}
        return subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    def killed(self, moment: str, what: str) -> None:
        """Run it until the shop has this call, and kill it there."""
        self.shop.hold = (moment, what)
        self.shop.held.clear()
        self.shop.go_on.clear()
        with self.start() as process:
            held = self.shop.held.wait(PATIENCE_S)
            process.kill()
            told = process.communicate()
        self.shop.go_on.set()
        assert held, told

    def killed_at_the_gate(self) -> str:
        """Run it until a person is asked, and kill it there. Returns the run's id."""
        deadline = time.monotonic() + PATIENCE_S
        with self.start() as process:
            try:
                while time.monotonic() < deadline:
                    with suppress(jeton.Refused), jeton.open_sync(self.store, owner=False) as engine:
                        gates = engine.gates()
                        if gates:
                            return gates[0].run_id
                    time.sleep(0.05)
            finally:
                process.kill()
                process.communicate()
        raise AssertionError("nobody was asked")

    def finished(self) -> dict[str, Any]:
        """Run it to its end."""
        with self.start() as process:
            out, problems = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, out + problems
        record: dict[str, Any] = json.loads(out)
        return record

    def once(self, *steps: str) -> bool:
        """Whether each of these steps, and nothing else, was done once, in this order, and under one key."""
        keys: dict[str, set[str]] = {}
        for what, key in self.shop.calls:
            keys.setdefault(what, set()).add(key)
        return [what for what, _ in self.shop.done] == list(steps) and all(len(found) == 1 for found in keys.values())


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


KILLED = pytest.mark.parametrize(
    "form", [FORMS[0], *(pytest.param(form, marks=pytest.mark.long) for form in FORMS[1:])]
)


@pytest.fixture
def sagas(form: str, tmp_path: Path) -> Iterator[list[Saga]]:
    made: list[Saga] = []
    yield made
    for saga in made:
        saga.shop.go_on.set()
        saga.server.shutdown()
        saga.server.server_close()


@KILLED
def test_killed_at_every_step_it_ships_once(form: str, sagas: list[Saga], tmp_path: Path) -> None:
    saga = Saga(form, tmp_path, "A-1", amount=80)
    sagas.append(saga)
    for moment, what in [("before", "charge"), ("after", "charge"), ("after", "ship")]:
        saga.killed(moment, what)
    assert saga.finished()["output"] == {"status": "shipped"}
    assert saga.once("reserve", "charge", "ship")
    assert Counter(what for what, _ in saga.shop.calls)["charge"] == 3, "it was cut off twice"
    assert (saga.shop.stock, saga.shop.money, saga.shop.shipped) == (9, 80, ["A-1"])


@KILLED
def test_killed_while_it_is_taken_back_money_and_stock_are_as_before(
    form: str, sagas: list[Saga], tmp_path: Path
) -> None:
    saga = Saga(form, tmp_path, "X-2", amount=80)
    sagas.append(saga)
    for moment, what in [("after", "ship"), ("after", "refund")]:
        saga.killed(moment, what)
    assert (saga.shop.stock, saga.shop.money) == (9, 0)
    saga.killed("after", "release")
    assert saga.finished()["output"] == {"status": "cancelled"}
    assert saga.once("reserve", "charge", "ship", "refund", "release")
    assert (saga.shop.stock, saga.shop.money, saga.shop.shipped) == (10, 0, [])


@KILLED
def test_above_the_threshold_a_person_is_asked(form: str, sagas: list[Saga], tmp_path: Path) -> None:
    saga = Saga(form, tmp_path, "A-3", amount=500)
    sagas.append(saga)
    run = saga.killed_at_the_gate()
    assert saga.once("reserve")
    told = [
        "answer",
        run,
        "--store",
        str(saga.store),
        "--value",
        '{"ok": true}',
        "--app",
        str(saga.file.with_suffix(".py")),
    ]
    if form == "saga.yaml":
        del told[-2:]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "jeton.cli.main", *told], check=True, capture_output=True, env=environment)
    assert saga.finished()["output"] == {"status": "shipped"}
    assert saga.once("reserve", "charge", "ship")
    assert (saga.shop.stock, saga.shop.money) == (9, 500)


# the same graphs in virtual time, without a shop

CALLS = dict.fromkeys(["reserve", "charge", "ship", "refund", "release"])  # results, all of them empty


@pytest.mark.parametrize(
    ("failing", "called"),
    [
        pytest.param({}, ["reserve", "charge", "ship"], id="all is well"),
        pytest.param({"reserve": "none left"}, ["reserve", "release"], id="nothing in stock"),
        pytest.param({"charge": "no money"}, ["reserve", "charge", "refund", "release"], id="the card is refused"),
        pytest.param({"ship": "no way"}, ["reserve", "charge", "ship", "refund", "release"], id="it cannot be shipped"),
        pytest.param({"charge": 2}, ["reserve", "charge", "charge", "charge", "ship"], id="the bank is slow"),
    ],
)
def test_what_was_done_is_taken_back_in_reverse_order(form: str, failing: dict[str, Any], called: list[str]) -> None:
    run = simulate(FOLDER / form, {"order": "A-1", "amount": 80}, results=CALLS, fail=failing)
    assert run.called == called
    assert run.output == {"status": "shipped" if called[-1] == "ship" else "cancelled"}


def test_a_person_who_says_no(form: str) -> None:
    run = simulate(FOLDER / form, {"order": "A-1", "amount": 101}, results=CALLS, answers={"approve": {"ok": False}})
    assert (run.output, run.called) == ({"status": "cancelled"}, ["reserve", "release"])


def test_faults_change_nothing(form: str) -> None:
    for seed in range(30):
        plan = plan_from_seed(seed)
        run = simulate(
            FOLDER / form, {"order": "A-1", "amount": 80}, results=CALLS, fail={"ship": "no"}, seed=seed, plan=plan
        )
        assert run.completed() == {"status": "cancelled"}


def test_the_script_prints_what_it_says(tmp_path: Path) -> None:
    text = (FOLDER / "saga.py").read_text()
    prints = [line.strip() for line in text.partition("Prints:\n")[2].partition('"""')[0].strip().splitlines()]
    done = subprocess.run(
        [sys.executable, FOLDER / "saga.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout.splitlines(), done.stderr) == (prints, "")
