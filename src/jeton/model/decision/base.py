"""The base class of decisions."""

import msgspec


class DecisionBase(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="do"):
    """A change that planning decided and that is not yet applied."""
