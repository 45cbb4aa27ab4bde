"""Personas and agents built in Python: the same plain data as a YAML file, checked when they are deployed."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from jeton.engine.build.parts import Part, Parts, builder_error, definition_of, given_values
from jeton.engine.build.profile import ModelProfile
from jeton.engine.build.tool import Tool, ToolFunction
from jeton.executor import ActionFunction
from jeton.model.json import Json

ToolLike: TypeAlias = Tool | ActionFunction[..., Any] | str
"""A tool, a function with `@jeton.tool` or `@jeton.action`, or the name of a tool."""


class Persona:
    """A reusable character: instructions, a model, tools and limits. Without a name it has that of its agent."""

    def __init__(
        self,
        name: str | None = None,
        *,
        model_profile: ModelProfile | str,
        instructions: str | None = None,
        tools: Sequence[ToolLike] = (),
        context_assembly: Part | str | None = None,
        memory_extraction: Part | str | None = None,
        compaction: Part | str | None = None,
        memory: Mapping[str, Any] | None = None,
        recent_turns: int | None = None,
        max_moves_per_turn: int | None = None,
        max_parallel_tools: int | None = None,
        turn_timeout_ms: int | None = None,
        budget: Mapping[str, Any] | None = None,
        description: str | None = None,
    ) -> None:
        """`memory` and `budget` are as in a file: `{"types": ["fact"], "scope": "user"}`, `{"turn": 100}`."""
        self.name = name
        self._model_profile = model_profile
        self._tools = tuple(_tool(each, name) for each in tools)
        self._workflows: dict[str, Part | str | None] = {
            "context_assembly": context_assembly,
            "memory_extraction": memory_extraction,
            "compaction": compaction,
        }
        self._fields = given_values(
            instructions=instructions,
            memory=memory,
            recent_turns=recent_turns,
            max_moves_per_turn=max_moves_per_turn,
            max_parallel_tools=max_parallel_tools,
            turn_timeout_ms=turn_timeout_ms,
            budget=budget,
            description=description,
        )

    def collect_as(self, name: str, parts: Parts) -> None:
        """Add the persona, under this name, and what it refers to, to the content of a library file."""
        referred: dict[str, object] = {
            "model_profile": parts.refer(self._model_profile),
            "tools": [parts.refer(tool) for tool in self._tools] or None,
            **{key: parts.refer(part) for key, part in self._workflows.items() if part is not None},
        }
        parts.add("personas", name, {**self._fields, **given_values(**referred)})

    def __repr__(self) -> str:
        return f"<persona {self.name or 'without a name'}>"


class Agent:
    """An agent: a persona with a memory of its own."""

    def __init__(self, name: str, *, persona: Persona | str, description: str | None = None) -> None:
        self.name = name
        self._persona = persona
        self._description = description

    def definition(self) -> dict[str, Json]:
        """The agent, its persona, its tools and all they refer to, as the content of a library file."""
        return definition_of(self)

    def collect(self, parts: Parts) -> None:
        """Add the agent and all it refers to to the content of a library file."""
        persona = self._persona
        named = persona if isinstance(persona, str) else persona.name or self.name
        parts.add("agents", self.name, given_values(persona=named, description=self._description))
        if isinstance(persona, Persona):
            persona.collect_as(named, parts)

    def __repr__(self) -> str:
        return f"<agent {self.name}>"


def _tool(tool: object, persona: str | None) -> Tool | str:
    match tool:
        case str() | Tool():
            return tool
        case ActionFunction():
            return ToolFunction(cast("ActionFunction[..., Any]", tool))
        case _:
            what = "a plain function" if callable(tool) else f"of the type '{type(tool).__name__}'"
            path = f"personas.{persona or '…'}.tools"
            raise builder_error(path, f"has one that is {what}, not a tool", "write @jeton.tool above its definition")
