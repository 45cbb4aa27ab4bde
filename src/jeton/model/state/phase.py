"""The phases of a token that has not ended: each carries its own data and nothing else."""

from typing import ClassVar, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from jeton.model.ids import RunId
from jeton.model.json import Json, Schema

PhaseKind: TypeAlias = Literal["turn", "worker", "sleep", "timer", "retry", "subworkflow", "agent", "gate", "signal"]


class PhaseBase(msgspec.Struct, frozen=True):
    """What every phase answers, so that callers need not list all phases."""

    kind: ClassVar[PhaseKind]  # what the token waits for
    busy: ClassVar[bool] = False  # it is about to begin, or a worker has it
    work: ClassVar[Literal["task", "timer"] | None] = None  # what its node is doing
    resumes_task: ClassVar[bool] = False  # when due, its task is handed to a worker, so not in a paused run
    restarts_on_edit: ClassVar[bool] = False  # in a fork with an edited state its work begins again
    outlives_branch: ClassVar[bool] = False  # it may finish when its branch is abandoned

    @property
    def wakes_at(self) -> int | None:
        """When the run must look at the token, at the latest."""
        return None

    @property
    def is_point(self) -> bool:
        """Whether `wakes_at` is a point in time, by the system clock, and not the end of a length of time."""
        return False

    @property
    def caption(self) -> str | None:
        """The label, title or name of what it waits for."""
        return None


class Pending(PhaseBase, frozen=True, tag="pending"):
    """Created, not yet begun."""

    kind: ClassVar[PhaseKind] = "turn"
    busy: ClassVar[bool] = True


class _WithWorker(PhaseBase, frozen=True):
    kind: ClassVar[PhaseKind] = "worker"
    busy: ClassVar[bool] = True
    work: ClassVar[Literal["task", "timer"] | None] = "task"
    restarts_on_edit: ClassVar[bool] = True
    outlives_branch: ClassVar[bool] = True

    since: int
    deadline: int
    deliveries: int = 1

    @property
    def wakes_at(self) -> int:
        return self.deadline


class Dispatched(_WithWorker, frozen=True, tag="dispatched"):
    """Handed to the executor, which has not said that it began. At `deadline` it is handed out again."""

    resumes_task: ClassVar[bool] = True


class Executing(_WithWorker, frozen=True, tag="executing"):
    """A worker said that it began."""


class WaitingForTimer(PhaseBase, frozen=True, tag="waiting_for_timer", omit_defaults=True):
    """Held until a time."""

    kind: ClassVar[PhaseKind] = "timer"
    work: ClassVar[Literal["task", "timer"] | None] = "timer"
    outlives_branch: ClassVar[bool] = True

    since: int
    due: int
    label: str | None = None
    wall: bool = False  # `due` is a point in time, by the system clock

    @property
    def wakes_at(self) -> int:
        return self.due

    @property
    def is_point(self) -> bool:
        return self.wall

    @property
    def caption(self) -> str | None:
        return self.label


class Sleeping(PhaseBase, frozen=True, tag="sleeping"):
    """Its task sleeps. No worker has it; when due, the same attempt is handed to one."""

    kind: ClassVar[PhaseKind] = "sleep"
    work: ClassVar[Literal["task", "timer"] | None] = "task"
    resumes_task: ClassVar[bool] = True
    restarts_on_edit: ClassVar[bool] = True
    outlives_branch: ClassVar[bool] = True

    since: int
    due: int
    name: str  # of the sleep, unique in its task

    @property
    def wakes_at(self) -> int:
        return self.due

    @property
    def caption(self) -> str:
        return self.name


class WaitingForRetry(PhaseBase, frozen=True, tag="waiting_for_retry"):
    """Its task failed and is retried when due."""

    kind: ClassVar[PhaseKind] = "retry"
    resumes_task: ClassVar[bool] = True

    since: int
    due: int

    @property
    def wakes_at(self) -> int:
        return self.due


class WaitingForSubworkflow(PhaseBase, frozen=True, tag="waiting_for_subworkflow", omit_defaults=True):
    """It called another workflow, which is a run of its own."""

    kind: ClassVar[PhaseKind] = "subworkflow"
    restarts_on_edit: ClassVar[bool] = True
    outlives_branch: ClassVar[bool] = True

    since: int
    child: RunId
    workflow: str  # as the node names it
    deadline: int | None = None
    inherit_artifacts: bool = False

    @property
    def wakes_at(self) -> int | None:
        return self.deadline

    @property
    def caption(self) -> str:
        return self.workflow


class WaitingForAgent(PhaseBase, frozen=True, tag="waiting_for_agent", omit_defaults=True):
    """It asked an agent, and waits for the end of the turn."""

    kind: ClassVar[PhaseKind] = "agent"
    restarts_on_edit: ClassVar[bool] = True
    outlives_branch: ClassVar[bool] = True

    since: int
    conversation: RunId
    agent: str
    deadline: int | None = None

    @property
    def wakes_at(self) -> int | None:
        return self.deadline

    @property
    def caption(self) -> str:
        return self.agent


class GateAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer to a gate."""

    value: Json
    by: str | None = None


class WaitingForGate(PhaseBase, frozen=True, tag="waiting_for_gate", omit_defaults=True):
    """Held until enough people have answered."""

    kind: ClassVar[PhaseKind] = "gate"

    since: int
    title: str
    deadline: int | None = None
    answers: tuple[GateAnswer, ...] = ()

    @property
    def wakes_at(self) -> int | None:
        return self.deadline

    @property
    def caption(self) -> str:
        return self.title


class Asking(WaitingForGate, frozen=True, tag="asking", omit_defaults=True):
    """Its task has asked people something. No worker has it; with the answer, the same attempt is handed to one."""

    work: ClassVar[Literal["task", "timer"] | None] = "task"
    restarts_on_edit: ClassVar[bool] = True

    schema: Schema | None = None  # of the answer


class Continuation(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a task left behind when it gave its worker back, for the worker that continues it."""

    number: int  # how often the attempt gave its worker back, with this time
    state: Json = None
    answer: Json | UnsetType = UNSET  # unset: it asked nobody, or nobody has answered


class WaitingForSignal(PhaseBase, frozen=True, tag="waiting_for_signal", omit_defaults=True):
    """Held until a signal of this name comes, or the first of several: then `name` is empty.

    `turn` gives the order of waiters, independent of the clock."""

    kind: ClassVar[PhaseKind] = "signal"

    since: int
    name: str
    turn: int
    deadline: int | None = None
    label: str | None = None
    names: tuple[str, ...] = ()

    @property
    def hears(self) -> tuple[str, ...]:
        """The signals that wake it."""
        return self.names or (self.name,)

    @property
    def wakes_at(self) -> int | None:
        return self.deadline

    @property
    def caption(self) -> str:
        return self.label or ", ".join(self.hears)


Phase: TypeAlias = (
    Pending
    | Dispatched
    | Executing
    | WaitingForTimer
    | Sleeping
    | WaitingForRetry
    | WaitingForSubworkflow
    | WaitingForAgent
    | WaitingForGate
    | Asking
    | WaitingForSignal
)
"""Waiting for siblings is not a phase: a token that reached a fan-in is kept by its slot, as a number."""
