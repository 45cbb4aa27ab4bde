"""Where a mapped value lands, and what the tree around it looks like afterwards."""

from jeton.model.json import Json, JsonObject


def branch_keys(path: str) -> list[str]:
    """`state.x`, `output.x` and `_branch.output.x` all land at `x` of a branch's output."""
    keys = path.split(".")
    return keys[2:] if keys[0] == "_branch" else keys[1:]


def written(tree: JsonObject, keys: list[str], value: Json) -> JsonObject:
    """The tree with one value replaced. What is not on the way is shared, so a write costs its own path."""
    if not keys:
        return {**tree, **value} if isinstance(value, dict) else {**tree, "result": value}
    key, rest = keys[0], keys[1:]
    if not rest:
        return {**tree, key: value}
    below = tree.get(key)
    return {**tree, key: written(below if isinstance(below, dict) else {}, rest, value)}
