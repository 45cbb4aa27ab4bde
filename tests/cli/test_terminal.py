"""`jeton answer` on a terminal: whoever sits there is asked."""

import os
import pty
import subprocess

from tests.cli.test_process import JETON
from tests.cli.verbs import Verbs


def test_a_person_at_a_terminal_answers_property_by_property(jeton: Verbs) -> None:
    run = str(jeton.run("ship", "--wait", "0", exits=4)["run_id"])
    jeton("resume")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [JETON, "answer", run, "--store", str(jeton.store)], stdin=theirs, stdout=subprocess.PIPE, text=True
    )
    os.close(theirs)
    os.write(ours, b"y\nmany\n3\nslow\n")
    said, _ = process.communicate(timeout=30)
    os.close(ours)
    assert process.returncode == 0, said
    assert "Ship it?" in said
    assert jeton.json("show", run)["output"] == {"ok": True, "packed": True}
