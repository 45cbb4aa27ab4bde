"""What a finished node writes, and whether the state's schema allows it."""

from jeton.model.json import Json
from jeton.model.paths import written
from jeton.model.state.run import RunState, Token
from jeton.planning.program.workflow import CompiledNode, Program
from jeton.planning.schema_problem import schema_problem


def default_writes(node: CompiledNode, token: Token, result: Json) -> dict[str, Json]:
    """The writes of a node without an output mapping: none, or in a branch its result."""
    if token.slot is None or node.definition.target is None:
        return {}
    return {"_branch.output": result}


def state_problem(program: Program, state: RunState, writes: dict[str, Json]) -> str | None:
    """The first write that the state's schema refuses, with path and reason. Only what is written is checked."""
    if program.workflow.state_schema is None:
        return None
    keys: dict[str, Json] = {}
    for path, value in writes.items():
        section, key, *below = path.split(".")
        if section == "state":
            before = keys.get(key, state.state.get(key))
            keys[key] = written({key: before}, [key, *below], value)[key]
    for key, value in keys.items():
        validator = program.state_validators.get(key)
        if validator is None:
            if not program.state_open:
                return f"state.{key}: the state schema has no '{key}'"
            continue
        problem = schema_problem(validator, value, f"state.{key}")
        if problem is not None:
            return problem
    return None
