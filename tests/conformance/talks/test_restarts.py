"""What becomes of a conversation whose process ends: the same on every host."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from jeton.actor.host import Host
from jeton.engine.engine import Engine
from jeton.engine.stores import open_host, verify_store
from jeton.engine.talk.conversation import Conversation
from jeton.executor import Executor
from jeton.model import decision as d
from jeton.testing import open_simulated
from tests.conformance.case import Data
from tests.conformance.hosts import Opened
from tests.conformance.talk import Talked, agent, all_ended, calls, library_of, look_at, mocked, says

LONG_MS = 400
STARTED = (d.DispatchToken, d.OpenGate, d.CallWorkflow, d.CallAgent)
PAY: Data = {"pay": {"task": "slow"}}
SLOW: Data = {"slow": mocked({"v": 1}, LONG_MS)}


class Restartable:
    """A host whose process can end and come back. `opened` is what there is now."""

    def __init__(self, opened: Opened, restart: Callable[[], Awaitable[Opened]]) -> None:
        self.opened = opened
        self._restart = restart

    async def restart(self) -> None:
        self.opened = await self._restart()

    async def talk(self, conversation: Conversation) -> Conversation:
        """The conversation, in the process that there is now."""
        return await self.opened.engine.converse("bob", conversation=conversation.id)


Restarts = Callable[[], AbstractAsyncContextManager[Restartable]]


@asynccontextmanager
async def simulated() -> AsyncGenerator[Restartable, None]:
    async with open_simulated() as (engine, host):
        opened = Opened(engine, host, host.sleep, engine)

        async def restart() -> Opened:
            host.world.crash()
            return opened

        yield Restartable(opened, restart)


@asynccontextmanager
async def sqlite() -> AsyncGenerator[Restartable, None]:
    with TemporaryDirectory() as folder:
        store, stack = Path(folder, "store.db"), AsyncExitStack()

        async def sleep(ms: int) -> None:
            await asyncio.sleep(ms / 1000)

        async def enter() -> Opened:
            host: Host = await stack.enter_async_context(
                open_host(store, workers=Executor(), durability="full", owner=True, grace_s=0)
            )
            engine = Engine(host)
            return Opened(engine, host, sleep, engine)

        async def restart() -> Opened:
            await stack.aclose()
            return await enter()

        yield Restartable(await enter(), restart)
        await stack.aclose()
        assert verify_store(store).problems == ()


HOSTS = [pytest.param(simulated, id="simulated"), pytest.param(sqlite, id="sqlite")]


async def cut_at(place: Restartable, made: Data, node: str) -> tuple[Conversation, Talked]:
    """Say something, end the process while a worker has the call of a node, and wait for the end of the turn."""
    opened = place.opened
    await opened.engine.deploy_library(library_of(made), None)
    talk = await opened.engine.converse("bob", user="ann")
    await talk.send("go", key="go")
    while not await _is_at_work(opened, talk, node):
        await opened.sleep(5)
    await opened.sleep(LONG_MS // 4)
    await place.restart()
    talk = await place.talk(talk)
    await all_ended(place.opened, talk)
    return talk, await look_at(place.opened, talk)


async def _is_at_work(opened: Opened, talk: Conversation, node: str) -> bool:
    entries = [entry async for entry in opened.engine.journal(talk.id)]
    found = [x for entry in entries for x in entry.decisions if isinstance(x, STARTED)]
    return any(x.node == node for x in found)


def deliveries(seen: Talked, node: str) -> list[tuple[int, int]]:
    """Token and attempt of each time a call was handed out: together they are its idempotency key."""
    handed = [x for x in seen.decisions() if isinstance(x, d.DispatchToken | d.RedeliverToken) and x.node == node]
    return [(x.token, x.attempt) for x in handed]


@pytest.mark.parametrize("host", HOSTS)
async def test_a_model_call_is_made_again_and_its_answer_counts_once(host: Restarts) -> None:
    async with host() as place:
        _, seen = await cut_at(place, agent(says("Hello.", delay_ms=LONG_MS), says("Twice!")), "model")
    (turn,) = seen.turns
    assert (turn.status, turn.replies) == ("completed", ["Hello."])
    assert len(deliveries(seen, "model")) >= 2
    assert len(set(deliveries(seen, "model"))) == 1
    assert [(each.turn, each.move) for each in seen.decisions(d.RestartMove)][:1] == [
        (1, 0)
    ]  # what was streamed is void


@pytest.mark.parametrize("host", HOSTS)
async def test_an_answer_that_was_committed_is_never_asked_for_again(host: Restarts) -> None:
    made = agent(calls("pay", text="I pay."), says("Paid.", "tool_results[0].result.v == 1"), tools=PAY, tasks=SLOW)
    async with host() as place:
        _, seen = await cut_at(place, made, "tool:pay")
    (turn,) = seen.turns
    assert (turn.status, turn.replies) == ("completed", ["I pay.", "Paid."])
    assert len(seen.decisions(d.AskModel)) == 2
    assert len(seen.decisions(d.AddMove)) == 2


@pytest.mark.parametrize("host", HOSTS)
async def test_a_tool_call_is_made_again_under_the_same_key(host: Restarts) -> None:
    async with host() as place:
        _, seen = await cut_at(place, agent(calls("pay"), says("Paid."), tools=PAY, tasks=SLOW), "tool:pay")
    assert len(deliveries(seen, "tool:pay")) >= 2
    assert len(set(deliveries(seen, "tool:pay"))) == 1
    assert seen.call().result == {"v": 1}


@pytest.mark.parametrize("host", HOSTS)
async def test_a_call_that_must_not_be_made_twice_is_not(host: Restarts) -> None:
    made = agent(
        calls("pay"),
        says("I do not know.", "tool_results[0].error.code == 'OUTCOME_UNKNOWN'"),
        tools={"pay": {"task": "slow", "once": True}},
        tasks=SLOW,
    )
    async with host() as place:
        _, seen = await cut_at(place, made, "tool:pay")
    (turn,) = seen.turns
    assert (turn.status, turn.replies, turn.issues) == ("completed", ["I do not know."], {"tool_failures": 1})
    assert len(deliveries(seen, "tool:pay")) == 1


@pytest.mark.parametrize("host", HOSTS)
async def test_an_async_call_goes_on_and_is_told_once(host: Restarts) -> None:
    made = agent(
        calls("later", text="On it."),
        says("It came."),
        says("Twice!"),
        tools={"later": {"task": "slow", "async": True}},
        tasks=SLOW,
    )
    async with host() as place:
        _, seen = await cut_at(place, made, "tool:later")
    (turn,) = seen.turns
    assert (turn.status, turn.replies) == ("completed", ["On it.", "It came."])


@pytest.mark.parametrize("host", HOSTS)
async def test_a_message_that_is_sent_again_with_its_key_is_there_once(host: Restarts) -> None:
    async with host() as place:
        talk, _ = await cut_at(place, agent(says("Hello.", delay_ms=LONG_MS), says("Twice!")), "model")
        again = await talk.send("go", key="go")
        assert again.id == 1
        seen = await look_at(place.opened, talk)
    assert [turn.replies for turn in seen.turns] == [["Hello."]]


@pytest.mark.parametrize("host", HOSTS)
async def test_waiting_for_an_approval_is_rows(host: Restarts) -> None:
    made = agent(calls("pay"), says("Paid."), tools={"pay": {"task": "work", "needs_approval": True}})
    async with host() as place:
        await place.opened.engine.deploy_library(library_of(made), None)
        talk = await place.opened.engine.converse("bob", user="ann")
        await talk.send("go")
        await place.opened.engine.idle()
        await place.restart()
        talk = await place.talk(talk)
        (gate,) = await talk.gates()
        assert (gate.node, gate.input) == ("tool:pay", {})
        assert (await talk.view()).status == "waiting"
        await talk.answer({"decision": "approve"}, gate=gate.id)
        await all_ended(place.opened, talk)
        assert [turn.replies for turn in await talk.turns()] == [["Paid."]]


ASKED: Data = {"tool_calls": [{"name": "pay", "input": {"message": "pay"}}]}
RUN: Data = {
    "initial_node": "a",
    "nodes": {"a": {"task": "slow", "output_mapping": {"output.v": "result.v"}}},
    "transitions": [],
}
EVE: Data = {
    "profiles": {"eves": {"provider": "scripted", "script": [says("Paid it.", delay_ms=LONG_MS), says("Twice!")]}},
    "personas": {"wise": {"instructions": "Help.", "model_profile": "eves", "tools": []}},
    "agents": {"eve": {"persona": "wise"}},
}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("made", "result"),
    [
        pytest.param(
            agent(ASKED, says("Done."), tools={"pay": {"workflow": "run"}}, tasks=SLOW, workflows={"run": RUN}),
            {"v": 1},
            id="a run",
        ),
        pytest.param(
            agent(ASKED, says("Done."), tools={"pay": {"agent": "eve"}}, **EVE), {"text": "Paid it."}, id="eve"
        ),
    ],
)
async def test_runs_and_conversations_that_a_tool_called_go_on_by_themselves(
    made: Data, result: Data, host: Restarts
) -> None:
    async with host() as place:
        _, seen = await cut_at(place, made, "tool:pay")
    (turn,) = seen.turns
    assert (turn.status, turn.replies, seen.call().result) == ("completed", ["Done."], result)
    assert list(seen.below.values()) == ["completed"]


@pytest.mark.parametrize("host", HOSTS)
async def test_extraction_is_done_again_and_a_memory_is_written_once(host: Restarts) -> None:
    kept = '{"memories": [{"type": "fact", "content": "Ann is here."}]}'
    made = agent(
        says(kept, "context.instructions.contains('memory of an agent')", delay_ms=LONG_MS),
        says(kept, "context.instructions.contains('memory of an agent')"),
        says("Hello."),
        persona={"memory": {"types": ["fact"], "recall": 0}},
    )
    async with host() as place:
        _, seen = await cut_at(place, made, "extraction")
        assert [each.content for each in await place.opened.engine.memories("bob")] == ["Ann is here."]
    (turn,) = seen.turns
    assert (turn.status, turn.replies, turn.issues) == ("completed", ["Hello."], {})
    assert len(deliveries(seen, "extraction")) >= 2
    assert len(seen.decisions(d.AddMove)) == 1
