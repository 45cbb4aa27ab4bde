"""The phases of a token that has not ended: each carries its own data and nothing else."""

from typing import ClassVar, Literal, TypeAlias

import msgspec

from jeton.model.ids import RunId
from jeton.model.json import Json

PhaseKind: TypeAlias = Literal["turn", "worker", "sleep", "timer", "retry", "subworkflow", "gate", "signal"]


class PhaseBase(msgspec.Struct, frozen=True):
    """What a phase says of itself, so that those who ask need not know every phase."""

    kind: ClassVar[PhaseKind]  # what the token waits for
    busy: ClassVar[bool] = False  # it moves by itself, or a worker has it
    work: ClassVar[Literal["task", "timer"] | None] = None  # what its node does meanwhile
    resumes_task: ClassVar[bool] = False  # at its time a worker is given the task, so not while the run is paused
    restarts_on_edit: ClassVar[bool] = False  # its work was asked for with the state as it was then
    outlives_branch: ClassVar[bool] = False  # it may finish when its branch is abandoned

    @property
    def wakes_at(self) -> int | None:
        """When it wants attention, at the latest."""
        return None

    @property
    def caption(self) -> str | None:
        """What it waits for, by the name that people gave it."""
        return None


class Pending(PhaseBase, frozen=True, tag="pending"):
    """Made, and not yet begun."""

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

    @property
    def wakes_at(self) -> int:
        return self.due

    @property
    def caption(self) -> str | None:
        return self.label


class Sleeping(PhaseBase, frozen=True, tag="sleeping"):
    """Its task asked to sleep: no worker has it until it is due, and then one is given the same attempt again."""

    kind: ClassVar[PhaseKind] = "sleep"
    work: ClassVar[Literal["task", "timer"] | None] = "task"
    resumes_task: ClassVar[bool] = True
    restarts_on_edit: ClassVar[bool] = True
    outlives_branch: ClassVar[bool] = True

    since: int
    due: int
    name: str  # of the sleep, which is the task's own

    @property
    def wakes_at(self) -> int:
        return self.due

    @property
    def caption(self) -> str:
        return self.name


class WaitingForRetry(PhaseBase, frozen=True, tag="waiting_for_retry"):
    """Failed, and to be tried again; the delay is an alarm, so no worker waits."""

    kind: ClassVar[PhaseKind] = "retry"
    resumes_task: ClassVar[bool] = True

    since: int
    due: int

    @property
    def wakes_at(self) -> int:
        return self.due


class WaitingForSubworkflow(PhaseBase, frozen=True, tag="waiting_for_subworkflow", omit_defaults=True):
    """Called another workflow, as a run of its own."""

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


class GateAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one person said."""

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


class WaitingForSignal(PhaseBase, frozen=True, tag="waiting_for_signal", omit_defaults=True):
    """Held until a signal of this name comes. `turn` says who came first, whatever was done to the clock."""

    kind: ClassVar[PhaseKind] = "signal"

    since: int
    name: str
    turn: int
    deadline: int | None = None
    label: str | None = None

    @property
    def wakes_at(self) -> int | None:
        return self.deadline

    @property
    def caption(self) -> str:
        return self.label or self.name


Phase: TypeAlias = (
    Pending
    | Dispatched
    | Executing
    | WaitingForTimer
    | Sleeping
    | WaitingForRetry
    | WaitingForSubworkflow
    | WaitingForGate
    | WaitingForSignal
)
"""`waiting_for_siblings` is not among them: a token that reached a fan-in is kept by its slot, as a number."""
