"""What all decisions share."""

import msgspec


class DecisionBase(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="do"):
    """What planning says should change; not yet true."""
