"""What survives a crash: bytes, and nothing but bytes."""

import hashlib
from collections.abc import Iterable
from functools import reduce

import msgspec

from jeton.actor.firings import settle_firing
from jeton.actor.journal import first_hash, next_hash
from jeton.actor.rows import FiringRow, RunRow
from jeton.actor.turn import Turn
from jeton.executor.event_sink import ActionEvent
from jeton.model.ids import RunId
from jeton.model.message import CreditsAsked, CreditsClosed, Message, StartRun
from jeton.model.state.credits import ACCOUNT
from jeton.model.state.run import TERMINAL
from jeton.planning.credits import serve
from jeton.planning.triggers.firing import Planned

_encode = msgspec.json.Encoder().encode
_row = msgspec.json.Decoder(RunRow)
_message = msgspec.json.Decoder(Message)
_emitted = msgspec.json.Decoder(ActionEvent)
_firing = msgspec.json.Decoder(FiringRow)


class Store:
    """Sections, journals, rows and inboxes, by run. Every method is one transaction."""

    def __init__(self) -> None:
        self._sections: dict[RunId, dict[str, bytes]] = {}
        self._journals: dict[RunId, list[bytes]] = {}
        self._hashes: dict[RunId, bytes] = {}
        self._rows: dict[RunId, bytes] = {}
        self._inboxes: dict[RunId, dict[int, bytes]] = {}
        self._workflows: dict[RunId, str] = {}
        self._accepted = 0
        self.balance = 0  # of the project's account
        self.grants: dict[RunId, int] = {}
        self.awaited: frozenset[str] = frozenset()  # workflows whose ends triggers wait for
        self.published: dict[str, bytes] = {}  # events, by id
        self.heard = 0  # how many of them triggers were told of
        self.finished: list[RunId] = []  # ends that triggers were not told of
        self._fired: dict[tuple[str, str], bytes] = {}  # by trigger and delivery
        self._history = hashlib.sha256()

    def submit(self, run: RunId, workflow: str) -> None:
        """A run by name, before its first message."""
        self._workflows[run] = workflow
        self._inboxes.setdefault(run, {})

    def accept(self, run: RunId, message: Message) -> int:
        """Keep a message until a commit has answered it."""
        number = self._accepted
        self._accepted += 1
        self._inboxes[run][number] = _encode(message)
        return number

    def commit(self, turn: Turn, answered: Iterable[int], own: Message | None) -> None:
        """All of it: the entry, the sections, the row, the messages that are answered, and those to runs."""
        run = turn.head.run
        self.answer(run, answered)
        if turn.entry is None:
            return
        sections = self._sections.setdefault(run, {})
        for name, body in turn.sections.items():
            if body is None:
                sections.pop(name, None)
            else:
                sections[name] = body
        self._journals.setdefault(run, []).append(turn.entry.body)
        self._hashes[run] = turn.hash
        self._rows[run] = _encode(turn.row)
        self._remember(run, turn, turn.entry.body)
        if turn.head.ended and turn.head.workflow in self.awaited:
            self.finished.append(run)
        if own is not None:
            self.accept(run, own)
        for effect in turn.messages:
            if effect.run == ACCOUNT and isinstance(effect.message, CreditsAsked | CreditsClosed):
                self._ask_account(effect.message)
                continue
            if isinstance(effect.message, StartRun) and effect.run not in self._workflows:
                self.submit(effect.run, (effect.message.workflow or "").partition("@")[0])
            self.accept(effect.run, effect.message)

    def _ask_account(self, message: CreditsAsked | CreditsClosed) -> None:
        """The account answers in the commit that asks it."""
        granted = self.grants.pop(message.run, 0)
        self.balance, granted, told = serve(self.balance, granted, message)
        if granted:
            self.grants[message.run] = granted
        if told is not None:
            self.accept(message.run, told)

    def publish(self, emitted: ActionEvent) -> None:
        """Keep an event; the same one again is the same one."""
        self.published.setdefault(emitted.id, _encode(emitted))

    def see_to(self, planned: Iterable[Planned], heard: int, ended: Iterable[RunId]) -> list[RunId]:
        """Settle deliveries, together with how far that brings their triggers. Returns the runs that have messages."""
        told: list[RunId] = []
        for each in planned:
            place = each.trigger.name, each.delivery.id
            known = _firing.decode(self._fired[place]) if place in self._fired else None
            name = RunId(f"{each.trigger.start}-{len(self._workflows)}")
            settled = settle_firing(each, known, disabled=False, run=name)
            if not settled.new:
                continue
            self._fired[place] = _encode(settled.row)
            self._history.update(self._fired[place])
            if settled.start is not None and isinstance(settled.start.message, StartRun):
                self.submit(settled.start.run, (settled.start.message.workflow or "").partition("@")[0])
                self.accept(settled.start.run, settled.start.message)
                told.append(settled.start.run)
            if settled.to_cause is not None and not self.has_ended(settled.to_cause.run):
                self.accept(settled.to_cause.run, settled.to_cause.message)
                told.append(settled.to_cause.run)
        self.heard = heard
        self.finished = [run for run in self.finished if run not in set(ended)]
        return told

    def share(self, run: RunId, of: RunId, journal: list[bytes], sections: dict[str, bytes]) -> None:
        """A new run that begins with another's history."""
        self.submit(run, self._workflows[of])
        self._journals[run] = list(journal)
        self._hashes[run] = reduce(next_hash, journal, first_hash(run))
        self._sections[run] = dict(sections)

    def answer(self, run: RunId, answered: Iterable[int]) -> None:
        """These messages changed nothing, or their commit is being written."""
        for number in answered:
            del self._inboxes[run][number]

    def _remember(self, run: RunId, turn: Turn, entry: bytes) -> None:
        self._history.update(run.encode())
        self._history.update(entry)
        self._history.update(self._rows[run])
        for name, body in turn.sections.items():
            self._history.update(name.encode())
            self._history.update(body or b"")

    def last_hash(self, run: RunId) -> bytes:
        """The hash of the run's last entry."""
        return self._hashes.get(run) or first_hash(run)

    def runs(self) -> tuple[RunId, ...]:
        """Every run anybody ever named."""
        return tuple(self._workflows)

    def workflow(self, run: RunId) -> str:
        """What the run is a run of."""
        return self._workflows[run]

    def sections(self, run: RunId) -> dict[str, bytes] | None:
        """A copy of what an actor loads; None for a run without a commit."""
        found = self._sections.get(run)
        return None if found is None else dict(found)

    def journal(self, run: RunId) -> list[bytes]:
        """Every entry, oldest first."""
        return list(self._journals.get(run, ()))

    def row(self, run: RunId) -> RunRow | None:
        """What queries see."""
        found = self._rows.get(run)
        return None if found is None else _row.decode(found)

    def has_ended(self, run: RunId) -> bool:
        """Whether nothing more can be told to it."""
        row = self.row(run)
        return row is not None and row.status in TERMINAL

    def events(self, after: int) -> list[ActionEvent]:
        """What was published behind the first so many, oldest first."""
        return [_emitted.decode(body) for body in list(self.published.values())[after:]]

    def firings(self) -> list[FiringRow]:
        """What became of each delivery to a trigger, oldest first."""
        return [_firing.decode(body) for body in self._fired.values()]

    def inbox(self, run: RunId) -> dict[int, Message]:
        """The messages no commit has answered yet, in the order they were accepted."""
        return {number: _message.decode(body) for number, body in self._inboxes[run].items()}

    def digest(self) -> str:
        """A hash of every byte that was ever committed, in order."""
        return self._history.hexdigest()
