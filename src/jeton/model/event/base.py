"""What all facts share."""

import msgspec


class FactBase(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type"):
    """What happened, without when and where in the sequence."""
