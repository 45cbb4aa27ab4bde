"""A task that raised shows its traceback line by line; and no verb leaves a task of the loop behind."""

import json

from tests.cli.look.test_output_above import on_a_terminal
from tests.cli.verbs import Verbs

APP = """
import jeton

def inner(n):
    raise ValueError(f"no {n}")

@jeton.action
def boom(n: int) -> int:
    return inner(n)
"""
BOOM = {"workflows": {"w": {"initial_node": "a", "nodes": {"a": {"action": "boom", "input_mapping": {"n": "1"}}}}}}


def test_a_traceback_is_readable_in_the_terminal_in_show_and_in_explain(jeton: Verbs) -> None:
    app = jeton.folder / "boom_app.py"
    app.write_text(APP)
    jeton.library.write_text(json.dumps(BOOM))
    done = jeton("run", str(jeton.library), "--app", str(app))
    run = jeton.json("ls")["runs"][0]["run_id"]
    for shown in (done.stdout, jeton("show", run).stdout, jeton("explain", run).stdout):
        lines = [line.strip() for line in shown.splitlines()]
        assert f'File "{app}", line 9, in boom' in lines, shown
        assert 'raise ValueError(f"no {n}")' in lines
        assert not any("\\n" in line for line in lines), shown
    assert jeton.json("show", run)["error"]["details"]["stack"]


def test_an_interrupt_at_a_gate_leaves_nothing_behind(jeton: Verbs) -> None:
    for args in (("run", str(jeton.library), "ship"), ("run", str(jeton.library), "ship", "--wait", "1"), ("resume",)):
        _, lines = on_a_terminal(jeton, *args, until=b"Ship it?" if "--wait" not in args else None)
        assert not any("destroyed" in line or "Traceback" in line or "never retrieved" in line for line in lines), lines
