"""What survives a crash: bytes and rows, and nothing else."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from jeton.actor.accounts import day_account, day_request, serve_day_account
from jeton.actor.firings import settle_firing, started_workflow
from jeton.actor.journal import JournalEntry, decode_entry, first_hash
from jeton.actor.rows import Account, FiringRow, RunRow
from jeton.actor.starts import StartKey
from jeton.actor.turn import Turn
from jeton.hosts.simulated.memory.definitions import Definitions
from jeton.hosts.simulated.memory.line import Line
from jeton.hosts.simulated.memory.tables import Tables
from jeton.hosts.simulated.memory.triggers import TriggerStore
from jeton.model.effect import SendMessage
from jeton.model.entry import Entry
from jeton.model.ids import RunId
from jeton.model.message import BudgetAsked, BudgetSettled, CreditsAsked, CreditsClosed, Message, StartRun
from jeton.model.state.credits import ACCOUNT
from jeton.model.state.run import TERMINAL
from jeton.planning.credits import serve
from jeton.planning.triggers.firing import Planned

_encode = msgspec.json.Encoder().encode
_row = msgspec.json.Decoder(RunRow)
_message = msgspec.json.Decoder(Message)


class Store:
    """Sections, journals, rows and inboxes, by run. Every method is one transaction."""

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self.tables = Tables()
        self.triggers = TriggerStore()
        self._sections: dict[RunId, dict[str, bytes]] = {}
        self._journals: dict[RunId, list[bytes]] = {}
        self._hashes: dict[RunId, bytes] = {}
        self._rows: dict[RunId, bytes] = {}
        self._inboxes: dict[RunId, dict[int, bytes]] = {}
        self._versions: dict[RunId, tuple[str, int]] = {}  # of every run, in the order they were submitted
        self._forks: dict[RunId, tuple[JournalEntry, ...]] = {}  # shared history of forks without a commit
        self._keys: dict[tuple[str, str], StartKey] = {}
        self._accepted = 0
        self._declared: int | None = None  # the balance that the project's settings declare
        self.balance = 0  # of the project's account
        self.grants: dict[RunId, int] = {}
        self.days: dict[str, tuple[int, int]] = {}  # by agent and day: used, in millionths; credits that were added
        self.busy: set[RunId] = set()  # runs with something in work, or moving by itself
        self.line = Line()
        self._history = hashlib.sha256()

    # writing

    def submit(self, run: RunId, workflow: str, version: int, key: StartKey | None = None) -> None:
        """Store a run by name, before its first message."""
        self._versions[run] = workflow, version
        self._inboxes.setdefault(run, {})
        if key is not None:
            self._keys[key.workflow, key.key] = key

    def submit_fork(self, run: RunId, workflow: str, version: int, shared: tuple[JournalEntry, ...]) -> None:
        """Store a run by name, with the history that its first turn shares."""
        self.submit(run, workflow, version)
        self._forks[run] = shared

    def accept(self, run: RunId, message: Message) -> int:
        """Keep a message until a commit has answered it."""
        number = self._accepted
        self._accepted += 1
        self._inboxes[run][number] = _encode(message)
        return number

    def stamp_waiting(self, now: int) -> None:
        """Give waiting messages the time of their delivery: an earlier process may have had another clock."""
        for waiting in self._inboxes.values():
            for number, body in waiting.items():
                waiting[number] = _encode(msgspec.structs.replace(_message.decode(body), at=now))

    def answer(self, run: RunId, answered: Iterable[int]) -> None:
        """Remove messages whose commit is being written."""
        for number in answered:
            del self._inboxes[run][number]

    def commit(
        self,
        turn: Turn,
        answered: Iterable[int],
        own: Message | None,
        sent: Iterable[SendMessage],
        started: Mapping[RunId, tuple[str, int]],
    ) -> None:
        """Store all of a turn: entry, sections, row, what queries see, messages that it answers, and those it sends.

        `started` are the workflow and version of the runs that `sent` starts."""
        run = turn.head.run
        self.answer(run, answered)
        if turn.entry is None:
            self._send(sent)
            return
        self._forks.pop(run, None)
        sections = self._sections.setdefault(run, {})
        for name, body in turn.sections.items():
            if body is None:
                sections.pop(name, None)
            else:
                sections[name] = body
        for each in (*turn.shared, turn.entry):
            self._journals.setdefault(run, []).append(each.body)
            self.line.append(run, each.number)
        self._hashes[run] = turn.hash
        self._rows[run] = _encode(turn.row)
        (self.busy.add if turn.head.busy and not turn.ended else self.busy.discard)(run)
        self._remember(run, turn, turn.entry.body)
        self.tables.write(turn)
        if turn.ended:
            self.triggers.note_end(turn.row)
        if own is not None:
            self.accept(run, own)
        for reference, version in started.items():
            if reference not in self._versions:
                self.submit(reference, *version)
        self._send(sent)

    def _send(self, sent: Iterable[SendMessage]) -> None:
        for effect in sent:
            if effect.run == ACCOUNT and isinstance(effect.message, CreditsAsked | CreditsClosed):
                self._ask_account(effect.message)
            elif (request := day_request(effect)) is not None:
                self._ask_day(request)
            else:
                self.accept(effect.run, effect.message)

    def _ask_account(self, message: CreditsAsked | CreditsClosed) -> None:
        """The account answers in the commit that asks it."""
        granted = self.grants.pop(message.run, 0)
        self.balance, granted, told = serve(self.balance, granted, message)
        if granted:
            self.grants[message.run] = granted
        if told is not None:
            self.accept(message.run, told)

    def _ask_day(self, request: BudgetAsked | BudgetSettled) -> None:
        """The account of an agent and day answers in the commit that asks it, too."""
        name = day_account(request)
        served = serve_day_account(*self.days.get(name, (0, 0)), request)
        self.days[name] = served.used, served.added
        if served.answer is not None:
            self.accept(served.answer.run, served.answer.message)

    def open_account(self, declared: int) -> None:
        """Open the project's account, or change what its settings declare by the difference."""
        self.balance = max(0, self.balance + declared - (self._declared or 0))
        self._declared = declared

    def top_up(self, amount: int) -> bool:
        """Add credits to the account. Returns False if there is none."""
        if self._declared is None:
            return False
        self.balance += amount
        return True

    def settle(
        self, planned: Sequence[Planned], seen: Mapping[str, int], ended: Iterable[RunId] = ()
    ) -> tuple[list[FiringRow], list[RunId]]:
        """Settle deliveries, and store how far that brings their triggers. Returns rows, and runs with new messages."""
        rows, woken = list[FiringRow](), list[RunId]()
        for each in planned:
            workflow = started_workflow(each.trigger)
            known = self.triggers.firing(each.trigger.name, each.delivery.id)
            settled = settle_firing(each, known, workflow in self.triggers.disabled, self.new_run_id(workflow))
            rows.append(settled.row)
            if not settled.new:
                continue
            self.triggers.put_firing(settled.row)
            self._history.update(_encode(settled.row))
            if settled.start is not None and isinstance(settled.start.message, StartRun):
                name, _, version = (settled.start.message.workflow or "").partition("@")
                self.submit(settled.start.run, name, int(version))
            to_cause = settled.to_cause
            if to_cause is not None and (self.row(to_cause.run) is None or self.has_ended(to_cause.run)):
                to_cause = None
            for message in (settled.start, to_cause):
                if message is not None:
                    self.accept(message.run, message.message)
                    woken.append(message.run)
        self.triggers.put_progress(seen, ended)
        return rows, woken

    def remove(self, run: RunId) -> None:
        """Remove an ended run and everything of it but its start key."""
        for table in (self._sections, self._journals, self._hashes, self._rows, self._inboxes, self._versions):
            table.pop(run, None)
        self.tables.remove(run)
        self.triggers.remove_events(run)

    def remove_history(self, run: RunId) -> int:
        """Remove the journal of an ended run. Returns the number of its entries."""
        entries = len(self._journals.get(run, ()))
        self.line.remove(run)
        self._journals[run] = []
        return entries

    def _remember(self, run: RunId, turn: Turn, entry: bytes) -> None:
        self._history.update(run.encode())
        self._history.update(entry)
        self._history.update(self._rows[run])
        for name, body in turn.sections.items():
            self._history.update(name.encode())
            self._history.update(body or b"")

    # reading

    def new_run_id(self, workflow: str) -> RunId:
        """A name that no run has yet."""
        number = len(self._versions)
        while (name := RunId(f"{workflow}-{number}")) in self._versions:
            number += 1
        return name

    def start_key(self, workflow: str, key: str) -> StartKey | None:
        """The run that a key started."""
        return self._keys.get((workflow, key))

    def last_hash(self, run: RunId) -> bytes:
        """The hash of the run's last entry."""
        shared = self._forks.get(run)
        return shared[-1].hash if shared else self._hashes.get(run) or first_hash(run)

    def shared(self, run: RunId) -> tuple[JournalEntry, ...]:
        """The history that a fork shares, until its first commit."""
        return self._forks.get(run, ())

    def runs(self) -> tuple[RunId, ...]:
        """Every run that was submitted, oldest first."""
        return tuple(self._versions)

    def workflow(self, run: RunId) -> str:
        """What the run is a run of."""
        return self._versions[run][0]

    def version(self, run: RunId) -> tuple[str, int]:
        """What the run is a run of, and which version of it."""
        return self._versions[run]

    def sections(self, run: RunId) -> dict[str, bytes] | None:
        """A copy of what an actor loads; None for a run without a commit."""
        found = self._sections.get(run)
        return None if found is None else dict(found)

    def journal(self, run: RunId) -> list[bytes]:
        """Every entry, oldest first."""
        return list(self._journals.get(run, ()))

    def entries(self, run: RunId, after: int = -1) -> list[Entry]:
        """The journal behind an entry, decoded."""
        bodies = self._journals.get(run, [])
        return [decode_entry(body) for body in bodies[after + 1 :]]  # a history is kept whole, or not at all

    def stretch(self, run: RunId, first: int, last: int) -> list[Entry]:
        """The entries from one number to another, both included, decoded."""
        return [decode_entry(body) for body in self._journals.get(run, [])[first : last + 1]]

    def row(self, run: RunId) -> RunRow | None:
        """What queries see."""
        found = self._rows.get(run)
        return None if found is None else _row.decode(found)

    def rows(self) -> list[RunRow]:
        """All rows, oldest first."""
        return [_row.decode(self._rows[run]) for run in self._versions if run in self._rows]

    def has_ended(self, run: RunId) -> bool:
        """Whether nothing more can be told to it."""
        row = self.row(run)
        return row is not None and row.status in TERMINAL

    def account(self) -> Account | None:
        """The project's account."""
        return None if self._declared is None else Account(self.balance, sum(self.grants.values()))

    def firings(self) -> list[FiringRow]:
        """The result of each delivery to a trigger, oldest first."""
        return self.triggers.firings()

    def has(self, run: RunId) -> bool:
        """Whether a run was submitted."""
        return run in self._versions

    def inbox(self, run: RunId) -> dict[int, Message]:
        """The messages no commit has answered yet, in the order they were accepted."""
        return {number: _message.decode(body) for number, body in self._inboxes[run].items()}

    def waits(self, run: RunId, number: int) -> bool:
        """Whether a message is still in the inbox."""
        return number in self._inboxes.get(run, {})

    def has_mail(self) -> bool:
        """Whether any run has messages in its inbox."""
        return any(self._inboxes.values())

    def digest(self) -> str:
        """A hash of every byte that was ever committed, in order."""
        return self._history.hexdigest()
