"""What an MCP client can call: workflows, flows and agents as tools, and the work that a call starts.

Knows nothing of the protocol. Work has an id that outlives the connection and the process: that of its run, or of its
conversation with the number of the turn.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

import msgspec

from jeton.engine.engine import Engine
from jeton.engine.views.flows import definition_in
from jeton.engine.views.gates import GateView
from jeton.model.definition.agent import agent_bundle, agent_of
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject, Schema

WorkStatus: TypeAlias = Literal["working", "asking", "done", "failed", "cancelled"]
MESSAGE: Schema = {
    "type": "object",
    "required": ["message"],
    "properties": {
        "message": {"type": "string", "description": "What you say to the agent."},
        "conversation_id": {"type": "string", "description": "A conversation to go on with; a new one if left out."},
    },
}


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as clients see it."""

    name: str
    description: str
    input_schema: Schema


class WorkState(msgspec.Struct, frozen=True):
    """How far work has got: its output or its error, and what it asks people."""

    id: str
    status: WorkStatus
    since: datetime
    output: Json = None
    error: str | None = None
    gates: tuple[GateView, ...] = ()


class Exposed(Protocol):
    """Something that clients can call. Raises Refused for what cannot be started or told."""

    @property
    def spec(self) -> ToolSpec:
        """The tool."""
        ...

    def has(self, work: str) -> bool:
        """Whether an id is one of its work, by its form."""
        ...

    async def start(self, arguments: JsonObject, key: str | None) -> str:
        """Start work, and return its id. The same key gives the same work."""
        ...

    async def state(self, work: str) -> WorkState:
        """How far the work has got. Raises Refused if it is not work of this."""
        ...

    async def answer(self, work: str, gate: str, value: Json) -> None:
        """Answer what the work asks."""
        ...

    async def cancel(self, work: str) -> None:
        """Cancel the work."""
        ...


class ExposedWorkflow:
    """A workflow or a flow. Its work is a run."""

    def __init__(self, engine: Engine, name: str, description: str | None, input_schema: Schema | None) -> None:
        self._engine = engine
        self._name = name
        self.spec = ToolSpec(name, description or f"The workflow {name}.", _object_schema(input_schema))

    def has(self, work: str) -> bool:
        return "#" not in work

    async def start(self, arguments: JsonObject, key: str | None) -> str:
        return (await self._engine.start(self._name, arguments, key=key)).id

    async def state(self, work: str) -> WorkState:
        record = await self._engine.get(work)
        if record.workflow != self._name:
            raise unknown_work(work)
        since = record.completed_at or record.started_at or record.submitted_at
        if record.status == "completed":
            return WorkState(work, "done", since, record.output)
        if record.ended:
            error = record.status if record.error is None else f"{record.error.type}: {record.error.message}"
            return WorkState(work, "cancelled" if record.status == "cancelled" else "failed", since, error=error)
        gates = await self._engine.gates(work)
        return WorkState(work, "asking" if gates else "working", since, gates=gates)

    async def answer(self, work: str, gate: str, value: Json) -> None:
        await self.state(work)
        await self._engine.answer(work, value, gate=gate)

    async def cancel(self, work: str) -> None:
        await self.state(work)
        await self._engine.cancel(work, "cancelled by an MCP client")


class ExposedAgent:
    """An agent. Its work is a turn of a conversation."""

    def __init__(self, engine: Engine, name: str, description: str | None) -> None:
        self._engine = engine
        self._name = name
        self.spec = ToolSpec(name, description or f"The agent {name}: say something to it.", MESSAGE)

    def has(self, work: str) -> bool:
        return "#" in work

    async def start(self, arguments: JsonObject, key: str | None) -> str:
        text, known = arguments.get("message"), arguments.get("conversation_id")
        if not isinstance(text, str) or not isinstance(known, str | None):
            raise Refused("input_invalid", "'message' must be a text", "say something")
        if known is not None:
            await self._check(known)
        conversation = await self._engine.converse(self._name, key=key, conversation=known)
        turn = await conversation.send(text, key=key)
        return f"{conversation.id}#{turn.id or 0}"

    async def state(self, work: str) -> WorkState:
        conversation, number = _parts(work)
        view = await self._engine.conversation(conversation)
        turn = next((turn for turn in view.turns if turn.id == number), None)
        if view.agent != self._name or turn is None:
            raise unknown_work(work)
        since = turn.ended_at or turn.began_at or (await self._engine.get(conversation)).submitted_at
        match turn.status:
            case "completed":
                said: JsonObject = {"text": "\n\n".join(turn.replies), "conversation_id": conversation}
                return WorkState(work, "done", since, said)
            case "failed" | "exhausted":
                error = turn.status if turn.error is None else f"{turn.error.type}: {turn.error.message}"
                return WorkState(work, "failed", since, error=error)
            case "cancelled":
                return WorkState(work, "cancelled", since, error="the turn was cancelled")
            case _:
                gates = await self._engine.gates(conversation)
                return WorkState(work, "asking" if gates else "working", since, gates=gates)

    async def answer(self, work: str, gate: str, value: Json) -> None:
        conversation, _ = _parts(work)
        await self._check(conversation)
        await self._engine.answer(conversation, value, gate=gate)

    async def cancel(self, work: str) -> None:
        conversation, turn = _parts(work)
        await self._check(conversation)
        await (await self._engine.converse(self._name, conversation=conversation)).cancel(
            turn, "cancelled by an MCP client"
        )

    async def _check(self, conversation: str) -> None:
        if agent_of((await self._engine.get(conversation)).workflow) != self._name:
            raise unknown_work(conversation)


def _parts(work: str) -> tuple[str, int]:
    conversation, _, turn = work.partition("#")
    if not turn.isdecimal():
        raise unknown_work(work)
    return conversation, int(turn)


def _object_schema(schema: Schema | None) -> Schema:
    """A schema that says that it is of an object, as clients expect."""
    return {"type": "object", **(schema or {})}


def unknown_work(work: str) -> Refused:
    return Refused("unknown_run", f"there is no work '{work}' of what is exposed here", "check the id")


async def exposed_in(engine: Engine, names: Sequence[str]) -> dict[str, Exposed]:
    """What clients can call, by name. Raises Refused for a name that nothing has."""
    found: dict[str, Exposed] = {}
    for name in names:
        try:
            definition = definition_in(await engine.workflow(name), name)
            found[name] = ExposedWorkflow(engine, name, definition.description, definition.input_schema)
        except Refused as refused:
            if refused.code != "unknown_workflow":
                raise
            agent = (await engine.workflow(agent_bundle(name))).agents[name]
            found[name] = ExposedAgent(engine, name, agent.description)
    return found


def exposed_names(settings: Sequence[JsonObject]) -> list[str]:
    """The names under `mcp_server.expose` of a project's settings, of several in order."""
    found: list[str] = []
    for each in settings:
        server = each.get("mcp_server")
        names = server.get("expose") if isinstance(server, dict) else None
        found += [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return list(dict.fromkeys(found))


def wait_ms_of(settings: Sequence[JsonObject]) -> int | None:
    """How long a call waits for its work, as the first settings say that say so."""
    for each in settings:
        server = each.get("mcp_server")
        wait = server.get("wait_ms") if isinstance(server, dict) else None
        if isinstance(wait, int) and not isinstance(wait, bool):
            return wait
    return None
