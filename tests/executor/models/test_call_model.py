"""What all model calls share: retries, fallbacks, timeouts, usage, deltas, structured output."""

import pytest

from jeton.model.chat import Delta, TokenUsage
from jeton.model.definition.profile import ModelProfile, Prices
from jeton.model.definition.task import Action, RetryPolicy
from jeton.model.failure import TaskFailed
from jeton.model.json import JsonObject, Schema
from jeton.model.note import CostNote, TokensNote
from tests.executor.models.given_model import Bench, answered, asking, model_action, refused, run_now, scripted

DOWN: JsonObject = {"error": "down", "transient": True}
BROKEN: JsonObject = {"error": "broken"}
COST: JsonObject = {"usage": {"input_tokens": 10, "output_tokens": 2}}
POINT: Schema = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
    "required": ["x", "y"],
}


# retries


def test_a_transient_error_is_retried_and_seen() -> None:
    bench = Bench(fake=scripted(DOWN, DOWN, {"text": "up"}, retry_policy=RetryPolicy(4, "none", 100)))
    answer = answered(bench.call(asking()))
    assert (answer.text, answer.used, answer.requests) == ("up", (0, 1, 2), 3)
    assert [(note.call, note.type, note.message) for note in bench.retries] == [
        (2, "model_error", "down"),
        (3, "model_error", "down"),
    ]
    assert 200 <= bench.clock.now() <= 220
    assert bench.retries[-1].due == bench.clock.now()


def test_the_default_is_four_attempts() -> None:
    bench = Bench(fake=ModelProfile("scripted", script=(DOWN,) * 6))
    failed = refused(bench.call(asking()))
    assert (failed.type, failed.transient, failed.used, failed.requests) == ("model_error", True, (0, 1, 2, 3), 4)
    assert bench.clock.now() >= 500 + 1000 + 2000


def test_an_error_that_is_not_transient_is_not_retried() -> None:
    bench = Bench(fake=scripted(BROKEN, {"text": "up"}))
    failed = refused(bench.call(asking()))
    assert (failed.message, failed.transient, failed.used, bench.retries) == ("broken", False, (0,), [])


def test_a_call_that_takes_too_long_is_made_again() -> None:
    bench = Bench(fake=scripted({"text": "slow", "delay_ms": 700}, timeout_ms=500, retry_policy=RetryPolicy(2)))
    failed = refused(bench.call(asking()))
    assert (failed.type, failed.transient, failed.requests) == ("model_timed_out", True, 2)
    assert bench.clock.now() == 1000


# fallbacks


@pytest.mark.parametrize(
    ("first", "used"),
    [
        pytest.param([DOWN, DOWN], (0, 1, 2), id="when the retries are spent"),
        pytest.param([BROKEN, DOWN], (0, 2), id="after an error that is not transient"),
        pytest.param([], (0,), id="when a script is exhausted"),
    ],
)
def test_a_fallback_answers(first: list[JsonObject], used: tuple[int, ...]) -> None:
    fake = scripted(*first, retry_policy=RetryPolicy(2), fallbacks=("other",))
    bench = Bench(fake=fake, other=scripted({"text": "here"}, model="m2"))
    answer = answered(bench.call(asking()))
    assert (answer.text, answer.profile, answer.model, answer.used) == ("here", "other", "m2", used)


def test_entries_of_fallbacks_are_counted_after_those_of_the_profile() -> None:
    fake = scripted(BROKEN, BROKEN, fallbacks=("other",))
    bench = Bench(fake=fake, other=scripted({"text": "one"}, {"text": "two"}))
    first = answered(bench.call(asking()))
    second = answered(bench.call(asking(used=first.used)))
    assert ((first.text, first.used), (second.text, second.used)) == (("one", (0, 2)), ("two", (1, 3)))


def test_without_an_answer_all_failures_are_told() -> None:
    bench = Bench(fake=scripted(DOWN, retry_policy=RetryPolicy(1), fallbacks=("none", "other")), other=scripted(BROKEN))
    failed = refused(bench.call(asking()))
    assert (failed.type, failed.profile, failed.transient, failed.requests) == ("model_error", "other", True, 2)
    assert failed.message.startswith("fake: down; none: there is no model profile 'none'")


def test_a_context_that_is_too_long_is_no_reason_for_another_model() -> None:
    too_long: JsonObject = {"error": "too long", "type": "context_too_long"}
    bench = Bench(fake=scripted(too_long, fallbacks=("other",)), other=scripted({"text": "here"}))
    assert refused(bench.call(asking())).type == "context_too_long"


# what is reported


def test_tokens_are_reported_once_per_answer_and_summed() -> None:
    bench = Bench(
        fake=scripted({**DOWN, **COST}, DOWN, retry_policy=RetryPolicy(2), fallbacks=("other",)),
        other=scripted({"text": "x", **COST}, prices=Prices(100_000, 1_000_000)),
    )
    answer = answered(bench.call(asking()))
    assert answer.usage == TokenUsage(20, 4)
    assert bench.tokens == [TokensNote("s0", "fake", 10, 2), TokensNote("s0", "other", 10, 2, 3_000_000)]
    assert [note for note in bench.notes if isinstance(note, CostNote)] == [CostNote("s0", 3)]


# deltas


def test_a_retry_begins_the_text_again() -> None:
    slow: JsonObject = {"text": "x" * 24, "delay_ms": 300}
    bench = Bench(fake=scripted(slow, {"text": "y" * 12}, timeout_ms=150))
    # a call that times out has not used its entry up, so the same entry is cut four times
    refused(bench.call(asking(turn=1)))
    restarts = [delta for delta in bench.deltas if delta.at == 0]
    assert [delta.text for delta in restarts] == ["x" * 8, "", "x" * 8, "", "x" * 8, "", "x" * 8]


def test_a_delivery_and_a_place_are_on_every_piece() -> None:
    bench = Bench(fake=scripted({"text": "abcdefghijkl"}))
    bench.call(asking(turn=4, move=1), delivery=3)
    assert bench.deltas == [Delta("r1", 4, 1, 3, 0, "abcdefgh"), Delta("r1", 4, 1, 3, 8, "ijkl")]


def test_nothing_is_streamed_outside_a_turn() -> None:
    bench = Bench(fake=scripted({"text": "abcdefghijkl"}))
    bench.call(asking())
    assert bench.deltas == []


def test_nobody_is_given_the_text_of_an_answer_that_is_whole_or_given_up() -> None:
    bench = Bench(fake=scripted({"text": "abc"}, {"text": "x" * 24, "delay_ms": 300}, timeout_ms=150))
    late: list[Delta] = []
    for used in ((), (0,)):
        bench.call(asking(turn=1, used=used))
        bench.resources.deltas.listen("r1", late.append)()
    assert late == []


def test_secrets_are_redacted_across_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JETON_TEST_KEY", "swordfish-1234")
    bench = Bench(
        settings={"secrets": {"key": {"env": "JETON_TEST_KEY"}}},
        fake=scripted({"text": "it is swordfish-1234, keep it"}, {"error": "wrong key swordfish-1234"}),
    )
    answer = answered(bench.call(asking(turn=1)))
    assert answer.text == bench.heard == "it is [secret key], keep it"
    assert "swordfish" not in "".join(delta.text for delta in bench.deltas)
    assert refused(bench.call(asking(used=(0,)))).message == "wrong key [secret key]"


# structured output


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"x": 1, "y": 2}', id="JSON"),
        pytest.param('  ```json\n{"x": 1,\n "y": 2}\n```\n', id="JSON in a code fence"),
    ],
)
def test_data_is_taken_from_the_text(text: str) -> None:
    answer = answered(Bench(fake=scripted({"text": text})).call(asking(output_schema=POINT)))
    assert (answer.data, answer.text) == ({"x": 1, "y": 2}, text)


def test_every_misfit_is_told_to_the_model_twice_at_most() -> None:
    misfit: JsonObject = {"text": '{"x": "1"}', **COST}
    told = "context.messages.exists(m, m.role == 'user' && m.text.contains('answer.x') && m.text.contains('\"y\" is'))"
    good: JsonObject = {"text": '{"x": 1, "y": 2}', "when": f"context.messages.size() == 5 && {told}", **COST}
    bench = Bench(fake=scripted(misfit, misfit, good))
    answer = answered(bench.call(asking(output_schema=POINT)))
    assert (answer.data, answer.used, answer.requests) == ({"x": 1, "y": 2}, (0, 1, 2), 3)
    assert answer.usage == TokenUsage(30, 6)


def test_a_third_misfit_fails_the_call() -> None:
    misfit: JsonObject = {"text": "no JSON"}
    bench = Bench(fake=scripted(*(misfit,) * 4, fallbacks=("other",)), other=scripted({"text": "{}"}))
    failed = refused(bench.call(asking(output_schema=POINT)))
    assert (failed.type, failed.transient, failed.used) == ("output_invalid", False, (0, 1, 2))
    assert "not JSON" in failed.message


def test_an_answer_that_was_cut_is_a_misfit_and_one_that_calls_tools_is_not() -> None:
    cut: JsonObject = {"text": '{"x": 1', "finish": "length"}
    bench = Bench(fake=scripted(cut, {"text": '{"x": 1, "y": 2}'}, {"tool_calls": [{"name": "t"}], "text": "hm"}))
    assert answered(bench.call(asking(output_schema=POINT))).data == {"x": 1, "y": 2}
    answer = answered(bench.call(asking(output_schema=POINT, used=(0, 1))))
    assert (answer.text, answer.data, len(answer.calls)) == ("hm", None, 1)


# what cannot be asked


@pytest.mark.parametrize(
    ("bench", "type"),
    [
        pytest.param(Bench(), "unknown_profile", id="no such profile"),
        pytest.param(Bench(fake=ModelProfile("nobody")), "unknown_provider", id="no such provider"),
        pytest.param(Bench(fake=scripted({"text": "x"}, api_key="k")), "secret_unavailable", id="no such secret"),
    ],
)
async def test_a_profile_that_cannot_be_used(bench: Bench, type: str) -> None:
    found = await bench.result(*model_action(asking()))
    assert isinstance(found, dict)
    assert (found["kind"], found["type"]) == ("failed", type)
    bench.resources.threads.close()


def test_what_is_no_request_fails_the_task() -> None:
    found = run_now(Bench().result(Action("model"), {"profile": 7}))
    assert isinstance(found, TaskFailed)
    assert found.type == "input_invalid"
