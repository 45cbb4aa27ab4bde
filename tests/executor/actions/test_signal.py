"""`signal`: a value for a run that waits, under the key of the call."""

import msgspec
import pytest

from jeton.executor import check_implementation
from jeton.executor.signals import SentSignal
from jeton.model.codes import RefusalCode
from jeton.model.definition.task import Action
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from tests.executor.actions.given_action import Bench, action, failed

NAMED = action("signal", name="paid")
RUN = RunId("r9")


class Runs:
    """Runs that take every signal, or refuse every one."""

    def __init__(self, refusal: Refused | None = None) -> None:
        self.heard: list[SentSignal] = []
        self._refusal = refusal

    async def send(self, sent: SentSignal) -> None:
        if self._refusal is not None:
            raise self._refusal
        self.heard.append(sent)


def listening(bench: Bench, runs: Runs) -> Bench:
    bench.resources = msgspec.structs.replace(bench.resources, signals=runs)
    return bench


@pytest.mark.parametrize(
    ("given", "input", "sent"),
    [
        pytest.param(NAMED, {"run": "r9", "value": {"n": 1}}, ("paid", {"n": 1}), id="with a fixed name"),
        pytest.param(action("signal"), {"run": "r9", "name": "paid"}, ("paid", None), id="or one from the input"),
        pytest.param(NAMED, {"run": "r9", "name": "other"}, ("paid", None), id="input cannot change a fixed name"),
    ],
)
async def test_a_signal_is_sent_with_the_key_of_the_call(
    bench: Bench, given: Action, input: JsonObject, sent: tuple[str, object]
) -> None:
    runs = Runs()
    for _ in range(2):  # a call that is repeated has the same key
        assert await listening(bench, runs).call(given, input) == {"run": "r9", "signal": "paid"}
    assert [(each.run, each.name, each.value) for each in runs.heard] == [(RUN, *sent)] * 2
    assert {each.key for each in runs.heard} == {"r1:7:1:s0"}


@pytest.mark.parametrize("code", ["unknown_run", "run_ended", "unknown_signal", "signal_refused"])
async def test_a_refusal_is_a_failure_of_the_same_type(bench: Bench, code: RefusalCode) -> None:
    answer = failed(await listening(bench, Runs(Refused(code, "no", "write 'paid'"))).call(NAMED, {"run": "r9"}))
    assert (answer.type, answer.message, answer.transient) == (code, "no (write 'paid')", False)


@pytest.mark.parametrize(
    ("given", "input", "what"),
    [
        pytest.param(NAMED, {}, "input.run", id="no run"),
        pytest.param(NAMED, {"run": 9}, "input.run", id="a run that is no text"),
        pytest.param(action("signal"), {"run": "r9"}, "input.name", id="no name anywhere"),
    ],
)
async def test_what_a_signal_needs(bench: Bench, given: Action, input: JsonObject, what: str) -> None:
    answer = failed(await listening(bench, Runs()).call(given, input))
    assert answer.type == "input_invalid"
    assert answer.message.startswith(what)


async def test_a_signal_is_bounded(bench: Bench) -> None:
    answer = failed(await listening(bench, Runs()).call(NAMED, {"run": "r9", "value": "y" * 300_000}))
    assert (answer.type, "more than 262144" in answer.message) == ("too_large", True)


async def test_without_a_host_there_is_no_run_to_signal(bench: Bench) -> None:
    assert failed(await bench.call(NAMED, {"run": "r9"})).type == "unknown_run"


@pytest.mark.parametrize(("name", "sound"), [("paid", True), ("a b", False), ("", False)])
def test_names_of_signals(name: str, sound: bool) -> None:
    assert [flaw.path for flaw in check_implementation(Action("signal", {"name": name}))] == ([] if sound else ["name"])
