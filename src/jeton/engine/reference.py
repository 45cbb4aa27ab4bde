"""How a workflow is named: `panel` is the newest version, `panel@3` the third."""

from jeton.model.failure import Refused


def parts_of(reference: str) -> tuple[str, int | None]:
    """The name, and the version if one is given."""
    name, at, version = reference.partition("@")
    if at and not version.isdecimal():
        raise Refused("bad_reference", f"'{reference}' names no version", f"write '{name}' or '{name}@3'")
    return name, int(version) if at else None
