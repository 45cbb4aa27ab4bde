"""A run as decisions made it, and what one more decision changes."""

from jeton.apply.draft import Draft
from jeton.apply.fold import fold
from jeton.apply.timers import Timers
from jeton.model import decision as d
from jeton.model.effect import Effect
from jeton.model.ids import ROOT_PATH, GroupId, RunId, SlotId, TokenId
from jeton.model.state.credits import Purse
from jeton.model.state.run import Head, Parent, RunState, Segment, Token

NOW = 100
RUN, CHILD, PARENT = RunId("r"), RunId("r.0"), RunId("p")
T0, T1, T2 = TokenId(0), TokenId(1), TokenId(2)
GROUP = GroupId(0)
BORN_OF = Parent(PARENT, TokenId(7), PARENT, 1)

BEGIN = d.BeginRun(10, {"n": 1})
CREATE = d.CreateToken(T0, "a", ROOT_PATH)
DISPATCH = d.DispatchToken(T0, "a", 20, 1020)
STARTED = (BEGIN, CREATE)
DISPATCHED = (*STARTED, DISPATCH)
CALLED = (*STARTED, d.CallWorkflow(T0, "a", 20, CHILD, "child", {"x": 1}, 70))
FANNED_OUT = (
    *STARTED,
    d.RouteToken(T0, "a", "completed"),
    d.OpenGroup(GROUP, "a", "a", T0, ROOT_PATH, 2, (Segment(0, 0, 2),)),
    d.CreateTokens(
        (d.CreateToken(T1, "b", "root.b.0", T0, (GROUP, 0)), d.CreateToken(T2, "b", "root.b.1", T0, (GROUP, 1)))
    ),
)
PARKED = (*FANNED_OUT, d.RouteToken(T1, "b"), d.ParkToken(T1, GROUP, "c", 1))
ARRIVED = (*PARKED, d.SettleSlot((GROUP, 0), 30, "c", 1, 90, "one"))


def paying(free: int, account: RunId | None = None) -> d.BeginRun:
    """The beginning of a run that pays for its nodes."""
    return d.BeginRun(10, {"n": 1}, purse=Purse(account, free))


class Folded:
    """What a run is after some decisions, and what the last of them asked for."""

    def __init__(self, *decisions: d.Decision) -> None:
        state = RunState(Head(RUN, "w"))
        self.draft = Draft(state, Timers(state))
        self.draft.begin(NOW)
        for decision in decisions[:-1]:
            fold(self.draft, decision)
        self.draft.effects.clear()
        self.draft.urgent.clear()
        self.draft.ready.clear()
        fold(self.draft, decisions[-1])

    @property
    def state(self) -> RunState:
        return self.draft.state

    @property
    def head(self) -> Head:
        return self.draft.state.head

    @property
    def effects(self) -> list[Effect]:
        return self.draft.effects

    @property
    def purse(self) -> Purse:
        assert self.head.purse is not None
        return self.head.purse

    def token(self, token: TokenId = T0) -> Token:
        return self.state.tokens[token]

    def due(self) -> int | None:
        return self.draft.timers.next_due()

    def slots(self) -> list[SlotId]:
        return list(self.state.slots)
