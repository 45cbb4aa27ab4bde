"""What a host does for a run, and the nine laws it does it by.

1. Batches of one run never overlap.
2. A commit is all or nothing.
3. An accepted message takes part in exactly one commit.
4. A task runs at least once; its result counts once, by token and attempt.
5. One alarm per run, never early; the run ignores stale ones.
6. No order between senders is promised.
7. Replaying a batch gives the same commit: time and identity come in with the message.
8. After the outcome, messages are no-ops.
9. Nothing leaves (effect, reply, event) before its commit is durable.

Each law has a test that kills, repeats or reorders. A host holds no rule of the graph: it may fulfil this port on
SQLite, on a cluster or on a virtual clock, and the runs cannot tell.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from jeton.actor.run_actor import Commit, LiveRun
from jeton.actor.sections import Sections, encode_sections
from jeton.model.definition.task import Suspended, Task
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask, StopTask
from jeton.model.entry import Entry
from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import Message
from jeton.model.note import Note
from jeton.model.state.run import FiredBy, Fork, Head, Parent, RunStatus

_encode_entry = msgspec.json.Encoder().encode
_decode_entry = msgspec.json.Decoder(Entry).decode


class RunRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """What queries see of a run without loading it."""

    run: RunId
    workflow: str
    version: int
    status: RunStatus
    paused: bool
    submitted_at: int
    started_at: int | None
    ended_at: int | None
    wake: int | None
    entries: int
    error: RunError | None = None
    output: Json = None
    parent: Parent | None = None
    forked: Fork | None = None
    trigger: FiredBy | None = None


class Stored(msgspec.Struct, frozen=True):
    """A commit as a host writes it: one journal entry, the sections that changed, the run's row.

    The head is the run's own: what it says is this commit's until the run takes its next batch."""

    head: Head
    wake: int | None
    number: int
    entry: bytes
    sections: Sections

    @property
    def row(self) -> RunRow:
        """What queries are to see. Made when it is asked for, because most commits change little of it."""
        head = self.head
        return RunRow(
            run=head.run,
            workflow=head.workflow,
            version=head.version,
            status=head.status,
            paused=head.paused,
            submitted_at=head.submitted_at,
            started_at=head.started_at,
            ended_at=head.ended_at,
            wake=self.wake,
            entries=head.entries,
            error=head.error,
            output=None if head.result is msgspec.UNSET else head.result,
            parent=head.parent,
            forked=head.forked,
            trigger=head.trigger,
        )


class Port(Protocol):
    """A host, as the road of a message needs it."""

    def load(self, run: RunId) -> Mapping[str, bytes] | None:
        """The sections of the last durable commit, or None for a run nobody started."""
        ...

    def commit(self, stored: Stored) -> None:
        """Make all of it durable at once, together with the messages it answers and those it sends to other runs.

        Those lie in the inboxes they are for from then on; a start makes its run."""
        ...

    def start_task(self, run: RunId, effect: StartTask) -> None:
        """After the commit: give the task to a worker, unless one has this very attempt already."""
        ...

    def stop_task(self, run: RunId, effect: StopTask) -> None:
        """After the commit: nobody waits for this attempt any more."""
        ...

    def wake(self, run: RunId, at: int | None) -> None:
        """After the commit: the one time the run wants an alarm."""
        ...

    def deliver(self, run: RunId, message: Message) -> None:
        """Keep a message for the run until a commit has answered it."""
        ...


class Workers(Protocol):
    """The executor, as a host needs it. Every call is made, and answered, on the host's event loop."""

    def missing(self, task: Task, bundle: Library) -> str | None:
        """Which function of the task cannot be found here, if any: such a run is parked (`needs_app`), not failed."""
        ...

    def start(
        self,
        run: RunId,
        effect: StartTask,
        task: Task,
        bundle: Library,
        started: Callable[[], None],
        noted: Callable[[Note], None],
        finished: Callable[[Json | TaskFailed | Suspended], None],
    ) -> None:
        """Run one attempt; `finished` is called once, unless the attempt is stopped before.

        One that sleeps is finished with too: it is to be started again when it is due, as the same attempt.

        What is `noted` is bounded here: how often it is called for an attempt, and with how much."""
        ...

    def stop(self, run: RunId, effect: StopTask) -> None:
        """End the attempt if it is still going; its result is of no use any more."""
        ...

    async def close(self, grace_s: float) -> None:
        """Let what runs finish within the grace time, and stop the rest."""
        ...


def stored(run: LiveRun, commit: Commit) -> Stored | None:
    """What a host writes for a commit; None when the batch changed nothing."""
    if commit.entry is None:
        return None
    sections = encode_sections(run.state, commit.touched)
    return Stored(run.state.head, commit.wake, commit.entry.number, _encode_entry(commit.entry), sections)


def encode_entry(entry: Entry) -> bytes:
    """A journal entry as it is written."""
    return _encode_entry(entry)


def decode_entry(body: bytes) -> Entry:
    """A journal entry as it was written."""
    return _decode_entry(body)
