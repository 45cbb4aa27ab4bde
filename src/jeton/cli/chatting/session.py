"""Talking to an agent in the terminal: streamed answers, tool calls as they happen, approvals inline.

Lines are read while the agent works, so that people can steer it and see results of background work as they type.
Ctrl-C stops the turn; a second one leaves.
"""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator

import click

from jeton.cli.chatting.show import printable_text
from jeton.cli.follow import cancelled
from jeton.cli.options import Exit
from jeton.cli.output import cut, echo, printable, short_json
from jeton.cli.store import remote_engine
from jeton.engine.engine import Engine
from jeton.engine.talk.conversation import Conversation
from jeton.engine.views.gates import GateView
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject

HELP = "Enter sends; Ctrl-C stops the turn, a second one leaves; /quit leaves; /turns lists the turns."


class Session:
    """One person at one terminal."""

    def __init__(self, engine: Engine, conversation: Conversation, agent: str, user: str | None) -> None:
        self._engine = engine
        self._conversation = conversation
        self._agent = agent
        self._user = user
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._written: dict[tuple[int, int], tuple[int, int]] = {}  # by turn and move: delivery, and length written
        self._gate: GateView | None = None
        self._status = "completed"
        self._moving: set[int] = set()
        self._stopping = False
        self._leaving = asyncio.Event()
        self._in_text = False

    async def run(self) -> Exit:
        """Talk until the person leaves."""
        echo(f"{printable(self._agent)}, conversation {self._conversation.id}. {HELP}", err=True)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._on_interrupt)
        seen = await self._past()  # before any line is read: what follows from a line is shown, and not past
        loop.add_reader(sys.stdin, self._on_input)
        showing = asyncio.create_task(self._show(seen))
        reading = asyncio.create_task(self._read())
        leaving = asyncio.create_task(self._leaving.wait())
        try:
            self._prompt()
            await asyncio.wait({showing, reading, leaving}, return_when=asyncio.FIRST_COMPLETED)
            for task in (showing, reading):
                if task.done():
                    task.result()
        finally:
            loop.remove_reader(sys.stdin)
            loop.remove_signal_handler(signal.SIGINT)
            await cancelled(showing, reading, leaving)
        echo()
        if self._moving:
            return Exit.STILL_WAITING
        return Exit.DONE if self._status == "completed" else Exit.RUN_FAILED

    def _on_input(self) -> None:
        line = sys.stdin.readline()
        self._lines.put_nowait(line.rstrip("\n") if line else None)

    def _on_interrupt(self) -> None:
        if self._stopping or not self._moving:
            self._leaving.set()
            return
        self._stopping = True
        echo("\nstopping the turn; once more leaves", err=True)
        self._stop_task = asyncio.get_running_loop().create_task(self._stop())

    async def _stop(self) -> None:
        try:
            await self._conversation.cancel(reason="stopped at the terminal")
        except Refused as refused:
            echo(printable(refused.problem), err=True)
        self._stopping = False

    def _prompt(self) -> None:
        click.echo("? " if self._gate is not None else "> ", nl=False)
        sys.stdout.flush()

    # what the person says

    async def _read(self) -> None:
        while (line := await self._lines.get()) is not None:
            text = line.strip()
            if text == "/quit":
                return
            try:
                await self._take(text)
            except Refused as refused:
                echo(
                    printable(f"{refused.problem} ({refused.remedy})" if refused.remedy else refused.problem), err=True
                )
            self._prompt()

    async def _take(self, text: str) -> None:
        if self._gate is not None:
            await self._answer(self._gate, text)
        elif text == "/turns":
            for turn in await self._conversation.turns():
                echo(f"[{turn.id}] {turn.status}: {cut(printable(turn.message))}")
        elif text:
            busy = "steer" if self._moving else "queue"
            await self._conversation.send(text, user=self._user, when_busy="steer" if busy == "steer" else "queue")

    async def _answer(self, gate: GateView, text: str) -> None:
        """Take a line as the answer to an approval: yes, always, edit with the new input, or no with a reason."""
        word, _, rest = text.partition(" ")
        value: JsonObject
        match word.lower():
            case "y" | "yes":
                value = {"decision": "approve"}
            case "a" | "always":
                value = {"decision": "approve", "for": "conversation"}
            case "e" | "edit":
                try:
                    edited: Json = json.loads(rest)
                except ValueError:
                    echo('write the new input as JSON: edit {"amount": 10}', err=True)
                    return
                value = {"decision": "edit", "input": edited}
            case "n" | "no":
                value = {"decision": "refuse", "reason": rest} if rest else {"decision": "refuse"}
            case _:
                echo("write yes, always, edit JSON, or no REASON", err=True)
                return
        await self._engine.answer(gate.run_id, value, gate=gate.id, by=self._user)
        self._gate = None
        await self._next_gate()

    # what the agent does

    async def _past(self) -> int:
        """Read what happened before. Returns the number of the last event of the conversation."""
        seen = -1
        async for event in self._history():
            seq = event.get("seq")
            seen = seq if isinstance(seq, int) and event["run_id"] == self._conversation.id else seen
            self._note(event)
        return seen

    async def _show(self, seen: int) -> None:
        await self._next_gate()
        async for event in self._conversation.stream(seen):
            self._note(event)
            await self._react(event)

    def _history(self) -> AsyncGenerator[JsonObject, None]:
        """What happened before. A key that may only answer sees it as a conversation, and not as a run."""
        there = remote_engine(self._engine)
        if there is None:
            return self._engine.events(self._conversation.id)
        return there.stream(conversation=self._conversation.id, follow=False)

    def _note(self, event: JsonObject) -> None:
        turn = event.get("turn")
        kind = str(event["type"])
        if kind == "turn.queued" and isinstance(turn, int):
            self._moving.add(turn)
        elif kind in ("turn.completed", "turn.failed", "turn.cancelled", "turn.exhausted") and isinstance(turn, int):
            self._moving.discard(turn)
            self._status = kind.removeprefix("turn.")

    async def _react(self, event: JsonObject) -> None:
        match event["type"]:
            case "message.delta":
                self._write(event)
            case "message.added" if "move" in event:
                self._finish_text(event)
            case "move.tool_called":
                self._line(f"  {printable(str(event['tool']))}({cut(printable(short_json(event.get('input'))))})")
            case "move.tool_answered":
                error = event.get("error")
                if isinstance(error, dict):
                    self._line(f"  {printable(str(event['tool']))}: {printable(str(error.get('message')))}")
            case "gate.opened":
                await self._next_gate()
            case "turn.failed" | "turn.exhausted" | "turn.cancelled":
                error = event.get("error")
                why = error.get("message") if isinstance(error, dict) else ""
                self._line(f"  {str(event['type']).removeprefix('turn.')}: {printable(str(why))}")
                self._prompt()
            case "turn.completed":
                self._prompt()
            case _:
                pass

    def _write(self, event: JsonObject) -> None:
        """Write a piece of an answer. A new delivery begins again, on a new line."""
        place = int(str(event["turn"])), int(str(event["move"]))
        delivery, at, text = int(str(event["delivery"])), int(str(event["at"])), str(event["text"])
        known, length = self._written.get(place, (delivery, 0))
        if known != delivery or at < length:
            self._line("  (the answer begins again)")
            length = 0
        if length == 0:
            self._line("")
        click.echo(printable_text(text), nl=False)
        sys.stdout.flush()
        self._in_text = True
        self._written[place] = delivery, at + len(text)

    def _finish_text(self, event: JsonObject) -> None:
        """The whole answer came: write what was not streamed."""
        place = int(str(event["turn"])), int(str(event["move"]))
        text = str(event["text"])
        _, length = self._written.pop(place, (0, 0))
        if length < len(text):
            if length == 0:
                self._line("")
            click.echo(printable_text(text[length:]), nl=False)
        click.echo()
        self._in_text = False

    def _line(self, text: str) -> None:
        click.echo(f"\n{text}" if self._in_text else f"\r{text}" if text else "\r", nl=bool(text))
        self._in_text = False

    async def _next_gate(self) -> None:
        gates = await self._engine.gates(self._conversation.id)
        if self._gate is None and gates:
            self._gate = gates[0]
            self._line(f"  {printable(self._gate.title)}")
            self._line("  approve? yes, always, edit JSON, no REASON")
            self._prompt()
