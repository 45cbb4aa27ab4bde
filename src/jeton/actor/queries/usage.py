"""Credits and model tokens that a commit spent."""

from datetime import UTC, datetime

import msgspec

from jeton.model.decision import NoteTask, ReserveCredits, SettleCredits
from jeton.model.entry import Entry
from jeton.model.note import TokensNote


class CreditsSpent(msgspec.Struct, frozen=True):
    """Credits that a node took or gave back on a day."""

    node: str
    day: str
    credits: int
    shortfall: int


class TokensSpent(msgspec.Struct, frozen=True):
    """Tokens of a model that a node used on a day."""

    node: str
    day: str
    profile: str
    input: int
    output: int


def usage_in(entry: Entry) -> tuple[tuple[CreditsSpent, ...], tuple[TokensSpent, ...]]:
    """What the decisions of an entry spent, in order."""
    credits, tokens = list[CreditsSpent](), list[TokensSpent]()
    day = datetime.fromtimestamp(entry.at / 1000, UTC).date().isoformat()
    for decision in entry.decisions:
        match decision:
            case ReserveCredits(_, node, amount):
                credits.append(CreditsSpent(node, day, amount, 0))
            case SettleCredits(_, node, _, refund, shortfall):
                credits.append(CreditsSpent(node, day, -refund, shortfall))
            case NoteTask(_, node, _, TokensNote(_, profile, tokens_in, tokens_out)):
                tokens.append(TokensSpent(node, day, profile, tokens_in, tokens_out))
            case _:
                pass
    return tuple(credits), tuple(tokens)
