"""A live view of a run in the terminal: its nodes, tokens, fan-outs and waits."""

from collections.abc import Iterator
from datetime import UTC, datetime
from shlex import quote

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from jeton.cli.output import printable
from jeton.cli.terminal import PRINTING
from jeton.engine.views.draw.palette import PALETTE
from jeton.engine.views.draw.picture import Box, Picture, picture_of
from jeton.engine.views.draw.text import MARKS, in_order
from jeton.engine.views.groups import GroupTable, GroupView
from jeton.engine.views.tokens import TokenTable, TokenView
from jeton.model.decision import NoteTask, SettleNodes
from jeton.model.definition.flow import Flow
from jeton.model.definition.workflow import Workflow
from jeton.model.entry import Entry
from jeton.model.ids import RunId, TokenId, gate_id
from jeton.model.note import ProgressNote

MAX_WAITS = 5
MAX_GROUPS = 5
BAR_WIDTH = 24
PER_SECOND = 10
UNDER_WAY = ("dispatched", "executing")


class LiveView:
    """Runs on a terminal, below each other."""

    def __init__(self, console: Console, *views: "RunView") -> None:
        self._views = views
        # what others print is taken care of below Python, for worker processes too
        self._live = Live(
            console=console,
            get_renderable=self.drawn,
            refresh_per_second=PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> "LiveView":
        with PRINTING:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        with PRINTING:
            self._live.stop()

    def take(self, run: RunId, entry: Entry) -> None:
        for view in self._views:
            if view.shows(run):
                view.take(run, entry)

    def drawn(self) -> RenderableType:
        """What the terminal shows now."""
        return Group(*(view.drawn() for view in self._views))


class RunView:
    """One run. Redrawn PER_SECOND times a second by another thread, so tables are copied before they are read."""

    def __init__(self, workflow: Workflow | Flow, run: str, options: str = "") -> None:
        """`options` are added to the commands that it shows, so that they can be pasted."""
        self._workflow = workflow
        self._run = run
        self._options = options
        self._tokens = TokenTable(RunId(run))
        self._children: dict[RunId, TokenTable] = {}
        self._groups = GroupTable()
        self._skipped: dict[str, None] = {}  # nodes of a flow
        self._progress: dict[TokenId, NoteTask] = {}  # the last that each task reported

    def shows(self, run: RunId) -> bool:
        return f"{run}.".startswith(f"{self._run}.")

    def take(self, run: RunId, entry: Entry) -> None:
        if run != self._run:
            self._children.setdefault(run, TokenTable(run)).take(entry)
            return
        self._tokens.take(entry)
        self._groups.take(entry)
        for decision in entry.decisions:
            if isinstance(decision, SettleNodes):
                self._skipped.update(dict.fromkeys(decision.skipped))
            elif isinstance(decision, NoteTask) and isinstance(decision.note, ProgressNote):
                self._progress.pop(decision.token, None)  # so that the newest is last
                self._progress[decision.token] = decision

    def drawn(self) -> RenderableType:
        """What the terminal shows now."""
        parts: list[RenderableType] = [Text(f"{self._workflow.name}  {self._run}", style="bold"), self._nodes()]
        groups = [group for group in list(self._groups.groups.values()) if not group.over]
        if groups:
            parts.append(_bars(groups[-MAX_GROUPS:]))
        parts += [Text(f"  ◷ {printable(line)}", style="yellow") for line in self._waits()]
        return Group(*parts)

    def _nodes(self) -> Table:
        table = Table.grid(padding=(0, 2))
        progress = self._progress_by_node()
        for box in in_order(self._picture()):
            table.add_row(*_node(box), *_progress_cells(progress.get(box.name, [])))
        return table

    def _progress_by_node(self) -> dict[str, list[ProgressNote]]:
        """What the attempts under way reported, by node; the newest is last."""
        found: dict[str, list[ProgressNote]] = {}
        for reported in list(self._progress.values()):
            token = self._tokens.tokens.get(reported.token)
            if token is None or token.status not in UNDER_WAY or token.attempt != reported.attempt:
                self._progress.pop(reported.token, None)
            elif isinstance(reported.note, ProgressNote):
                found.setdefault(reported.node, []).append(reported.note)
        return found

    def _picture(self) -> Picture:
        return picture_of(self._workflow, list(self._tokens.tokens.values()), skipped=list(self._skipped))

    def _waits(self) -> Iterator[str]:
        tables = [(RunId(self._run), self._tokens), *list(self._children.items())]
        waiting = [(run, token) for run, table in tables for token in list(table.tokens.values()) if _is_wait(token)]
        for run, token in waiting[:MAX_WAITS]:
            yield _wait(token, run, self._run, self._options)
        if len(waiting) > MAX_WAITS:
            yield f"and {len(waiting) - MAX_WAITS} more"


def _node(box: Box) -> tuple[Text, Text, Text]:
    style = PALETTE[box.counts.tone].terminal
    return (
        Text(f"  {MARKS[box.counts.tone]} {box.name}", style=style),
        Text(box.kind, style="dim"),
        Text(box.counts.text),
    )


def _progress_cells(notes: list[ProgressNote]) -> tuple[RenderableType, Text]:
    """A bar for how far the tasks of a node are on average, and what the last of them said."""
    if not notes:
        return "", Text("")
    done = [note.done for note in notes if note.done is not None]
    text = Text(printable(notes[-1].text), style="dim", overflow="ellipsis", no_wrap=True)
    if not done:
        return "", text
    share = sum(done) / len(done)
    percent = Text(f"{share:.0%}")
    return ProgressBar(total=1.0, completed=share, width=BAR_WIDTH), percent + Text("  ") + text if text else percent


def _bars(groups: list[GroupView]) -> Table:
    table = Table.grid(padding=(0, 2))
    for group in groups:
        bar = ProgressBar(total=max(group.total, 1), completed=group.settled, width=BAR_WIDTH)
        where = f"{group.arrived} at '{group.joins_at}'" if group.joins_at is not None else ""
        table.add_row(Text(f"  {group.name}"), bar, Text(f"{group.settled} of {group.total}"), Text(where, style="dim"))
    return table


def _is_wait(token: TokenView) -> bool:
    return token.status.startswith("waiting_for_") and token.status != "waiting_for_siblings"


def _wait(token: TokenView, run: RunId, root: str, options: str) -> str:
    where = f"at '{token.node}'" if run == root else f"at '{token.node}' of {run}"
    left = ""
    if token.due is not None:
        left = f", {max((token.due - datetime.now(UTC)).total_seconds(), 0):.1f} s"
    return f"token {token.id} {where} waits for {_what(token, run, options)}{left}"


def _what(token: TokenView, run: RunId, options: str) -> str:
    match token.status:
        case "waiting_for_gate":
            return f'an answer to "{token.label}" (jeton answer {run} --gate {gate_id(run, token.id)}{options})'
        case "waiting_for_signal":
            label = "" if token.label is None else f", {token.label}"
            if token.signals:
                names = " or ".join(f"'{name}'" for name in token.signals)
                return f"the signal {names}{label} (jeton signal {run} {quote(token.signals[0])}{options})"
            return f"the signal '{token.signal}'{label} (jeton signal {run} {quote(token.signal or '')}{options})"
        case "waiting_for_subworkflow":
            return f"run {token.child}"
        case "waiting_for_retry":
            return f"attempt {token.attempt}"
        case _:
            return token.label or "a time"
