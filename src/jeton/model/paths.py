"""Writing mapped values into JSON objects by path."""

from jeton.model.json import Json, JsonObject


def branch_keys(path: str) -> list[str]:
    """The keys of a path inside a branch's output: `state.x`, `output.x` and `_branch.output.x` all write `x`."""
    keys = path.split(".")
    return keys[2:] if keys[0] == "_branch" else keys[1:]


def written(tree: JsonObject, keys: list[str], value: Json) -> JsonObject:
    """A copy of the tree with one value replaced. Everything off the path is shared."""
    if not keys:
        return {**tree, **value} if isinstance(value, dict) else {**tree, "result": value}
    key, rest = keys[0], keys[1:]
    if not rest:
        return {**tree, key: value}
    below = tree.get(key)
    return {**tree, key: written(below if isinstance(below, dict) else {}, rest, value)}
