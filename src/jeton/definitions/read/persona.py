"""Personas and agents: plain data into the model."""

from jeton.definitions.read.fields import Fields, check_name, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, kind, shown
from jeton.model.definition.agent import (
    DEFAULT_MAX_MOVES,
    DEFAULT_PARALLEL_TOOLS,
    DEFAULT_RECALL,
    DEFAULT_RECENT_TURNS,
    Agent,
    Budget,
    MemoryPolicy,
    MemoryType,
    Persona,
)
from jeton.model.json import Json

PERSONA_KEYS = (
    "instructions", "model_profile", "tools", "context_assembly", "memory_extraction", "compaction", "memory",
    "recent_turns", "max_moves_per_turn", "max_parallel_tools", "turn_timeout_ms", "budget", "description", "tags",
)  # fmt: skip
PERSONA_HINTS = {
    "name": "remove it: the key above is the name",
    "model": "write 'model_profile', the name of one under 'model_profiles:'",
    "system": "write 'instructions'",
    "prompt": "write 'instructions'",
    "max_moves": "write 'max_moves_per_turn'",
    "timeout_ms": "write 'turn_timeout_ms'",
}
AGENT_KEYS = ("persona", "description", "tags")
AGENT_HINTS = {
    "name": "remove it: the key above is the name",
    **{key: "write it in the persona" for key in PERSONA_KEYS if key not in AGENT_KEYS},
}
MEMORY_KEYS = ("types", "scope", "recall")
BUDGET_KEYS = ("turn", "conversation", "agent_day", "on_empty")


def read_persona(name: str, value: Json, location: SourceLocation, report: Report) -> Persona:
    """Read a persona. If it cannot be read, it has no model."""
    fields = fields_of(value, location, report, PERSONA_KEYS, "a persona", PERSONA_HINTS)
    if fields is None:
        return Persona(name, "")
    if "model" not in fields:  # which has a hint that says so
        fields.require("model_profile")
    instructions = fields.value("instructions", "")
    if not isinstance(instructions, str):
        fields.wrong("instructions", "a text")
        instructions = ""
    _check_twice(fields)
    return Persona(
        name=name,
        model_profile=fields.text("model_profile") or "",
        instructions=instructions,
        tools=fields.texts("tools"),
        context_assembly=fields.text("context_assembly"),
        memory_extraction=fields.text("memory_extraction"),
        compaction=fields.text("compaction"),
        memory=_memory(fields),
        recent_turns=fields.integer("recent_turns", at_least=1) or DEFAULT_RECENT_TURNS,
        max_moves_per_turn=fields.integer("max_moves_per_turn", at_least=1) or DEFAULT_MAX_MOVES,
        max_parallel_tools=fields.integer("max_parallel_tools", at_least=1) or DEFAULT_PARALLEL_TOOLS,
        turn_timeout_ms=fields.integer("turn_timeout_ms", at_least=1),
        budget=_budget(fields),
        description=fields.text("description"),
        tags=fields.texts("tags"),
    )


def read_agent(name: str, value: Json, location: SourceLocation, report: Report) -> Agent:
    """Read an agent. If it cannot be read, it has no persona."""
    fields = fields_of(value, location, report, AGENT_KEYS, "an agent", AGENT_HINTS)
    if fields is None:
        return Agent(name, "")
    fields.require("persona")
    return Agent(name, fields.text("persona") or "", fields.text("description"), fields.texts("tags"))


def _check_twice(fields: Fields) -> None:
    """Report a tool that is listed twice."""
    seen: set[str] = set()
    tools = fields.value("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        if isinstance(tool, str) and tool in seen:
            problem = f"{shown(tool)} is listed a second time"
            fields.report.error(fields.location("tools") / index, "duplicate_name", problem, "remove it")
        elif isinstance(tool, str):
            seen.add(tool)


def _memory(fields: Fields) -> MemoryPolicy | None:
    inner = fields.inner("memory", MEMORY_KEYS, "'memory'")
    if inner is None:
        return None
    recall = inner.integer("recall", at_least=0)
    return MemoryPolicy(
        types=_memory_types(inner),
        scope=inner.choice("scope", "agent", "user"),
        recall=DEFAULT_RECALL if recall is None else recall,
    )


def _memory_types(fields: Fields) -> dict[str, MemoryType]:
    """A list of names, or an object with what is known of each type."""
    written = fields.value("types")
    location = fields.location("types")
    if isinstance(written, list):
        for index, name in enumerate(fields.texts("types")):
            check_name(name, location / index, fields.report)
        return {name: MemoryType() for name in fields.texts("types")}
    if "types" in fields and not isinstance(written, dict):
        problem = f"is {kind(written)}, but must be a list of names"
        remedy = "write '[fact, preference]', or '{fact: {schema: …}}'"
        fields.report.error(location, "wrong_type", problem, remedy)
        return {}
    found: dict[str, MemoryType] = {}
    for name, value in (fields.object("types") or {}).items():
        check_name(name, location / name, fields.report)
        inner = fields_of(
            {} if value is None else value, location / name, fields.report, ("schema", "description"), "a memory type"
        )
        found[name] = MemoryType() if inner is None else MemoryType(inner.schema("schema"), inner.text("description"))
    return found


def _budget(fields: Fields) -> Budget | None:
    inner = fields.inner("budget", BUDGET_KEYS, "'budget'")
    if inner is None:
        return None
    return Budget(
        turn=inner.integer("turn", at_least=1),
        conversation=inner.integer("conversation", at_least=1),
        agent_day=inner.integer("agent_day", at_least=1),
        on_empty=inner.choice("on_empty", "end", "ask"),
    )
