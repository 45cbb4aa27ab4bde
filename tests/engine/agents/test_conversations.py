"""Conversations with agents in a store: said, streamed, approved, stopped, closed, and gone on with after a crash."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import yaml

import jeton
from jeton import Engine, Refused
from jeton.engine.talk.conversation import Conversation
from jeton.model.json import JsonObject

LIBRARY = """
model_profiles:
  fake:
    provider: scripted
    script:
      - {when: "message.contains('refund') && moves == 0", tool_calls: [{name: refund, input: {order: A-17}}]}
      - {when: "message.contains('research') && moves == 0", text: On it., tool_calls: [{name: research, input: {}}]}
      - {when: "message.contains('ask amy') && moves == 0", tool_calls: [{name: ask_amy, input: {message: "How so"}}]}
      - {when: "size(tool_results) > 0", text: "Done."}
      - {when: "message.contains('story')", text: "Once upon a time there was a very long story.", delay_ms: 20000}
      - {when: "message.contains('fail')", error: it is down}
      - {text: "How can I help?"}
      - {text: "And now?"}
      - {text: "Still here."}
  quiet: {provider: scripted, script: [{text: "Like so."}]}
tasks:
  pay: {steps: [{ref: pay, action: {kind: mock, implementation: {output: {receipt: r-1}}}}]}
tools:
  refund: {description: Refund an order., task: pay, needs_approval: true}
  research: {description: Look into it., task: pay, async: true}
  ask_amy: {description: Ask Amy., agent: amy}
personas:
  helper: {instructions: You help., model_profile: fake, tools: [refund, research, ask_amy]}
  quiet: {model_profile: quiet}
agents: {bob: {persona: helper}, amy: {persona: quiet}}
workflows:
  triage:
    initial_node: ask
    nodes:
      ask:
        agent: {name: bob, conversation: input.talk}
        input_mapping: {message: input.mail}
        output_mapping: {output.reply: result.text, output.talk: result.conversation_id}
"""


@asynccontextmanager
async def talking(tmp_path: Path) -> AsyncGenerator[tuple[Engine, Conversation], None]:
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(yaml.safe_load(LIBRARY))
        yield engine, await engine.converse("bob", user="ann")


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not true():
            await asyncio.sleep(0.01)


async def test_a_turn_answers(tmp_path: Path) -> None:
    async with talking(tmp_path) as (engine, talk):
        turn = await (await talk.send("hello")).result(10)
        assert (turn.status, turn.replies, turn.caller) == (
            "completed",
            ["How can I help?"],
            {"type": "user", "user": "ann"},
        )
        view = await engine.conversation(talk.id)
        assert (view.agent, view.status, [each.id for each in view.turns]) == ("bob", "waiting", [1])
        assert [(row.id, row.turns) for row in await engine.conversations()] == [(talk.id, 1)]


async def test_a_key_is_one_message_and_one_conversation(tmp_path: Path) -> None:
    async with talking(tmp_path) as (engine, talk):
        first, again = await talk.send("hello", key="k"), await talk.send("hello", key="k")
        assert (first.id, again.id) == (1, 1)
        await again.result(10)
        assert len(await talk.turns()) == 1
        one, other = await engine.converse("bob", key="a"), await engine.converse("bob", key="a")
        assert one.id == other.id


async def test_an_approval_shows_the_input_and_the_call_is_made_when_it_is_given(tmp_path: Path) -> None:
    async with talking(tmp_path) as (_, talk):
        turn = await talk.send("a refund, please")
        await until_gate(talk)
        (gate,) = await talk.gates()
        assert (gate.node, gate.input) == ("tool:refund", {"order": "A-17"})
        (waiting,) = (await talk.turns())[0].waiting_for
        assert (waiting.kind, waiting.gate) == ("gate", gate.id)
        await talk.answer({"decision": "approve"})
        done = await turn.result(10)
        assert done.replies == ["Done."]
        assert done.moves[0].tool_calls[0].result == {"receipt": "r-1"}


async def until_gate(talk: Conversation) -> None:
    async with asyncio.timeout(10):
        while not await talk.gates():
            await asyncio.sleep(0.01)


async def test_async_work_is_acknowledged_and_told_on_the_same_turn(tmp_path: Path) -> None:
    async with talking(tmp_path) as (_, talk):
        done = await (await talk.send("research this")).result(10)
        assert done.replies == ["On it.", "Done."]
        assert done.moves[0].tool_calls[0].later == {"receipt": "r-1"}


async def test_a_delegated_conversation_ends_with_its_answer(tmp_path: Path) -> None:
    async with talking(tmp_path) as (engine, talk):
        done = await (await talk.send("ask amy")).result(10)
        assert done.moves[0].tool_calls[0].result == {"text": "Like so."}
        (asked,) = await engine.conversations(agent="amy")
        assert asked.status == "completed"


async def told(talk: Conversation, deltas: list[JsonObject]) -> None:
    async for event in talk.stream():
        if event["type"] == "message.delta":
            deltas.append(event)


@pytest.mark.parametrize("how", ["cancel", "interrupt"])
async def test_text_that_was_seen_stays_as_an_interrupted_reply(tmp_path: Path, how: str) -> None:
    async with talking(tmp_path) as (engine, talk):
        deltas: list[JsonObject] = []
        listening = asyncio.create_task(told(talk, deltas))
        turn = await talk.send("tell a story")
        await until(lambda: deltas)
        if how == "cancel":
            await talk.cancel()
        else:
            await talk.send("stop that", when_busy="interrupt")
        done = await turn.result(10)
        listening.cancel()
        assert done.status == "cancelled"
        (reply,) = done.replies
        assert done.moves[-1].interrupted
        assert "Once upon a time there was a very long story.".startswith(reply)
        assert reply.startswith(str(deltas[0]["text"]))
        kinds = [event["type"] async for event in engine.events(talk.id)]
        assert "move.interrupted" in kinds


async def test_after_a_stop_the_conversation_is_as_usable_as_before(tmp_path: Path) -> None:
    async with talking(tmp_path) as (_, talk):
        await talk.send("a refund, please")
        await until_gate(talk)
        await talk.cancel(reason="enough")
        (stopped,) = await talk.turns()
        assert stopped.error is not None
        assert (stopped.status, stopped.error.message) == ("cancelled", "enough")
        assert stopped.moves[0].tool_calls[0].error is not None
        assert (await (await talk.send("hello")).result(10)).status == "completed"


async def test_a_queued_turn_is_withdrawn(tmp_path: Path) -> None:
    async with talking(tmp_path) as (_, talk):
        await talk.send("a refund, please")
        await until_gate(talk)
        second = await talk.send("hello")
        await talk.cancel(second.id)
        assert (await second.result(10)).status == "cancelled"
        with pytest.raises(Refused, match="not active"):
            await talk.cancel(second.id)


async def test_a_paused_conversation_takes_messages_and_answers_when_it_goes_on(tmp_path: Path) -> None:
    async with talking(tmp_path) as (engine, talk):
        await engine.pause(talk.id)
        turn = await talk.send("hello")
        with pytest.raises(TimeoutError):
            await turn.result(0.2)
        await engine.unpause(talk.id)
        assert (await turn.result(10)).status == "completed"


async def test_a_closed_conversation_can_be_read_and_takes_no_messages(tmp_path: Path) -> None:
    async with talking(tmp_path) as (engine, talk):
        turn = await talk.send("a refund, please")
        await until_gate(talk)
        await talk.close("done with it")
        assert (await turn.result(10)).status == "cancelled"
        assert (await engine.conversation(talk.id)).status == "completed"
        with pytest.raises(Refused, match="ended"):
            await talk.send("hello")


async def test_a_conversation_goes_on_in_the_next_process(tmp_path: Path) -> None:
    async with talking(tmp_path) as (_, talk):
        name = talk.id
        await talk.send("a refund, please")
        await until_gate(talk)
    async with jeton.open(tmp_path / "store.db") as engine:
        talk = await engine.converse("bob", conversation=name)
        await talk.answer({"decision": "edit", "input": {"order": "B-2"}})
        async with asyncio.timeout(10):
            while (await talk.turns())[0].status == "active":
                await asyncio.sleep(0.01)
        (turn,) = await talk.turns()
        assert turn.replies == ["Done."]
        assert turn.moves[0].tool_calls[0].edited == {"order": "B-2"}


async def test_a_workflow_goes_on_with_a_conversation(tmp_path: Path) -> None:
    async with talking(tmp_path) as (engine, talk):
        record = await (await engine.start("triage", {"mail": "hello", "talk": talk.id})).result(10)
        assert record.output == {"reply": "How can I help?", "talk": talk.id}
        (turn,) = await talk.turns()
        assert turn.caller == {"type": "run", "run_id": record.run_id}


@pytest.mark.parametrize("closed", [True, False], ids=["that was closed", "that never was"])
async def test_a_workflow_that_asks_in_a_conversation(tmp_path: Path, closed: bool) -> None:
    async with talking(tmp_path) as (engine, talk):
        await talk.close()
        name = talk.id if closed else "no-such-conversation"
        record = await (await engine.start("triage", {"mail": "hello", "talk": name})).result(10)
        assert record.status == "failed"
        assert record.error is not None
        assert record.error.type == ("run_ended" if closed else "unknown_run")


async def test_a_failed_turn_says_why(tmp_path: Path) -> None:
    async with talking(tmp_path) as (_, talk):
        turn = await (await talk.send("fail, please")).result(30)
        assert turn.error is not None
        assert (turn.status, turn.error.message) == ("failed", "it is down")


async def test_misuse_is_refused(tmp_path: Path) -> None:
    async with talking(tmp_path) as (engine, talk):
        with pytest.raises(Refused, match="no agent 'eve'"):
            await engine.converse("eve")
        with pytest.raises(Refused, match="has not joined"):
            await talk.send("hello", to="amy")
        run = await engine.start("triage", {"mail": "hello", "talk": None})
        with pytest.raises(Refused, match="is a run"):
            await engine.conversation(run.id)


PRICED = """
model_profiles:
  fake:
    provider: scripted
    prices: {input: 0, output: 10000}
    parameters: {max_tokens: 100}
    script:
      - {tool_calls: [{name: look, input: {}}], usage: {output_tokens: 50}}
      - {text: Done., usage: {output_tokens: 50}}
tasks: {look: {steps: [{ref: a, action: {kind: mock}}]}}
tools: {look: {description: Look., task: look}}
personas: {helper: {model_profile: fake, tools: [look], budget: {turn: 1, on_empty: ask}}}
agents: {bob: {persona: helper}}
"""


async def test_a_turn_asks_for_more_credits_and_goes_on_with_them(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(yaml.safe_load(PRICED))
        talk = await engine.converse("bob")
        turn = await talk.send("hello")
        await until_gate(talk)
        (gate,) = await talk.gates()
        assert gate.title == (
            "bob needs more credits: 1 of the 1 credits for this turn are used, and the next model call may cost 1"
        )
        assert gate.schema is not None
        await talk.answer({"credits": 1})
        done = await turn.result(10)
        assert (done.replies, [move.credits for move in done.moves]) == (["Done."], [1, 1])


async def test_an_empty_account_exhausts_the_turn_and_a_full_one_pays_for_the_next(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        library = yaml.safe_load(PRICED) | {"project": {"settings": {"credits": {"balance": 1}}}}
        library["personas"]["helper"].pop("budget")
        await engine.deploy(library)
        talk = await engine.converse("bob")
        first = await (await talk.send("hello")).result(10)
        assert first.error is not None
        assert (first.status, first.error.type) == ("exhausted", "credits_exhausted")
        await engine.top_up(10)
        assert (await (await talk.send("and now?")).result(10)).replies == ["Done."]


async def test_a_result_that_is_too_large_is_an_artifact_with_a_preview(tmp_path: Path) -> None:
    library = yaml.safe_load(LIBRARY)
    output = {"rows": ["a long row"] * 100}
    library["tasks"]["pay"]["steps"][0]["action"]["implementation"]["output"] = output
    library["tools"]["refund"] |= {"needs_approval": False, "max_result_bytes": 400}
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library)
        done = await (await (await engine.converse("bob")).send("a refund, please")).result(10)
        result = done.moves[0].tool_calls[0].result
        assert isinstance(result, dict)
        assert isinstance(result["artifact"], dict)
        name = str(result["artifact"]["id"]).removeprefix("sha256:")
        (file,) = [
            each
            for each in (tmp_path / "store.db-artifacts").rglob("*")
            if each.name and name.endswith(each.name) and each.is_file()
        ]
        content = file.read_bytes()
        assert msgspec.json.decode(content) == output
        assert content.decode().startswith(str(result["preview"]))
