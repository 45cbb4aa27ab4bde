"""The base class of facts."""

import msgspec


class FactBase(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type"):
    """What happened, without its time and number."""
