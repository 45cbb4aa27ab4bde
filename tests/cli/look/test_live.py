"""A run in the terminal while it goes on."""

import re
from io import StringIO

import msgspec
from rich.console import Console

from jeton.cli.live import RunView
from jeton.engine.views.explain.explain import RunHistory
from jeton.model.decision import NoteTask
from jeton.model.ids import RunId, TokenId
from jeton.model.json import JsonObject
from jeton.model.note import ProgressNote
from tests.engine.views.journals import PANEL, branches_take, told


def screen(run: RunHistory, entries: int) -> str:
    """What a terminal would show after so many commits."""
    console = Console(width=100, file=StringIO())
    view = RunView(run.program.workflow, "r")
    for entry in run.entries[:entries]:
        view.take(RunId("r"), entry)
    with console.capture() as shown:
        console.print(view.drawn())
    return shown.get()


def test_nodes_are_shown_with_what_their_tokens_do() -> None:
    shown = screen(told(PANEL, {"judges": ["a", "b", "c"]}, {"judge": branches_take(9, 1, 5)}), 2)
    assert "● ask" in shown
    assert "◐ judge" in shown
    assert "2 active" in shown


def test_a_fan_out_has_a_bar_until_it_is_over() -> None:
    panel = told(PANEL, {"judges": ["a", "b", "c"]}, {"judge": branches_take(9, 1, 5)})
    assert "1 of 3" in screen(panel, 2)
    assert "1 at 'tally'" in screen(panel, 2)
    assert "of 3" not in screen(panel, len(panel.entries))


def test_a_wait_is_shown_with_its_label() -> None:
    nap = told({"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 5, "label": "a nap\x1b[31m"}}}})
    assert "token 0 at 'a' waits for a nap\\x1b[31m" in screen(nap, 1)


def test_a_gate_is_shown_with_how_to_answer_it() -> None:
    gate = told({"initial_node": "a", "nodes": {"a": {"gate": {"title": "Ship it?"}}}})
    assert "token 0 at 'a' waits for an answer to \"Ship it?\" (jeton answer r --gate r:0)" in screen(gate, 1)


def test_hints_have_the_options_that_were_given() -> None:
    gate = told({"initial_node": "a", "nodes": {"a": {"gate": {"title": "Ship it?"}}}})
    console = Console(width=200, file=StringIO())
    view = RunView(gate.program.workflow, "r", " --store 'my runs.db' --app app.py")
    view.take(RunId("r"), gate.entries[0])
    with console.capture() as shown:
        console.print(view.drawn())
    assert "(jeton answer r --gate r:0 --store 'my runs.db' --app app.py)" in shown.get()


def test_a_signal_is_shown_by_its_name_and_how_to_send_it() -> None:
    wait = {"signal": "paid", "label": "the money"}
    hear = told({"initial_node": "a", "nodes": {"a": {"wait": wait}}})
    assert "waits for the signal 'paid', the money (jeton signal r paid)" in screen(hear, 1)


def test_all_of_several_signals_are_shown() -> None:
    hear = told({"initial_node": "a", "nodes": {"a": {"wait": {"signals": {"paid": {}, "refused": {}}}}}})
    assert "waits for the signal 'paid' or 'refused' (jeton signal r paid)" in screen(hear, 1)


def test_what_a_called_run_waits_for_is_shown_too() -> None:
    outer = told({"initial_node": "a", "nodes": {"a": {"wait": {"signal": "go"}}}})
    inner = told({"initial_node": "b", "nodes": {"b": {"gate": {"title": "Ship it?"}}}})
    console = Console(width=120, file=StringIO())
    view = RunView(outer.program.workflow, "r")
    view.take(RunId("r"), outer.entries[0])
    view.take(RunId("r.0"), inner.entries[0])
    with console.capture() as shown:
        console.print(view.drawn())
    assert "token 0 at 'a' waits for the signal 'go' (jeton signal r go)" in shown.get()
    assert "token 0 at 'b' of r.0 waits for an answer to \"Ship it?\" (jeton answer r.0 --gate r.0:0)" in shown.get()


WORK: JsonObject = {"initial_node": "a", "nodes": {"a": {"action": {"kind": "mock", "implementation": {"output": {}}}}}}


def with_notes(*notes: tuple[int, ProgressNote]) -> RunHistory:
    """A run whose task reported these, each in an attempt, between its start and its end."""
    run = told(WORK)
    first, *rest = run.entries
    noted = [msgspec.structs.replace(first, decisions=(NoteTask(TokenId(0), "a", each, note),)) for each, note in notes]
    return msgspec.structs.replace(run, entries=(first, *noted, *rest))


def test_progress_is_shown_while_the_task_runs() -> None:
    run = with_notes((1, ProgressNote("a", 0.25, "one of four")), (1, ProgressNote("a", 0.5, "two\x9b\u202eof four")))
    assert "%" not in screen(run, 1)
    assert re.search(r"◐ a .*━.* 25%  one of four", screen(run, 2))
    shown = screen(run, 3)
    assert re.search(r"◐ a .*━.* 50%  two\\x9b\\u202eof four", shown)
    assert "25%" not in shown
    assert "%" not in screen(run, len(run.entries))


def test_progress_without_a_number_is_a_text() -> None:
    assert re.search(r"◐ a .* looking around", screen(with_notes((1, ProgressNote("a", None, "looking around"))), 2))


def test_progress_of_an_earlier_attempt_is_not_shown() -> None:
    assert "%" not in screen(with_notes((2, ProgressNote("a", 0.25))), 2)
