"""Real clients against a server that speaks their protocols: faults, refusals, and what is sent and read."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jeton.model.chat import (
    AssistantMessage,
    Attachment,
    CalledTool,
    ModelMessage,
    SystemMessage,
    TokenUsage,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolResult,
    ToolSpec,
    UserMessage,
)
from jeton.model.definition.task import Action
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Schema
from tests.executor.models.given_model import answered, asking, refused
from tests.executor.models.wire_bench import SECRET, WireBench
from tests.executor.models.wire_protocols import Answer, Refusal
from tests.executor.models.wire_server import Failing, Fault, serving, texts

GOOD = Answer("Hello there, how are you today?")
TOO_LONG = {
    "openai": Refusal(400, "This model's maximum context length is 10 tokens.", "context_length_exceeded"),
    "openai_responses": Refusal(400, "Your input exceeds the context window.", "context_length_exceeded"),
    "anthropic": Refusal(400, "prompt is too long: 300000 tokens > 200000 maximum"),
    "google": Refusal(400, "The input token count (300000) exceeds the maximum number of tokens allowed (200000)."),
}


@pytest.fixture(params=["openai", "openai_responses", "anthropic", "google"])
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("JETON_WIRE_KEY", SECRET)
    name: str = request.param
    return name


@asynccontextmanager
async def bench(provider: str, folder: Path, *plan: Any, **profile: Any) -> AsyncGenerator[WireBench]:
    async with serving(*plan) as server:
        made = WireBench(server, folder)
        made.profiles["real"] = made.profile(provider, **profile)
        try:
            yield made
        finally:
            await made.close()


async def test_an_answer_is_streamed_and_whole(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, GOOD) as at:
        answer = answered(await at.ask(asking("real", turn=1)))
        assert (answer.text, answer.finish, answer.usage, answer.requests) == (GOOD.text, "stop", TokenUsage(11, 5), 1)
        assert (answer.profile, at.heard, len(at.deltas) > 3) == ("real", GOOD.text, True)
        (seen,) = at.server.seen
        key = seen.headers.get("x-goog-api-key") or seen.headers["authorization"].removeprefix("Bearer ")
        assert key == SECRET


@pytest.mark.parametrize(
    ("fault", "type"),
    [
        pytest.param("cut", "model_unreachable", id="the socket is cut"),
        pytest.param("quiet", "stream_cut", id="the stream ends quietly"),
        pytest.param("garbage", "model_error", id="a piece is not JSON"),
        pytest.param("silent", "model_timed_out", id="nothing comes"),
        pytest.param("stalled", "model_timed_out", id="nothing more comes"),
    ],
)
async def test_a_broken_stream_is_asked_for_again(provider: str, fault: Fault, type: str, tmp_path: Path) -> None:
    broken = Failing(fault, Answer("This was never said to the end of it"))
    async with bench(provider, tmp_path, broken, GOOD, timeout_ms=700) as at:
        answer = answered(await at.ask(asking("real", turn=1)))
        assert (answer.text, answer.requests, len(at.server.seen)) == (GOOD.text, 2, 2)
        assert at.heard == GOOD.text, "nothing of the broken answer is left"
        assert [note.type for note in at.retries] == [type]
        assert any("This" in delta.text for delta in at.deltas) == (fault != "silent"), "there was something to void"


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_errors_that_pass(provider: str, status: int, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, Refusal(status, "not now"), GOOD) as at:
        answer = answered(await at.ask(asking("real")))
        assert (answer.text, answer.requests, len(at.server.seen)) == (GOOD.text, 2, 2)


async def test_retry_after_is_kept(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, Refusal(429, "slow down", headers={"retry-after": "1"}), GOOD) as at:
        before = at.resources.clock.now()
        answered(await at.ask(asking("real")))
        assert at.resources.clock.now() - before >= 1000
        assert [note.type for note in at.retries] == ["model_rate_limited"]


async def test_a_wait_that_is_too_long_is_not_waited_for(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, Refusal(429, "slow down", headers={"retry-after": "3600"}), GOOD) as at:
        failed = refused(await at.ask(asking("real")))
        assert (failed.type, failed.transient, len(at.server.seen)) == ("model_rate_limited", True, 1)


@pytest.mark.parametrize(
    ("status", "type"),
    [
        (400, "model_refused_request"),
        (401, "model_access_refused"),
        (403, "model_access_refused"),
        (404, "model_not_found"),
        (413, "model_refused_request"),
        (422, "model_refused_request"),
    ],
)
async def test_errors_that_stay(provider: str, status: int, type: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, Refusal(status, f"no: {SECRET}"), GOOD) as at:
        failed = refused(await at.ask(asking("real")))
        assert (failed.type, failed.transient, len(at.server.seen)) == (type, False, 1)
        assert SECRET not in failed.message
        assert "[secret key]" in failed.message


async def test_a_context_that_is_too_long_is_recognised(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, TOO_LONG[provider], GOOD) as at:
        failed = refused(await at.ask(asking("real")))
        assert (failed.type, len(at.server.seen)) == ("context_too_long", 1)


async def test_a_server_that_cannot_be_reached(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path) as at:
        async with serving() as gone:
            at.server = gone
            at.profiles["real"] = at.profile(provider)
        failed = refused(await at.ask(asking("real")))
        assert (failed.type, failed.transient, failed.requests) == ("model_unreachable", True, 3)


async def test_a_fallback_to_another_protocol(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, *[Refusal(500, "down")] * 3, GOOD, fallbacks=("other",)) as at:
        at.profiles["other"] = at.profile("openai" if provider == "anthropic" else "anthropic")
        answer = answered(await at.ask(asking("real")))
        assert (answer.profile, answer.text, answer.requests) == ("other", GOOD.text, 4)


@pytest.mark.parametrize("provider", ["openai", "openai_responses", "anthropic"], indirect=True)
async def test_tool_calls_are_read(provider: str, tmp_path: Path) -> None:
    calls = (("weather", '{"city": "Oslo", "days": 3}'), ("clock", ""), ("list", "[1, 2]"), ("cut", '{"city": "Os'))
    async with bench(provider, tmp_path, Answer("Let me see.", calls)) as at:
        answer = answered(await at.ask(asking("real")))
        assert (answer.text, answer.finish) == ("Let me see.", "stop")
        assert answer.calls == (
            CalledTool("weather", {"city": "Oslo", "days": 3}),
            CalledTool("clock", {}),
            CalledTool("list", raw="[1, 2]"),
            CalledTool("cut", raw='{"city": "Os'),
        )


@pytest.mark.parametrize("finish", ["length", "refused"])
async def test_why_an_answer_ended(provider: str, finish: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, Answer("I would say", finish=finish)) as at:
        answer = answered(await at.ask(asking("real")))
        assert (answer.text, answer.finish, len(at.server.seen)) == ("I would say", finish, 1)


@pytest.mark.parametrize("provider", ["openai", "openai_responses", "anthropic"], indirect=True)
async def test_parameters_reach_the_request(provider: str, tmp_path: Path) -> None:
    parameters = {"temperature": 0.5, "max_tokens": 77, "special": {"knob": 1}}
    async with bench(provider, tmp_path, GOOD, parameters=parameters) as at:
        answered(await at.ask(asking("real", instructions="Be kind.")))
        body = at.server.seen[0].body
        assert (body["temperature"], body["special"]) == (0.5, {"knob": 1})
        assert 77 in (body.get("max_tokens"), body.get("max_completion_tokens"), body.get("max_output_tokens"))
        assert "Be kind." in json.dumps(body)
        assert SECRET not in json.dumps(body)


@pytest.mark.usefixtures("_key")
async def test_parameters_that_cannot_be_passed_on_are_named(tmp_path: Path) -> None:
    async with bench("google", tmp_path, GOOD, parameters={"top_k": 5, "special": 1}) as at:
        failed = refused(await at.ask(asking("real")))
        assert failed.type == "model_refused_request"
        assert failed.message == "Gemini does not take the parameters: special"


async def test_the_environment_gives_no_key(provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "from-the-environment")
    async with bench(provider, tmp_path, GOOD) as at:
        answered(await at.ask(asking("real")))
        assert "from-the-environment" not in texts(at.server.seen)


# what is sent


REASONING = {"openai_responses": "gpt-5.1", "anthropic": "claude-opus-4-5"}

PLACE: Schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
HISTORY: tuple[ModelMessage, ...] = (
    UserMessage("What is it like in Oslo?"),
    AssistantMessage("Let me see.", (ToolCall("turn:1/call:1", "weather", {"city": "Oslo"}), ToolCall("c2", "clock"))),
    ToolMessage(
        (
            ToolResult("turn:1/call:1", "weather", {"degrees": 7}),
            ToolResult("c2", "clock", error=ToolError("TIMEOUT", "too slow", retriable=True)),
        )
    ),
    UserMessage(""),
    AssistantMessage(""),
    AssistantMessage("", (ToolCall("c3", "clock", raw="{nonsense"),)),
    ToolMessage((ToolResult("c3", "clock", error=ToolError("INVALID_INPUT", "not JSON")),)),
    SystemMessage("The user is in a hurry."),
    UserMessage("Well?"),
)


async def test_a_history_with_calls_errors_and_gaps_is_accepted(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, GOOD) as at:
        tools = (ToolSpec("weather", "the weather of a city", PLACE), ToolSpec("clock", "the time", {}))
        request = asking("real", messages=HISTORY, instructions="Be kind.", tools=tools)
        assert answered(await at.ask(request)).text == GOOD.text
        sent = json.dumps(at.server.seen[0].body)
        for text in ("Let me see.", "degrees", "TIMEOUT", "too slow", "nonsense", "hurry", "Well?", "the weather"):
            assert text in sent, text


async def test_a_history_that_begins_with_an_answer_is_accepted(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, GOOD) as at:
        answered(await at.ask(asking("real", messages=(AssistantMessage("As I said."), UserMessage("What?")))))


async def test_each_request_begins_with_the_one_before(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, GOOD, GOOD) as at:
        for end in (3, len(HISTORY)):
            answered(await at.ask(asking("real", messages=HISTORY[:end], instructions="Be kind.")))
        key = {"openai_responses": "input", "google": "contents"}.get(provider, "messages")
        first, second = (seen.body[key] for seen in at.server.seen)
        longer = json.dumps(second)
        # the message of the results grows: what was said after them belongs to it
        assert longer.startswith(json.dumps(first).rstrip("]}"))


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(HISTORY[:2], id="a call without its result"),
        pytest.param((*HISTORY[:2], UserMessage("x")), id="something else than the result"),
        pytest.param((HISTORY[0], HISTORY[2]), id="a result without its call"),
        pytest.param((*HISTORY[:3], *HISTORY[1:3]), id="an id that is used again"),
    ],
)
async def test_a_history_that_providers_refuse_is_not_sent(
    provider: str, messages: tuple[ModelMessage, ...], tmp_path: Path
) -> None:
    async with bench(provider, tmp_path, GOOD) as at:
        failed = refused(await at.ask(asking("real", messages=messages)))
        assert (failed.type, failed.requests, at.server.seen) == ("unpaired_calls", 0, [])


@pytest.mark.parametrize("provider", REASONING, indirect=True)
async def test_signed_parts_go_back_to_their_maker_alone(provider: str, tmp_path: Path) -> None:
    thinking = Answer("Sunny, I think.", (("clock", '{"zone": "CET"}'),), thinking="hmm")
    async with bench(provider, tmp_path, thinking, GOOD, GOOD, GOOD, model=REASONING[provider]) as at:
        at.profiles["same"] = at.profiles["real"]
        at.profiles["sibling"] = at.profile(provider, model=f"{at.profiles['real'].model}-mini")
        at.profiles["stranger"] = at.profile("openai")
        first = answered(await at.ask(asking("real")))
        assert first.text == "Sunny, I think."
        assert first.sealed is not None
        assert "Sunny" not in json.dumps(first.sealed.parts), "the text is stored once"
        said = AssistantMessage(first.text, (ToolCall("c9", "clock", {"zone": "CET"}),), first.sealed)
        history = (UserMessage("hello"), said, ToolMessage((ToolResult("c9", "clock", "noon"),)), UserMessage("And?"))
        for name in ("same", "sibling", "stranger"):
            answered(await at.ask(asking(name, messages=history)))
        sent = [json.dumps(seen.body) for seen in at.server.seen[1:]]
        assert ["hmm" in body for body in sent] == [True, False, False]
        assert all("Sunny, I think." in body and "c9" in body and "noon" in body for body in sent)


@pytest.mark.parametrize("provider", REASONING, indirect=True)
async def test_signed_parts_of_an_answer_that_was_changed_are_left_out(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, Answer("Sunny.", thinking="hmm"), GOOD, model=REASONING[provider]) as at:
        first = answered(await at.ask(asking("real")))
        changed = AssistantMessage("Rainy, that is.", (), first.sealed)
        answered(await at.ask(asking("real", messages=(UserMessage("x"), changed, UserMessage("y")))))
        sent = json.dumps(at.server.seen[1].body)
        assert "Rainy, that is." in sent
        assert "hmm" not in sent


async def test_attachments_are_parts_or_lines(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, GOOD, accepts=("image/*",)) as at:
        image = await at.resources.artifacts.write(RunId("r1"), b"\x89PNG picture", "image/png")
        sheet = await at.resources.artifacts.write(RunId("r1"), b"a;b", "text/csv")
        attached = (
            Attachment(image.id, "image/png", image.size, "cat.png"),
            Attachment(sheet.id, "text/csv", sheet.size, "sums.csv"),
            Attachment("sha256:" + "0" * 64, "image/png", 7, "gone.png"),
        )
        answered(await at.ask(asking("real", messages=(UserMessage("Look.", attached),))))
        sent = json.dumps(at.server.seen[0].body)
        assert base64.b64encode(b"\x89PNG picture").decode() in sent
        assert "[attachment: sums.csv, text/csv, 3 bytes]" in sent
        assert "[attachment: gone.png, image/png, 7 bytes]" in sent
        assert "cat.png" not in sent


# structured output


async def test_the_provider_is_given_the_schema(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, Answer('{"city": "Oslo"}')) as at:
        answer = answered(await at.ask(asking("real", output_schema=PLACE)))
        body = at.server.seen[0].body
        own = [body.get(key) for key in ("response_format", "text", "output_config", "generationConfig")]
        assert '"city"' in json.dumps(own)
        assert (answer.data, len(at.server.seen)) == ({"city": "Oslo"}, 1)


async def test_an_endpoint_that_takes_no_schema_is_asked_in_words(provider: str, tmp_path: Path) -> None:
    plan = Refusal(400, "unknown field"), Answer('{"city": "Oslo"}'), Answer('{"city": "Bergen"}')
    async with bench(provider, tmp_path, *plan) as at:
        first = answered(await at.ask(asking("real", output_schema=PLACE)))
        second = answered(await at.ask(asking("real", output_schema=PLACE)))
        assert (first.data, second.data, len(at.server.seen)) == ({"city": "Oslo"}, {"city": "Bergen"}, 3)
        assert "JSON Schema" in json.dumps(at.server.seen[2].body)


async def test_misfits_are_told(provider: str, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, Answer('{"city": 7}'), Answer("{}"), Answer('{"city": "Oslo"}')) as at:
        answer = answered(await at.ask(asking("real", output_schema=PLACE)))
        assert (answer.data, answer.usage) == ({"city": "Oslo"}, TokenUsage(33, 15))
        assert "answer.city: 7 is not of type" in json.dumps(at.server.seen[1].body)
        assert "is a required property" in json.dumps(at.server.seen[2].body)


# in the background


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JETON_WIRE_KEY", SECRET)


@pytest.mark.usefixtures("_key")
async def test_a_background_answer_is_fetched_again_after_a_crash(tmp_path: Path) -> None:
    async with bench("openai_responses", tmp_path, GOOD, Answer("paid twice"), background=True) as at:
        asked = asyncio.create_task(at.ask(asking("real")))
        while len(at.server.seen) < 2:  # created, and asked for once
            await asyncio.sleep(0.01)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        answer = answered(await at.ask(asking("real", turn=1)))
        assert (answer.text, answer.usage, at.heard) == (GOOD.text, TokenUsage(11, 5), GOOD.text)
        assert [seen.path for seen in at.server.seen].count("/v1/responses") == 1
        assert at.server.seen[0].body["background"] is True


@pytest.mark.usefixtures("_key")
async def test_another_attempt_is_another_response(tmp_path: Path) -> None:
    async with bench("openai_responses", tmp_path, GOOD, Answer("again"), background=True) as at:
        answered(await at.ask(asking("real")))
        assert answered(await at.ask(asking("real"), attempt=2)).text == "again"


# vectors


@pytest.mark.usefixtures("_key")
async def test_vectors_come_from_the_provider(tmp_path: Path) -> None:
    async with bench("openai", tmp_path, model="text-embedding-3-small") as at:
        found = await at.run(Action("llm", {"operation": "embed", "model_profile": "real"}), {"texts": ["a", "b"]})
        assert found == {"vectors": [[0.5, 0.0], [0.5, 1.0]], "usage": {"input_tokens": 4, "output_tokens": 0}}
        body = at.server.seen[0].body
        assert (body["model"], body["input"]) == ("text-embedding-3-small", ["a", "b"])


@pytest.mark.usefixtures("_key")
async def test_a_provider_without_vectors_says_so(tmp_path: Path) -> None:
    async with bench("anthropic", tmp_path) as at:
        found = await at.run(Action("llm", {"operation": "embed", "model_profile": "real"}), {"texts": ["a"]})
        assert isinstance(found, TaskFailed)
        assert (found.type, at.server.seen) == ("model_refused_request", [])


@pytest.mark.usefixtures("_key")
async def test_fewer_vectors_than_texts_are_no_result(tmp_path: Path) -> None:
    async with bench("openai", tmp_path, model="text-embedding-3-small") as at:
        found = await at.run(Action("llm", {"operation": "embed", "model_profile": "real"}), {"texts": ["a", "b", "c"]})
        assert isinstance(found, TaskFailed)
        assert found.type == "model_error"
