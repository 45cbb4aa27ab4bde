"""The tokens of a run as its journal tells them, in the shape the oracle shows.

The engine lets a token that reached a fan-in wait itself (ADR 3); the oracle makes one that waits at the target. Both
are told here as the oracle does, so that what became of each can be compared.
"""

from collections import Counter
from collections.abc import Iterable

from jeton.model import decision as d
from jeton.model.ids import GroupId, SlotId, TokenId
from jeton.model.state.ranges import numbers_in

Seen = Counter[tuple[str, str, str]]
"""How many tokens there are of each node, path and status."""


class TokenView:
    """Node and path of every token under way, and how those that ended did."""

    def __init__(self) -> None:
        self._places: dict[TokenId, tuple[str, str]] = {}
        self._failures: dict[TokenId, str] = {}
        self.ended: Seen = Counter()
        self.mixed = False  # whether inner slots reached a group at which another join was reached too
        self._slots: dict[TokenId, SlotId | None] = {}
        self._reached: dict[GroupId, set[str]] = {}
        self._from_inside: set[GroupId] = set()

    @property
    def alive(self) -> int:
        return len(self._places)

    def take(self, decisions: Iterable[d.Decision]) -> None:
        for decision in decisions:
            match decision:
                case d.CreateToken():
                    self._create(decision)
                case d.CreateTokens():
                    for creation in decision.tokens:
                        self._create(creation)
                case d.FailNode(token, error=error):
                    self._failures[token] = "timed_out" if error["type"] == "timed_out" else "failed"
                case d.RouteToken(token, ends=None):
                    node, path = self._places[token]
                    self.ended[node, path, self._failures.pop(token, "completed")] += 1
                case d.RouteToken(token, ends=str() as status):
                    self._end(token, status)
                case d.ParkToken(token, group, node):
                    self._places[token] = (node, self._places[token][1])
                    self._reach(token, group, node)
                case d.OpenFanIn():
                    for number in numbers_in(decision.tokens):
                        self._end(TokenId(number), "completed")
                case d.EndTokens():
                    for number in numbers_in(decision.tokens):
                        self._end(TokenId(number), decision.status)
                case _:
                    pass

    def _create(self, creation: d.CreateToken) -> None:
        self._places[creation.token] = (creation.node, creation.path)
        self._slots[creation.token] = creation.slot

    def _reach(self, token: TokenId, group: GroupId, node: str) -> None:
        self._reached.setdefault(group, set()).add(node)
        slot = self._slots[token]
        if slot is not None and slot[0] != group:
            self._from_inside.add(group)
        self.mixed = self.mixed or (group in self._from_inside and len(self._reached[group]) > 1)

    def _end(self, token: TokenId, status: str) -> None:
        node, path = self._places.pop(token)
        self.ended[node, path, status] += 1
