"""Control of runs: cancel, pause, fork, retry, answers and signals."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal, TypeAlias

import msgspec

from jeton.actor.replies import ANSWER_WITHIN_S, LOOK_AGAIN_S, ask, ended
from jeton.actor.starts import NewFork
from jeton.engine.arguments import MOST_ROWS, check_credits, check_maybe_texts, check_texts, check_whole
from jeton.engine.input import plain_value
from jeton.engine.lookup import Lookup
from jeton.engine.reading import Reading
from jeton.engine.reply import Reply
from jeton.engine.views.gates import parts_of_gate, the_one_gate, unknown_gate
from jeton.engine.views.record import RunRecord, record_of
from jeton.model.failure import Refused
from jeton.model.ids import ROOT_PATH, RunId, TokenId
from jeton.model.json import Json
from jeton.model.message import AnswerGate, CancelRun, PauseRun, SignalRun, UnpauseRun
from jeton.model.state.run import TERMINAL, RunStatus

RETRIED: tuple[RunStatus, ...] = ("failed", "timed_out", "exhausted")


ControlOutcome: TypeAlias = Literal["accepted", "ended", "sent"]
"""It took effect; the run had ended; or the owner did not answer in time, and it is kept in the inbox."""


class CancelAnswer(msgspec.Struct, frozen=True):
    """What became of a cancellation, and the run's record afterwards."""

    outcome: ControlOutcome
    record: RunRecord

    @property
    def accepted(self) -> bool:
        return self.outcome == "accepted"


class Control:
    """Sends messages to runs, and returns the results."""

    def __init__(self, lookup: Lookup, reading: Reading) -> None:
        self._lookup = lookup
        self._reading = reading
        self._host = lookup.host

    async def cancel(self, run: str, reason: str) -> CancelAnswer:
        """Stop a run. Whichever of cancel, timeout and completion is committed first wins; the answer says which."""
        check_texts(reason=reason)
        row = await self._lookup.row_unless_set_aside(run)
        if row is not None and row.status in TERMINAL:
            return CancelAnswer("ended", record_of(row, None))
        await self._host.deliver(RunId(run), CancelRun(self._host.now(), reason))
        try:
            record = await self._reading.ended(run, timeout=ANSWER_WITHIN_S)
        except TimeoutError:
            return CancelAnswer("sent", await self._reading.get(run))
        return CancelAnswer("accepted" if record.status == "cancelled" else "ended", record)

    async def pause(self, run: str, *, paused: bool) -> RunRecord:
        """Pause or unpause a run. If the owner does not answer in time, the message is left for the next owner."""
        row = await self._lookup.row_unless_set_aside(run)
        if row is not None and row.status in TERMINAL:
            raise ended(run, row.status)
        now = self._host.now()
        await self._host.deliver(RunId(run), PauseRun(now) if paused else UnpauseRun(now))
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_WITHIN_S):
                while True:
                    row = await self._lookup.row_unless_set_aside(run)
                    if row is not None and (row.paused == paused or row.status in TERMINAL):
                        break
                    await asyncio.sleep(LOOK_AGAIN_S)
        if row is not None and row.paused != paused and row.status in TERMINAL:  # it ended before it was paused
            raise ended(run, row.status)
        return await self._reading.get(run)

    async def fork(self, run: str, at: int, writes: Mapping[str, Json] | None) -> RunId:
        """Start a fork of a run. Returns its id."""
        check_whole("at", at, 0, MOST_ROWS)
        check_texts(**{f"writes[{index}]": path for index, path in enumerate(writes or {})})
        edits = {path: plain_value(value, path) for path, value in (writes or {}).items()}
        return await self._host.fork(NewFork((await self._lookup.row(run)).run, at, edits))

    async def retry(self, run: str, credits: int) -> RunId:
        """Start a fork of a failed run at its end. Returns its id."""
        row = await self._lookup.row(run)
        check_credits("credits", credits)
        if row.status not in RETRIED:
            problem = f"run {run} is {row.status}, and only one that failed can be retried"
            raise Refused("not_failed", problem, "fork it, to go on from another place")
        if credits:
            purse = (await self._lookup.live(row.run)).state.head.purse
            if purse is None or purse.account is not None:
                problem = f"run {run} has no credits of its own that {credits} could be added to"
                raise Refused("bad_amount", problem, "top up the project's account")
        return await self._host.fork(NewFork(row.run, row.entries - 1, again=True, credits=credits))

    async def answer(
        self, run: str, value: Json, gate: str | None, node: str | None, path: str | None, by: str | None
    ) -> Reply:
        """Answer a gate. Returns the run's reply."""
        row = await self._lookup.row(run)
        check_maybe_texts(gate=gate, node=node, path=path, by=by)
        answer = plain_value(value, "answer")
        if gate is not None and node is not None:
            raise Refused("ambiguous", "a gate and a node are named", "name one of them")
        if row.status in TERMINAL:
            raise ended(run, row.status)
        to, token = row.run, None
        if gate is not None:
            to, token = await self._gate(row.run, gate)
        elif node is None:
            to, token = parts_of_gate(the_one_gate(run, await self._reading.gates(run)).id)
        elif path is None:
            token = await self._gate_at(row.run, node)
        now, name = self._host.now(), self._host.new_id()
        message = AnswerGate(now, name, answer, by, token, node, path if token is None else None)
        return Reply(to, await ask(self._host, to, message), await self._reading.get(run))

    async def signal(self, run: str, name: str, value: Json, key: str | None) -> Reply:
        """Send a run a signal. Returns the run's reply."""
        row = await self._lookup.row(run)
        check_texts(name=name)
        check_maybe_texts(key=key)
        message = SignalRun(self._host.now(), self._host.new_id(), name, plain_value(value, "signal"), key)
        return Reply(row.run, await ask(self._host, row.run, message), await self._reading.get(run))

    async def _gate_at(self, run: RunId, node: str) -> TokenId | None:
        """The only open gate at this node, in whatever branch; None if there is none, or one outside of branches."""
        found = [gate for gate in await self._reading.gates(run) if gate.run_id == run and gate.node == node]
        if not found or any(gate.path == ROOT_PATH for gate in found):
            return None
        return parts_of_gate(the_one_gate(run, found).id)[1]

    async def _gate(self, run: RunId, gate: str) -> tuple[RunId, TokenId]:
        """The run and the token of a gate of this run, or of a run it called."""
        to, token = parts_of_gate(gate)
        if to not in await self._lookup.tree(run) or token >= (await self._lookup.live(to)).state.head.next_token:
            raise unknown_gate(gate)
        return to, token
