"""The examples of docs/how-to/serving.md and docs/how-to/keys.md, as a reader would try them."""

import contextlib
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib import request

from click.testing import CliRunner

from jeton.cli.main import main
from tests.api.door.test_commands import served
from tests.docs.markdown import ROOT

SERVING = (ROOT / "docs" / "how-to" / "serving.md").read_text()
KEYS = (ROOT / "docs" / "how-to" / "keys.md").read_text()


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_the_example_prints_what_it_says(tmp_path: Path) -> None:
    library = tmp_path / "numbers.yaml"
    library.write_text(blocks(SERVING, "yaml")[0])
    example, definition = blocks(SERVING, "python")
    printed = io.StringIO()
    with served(tmp_path / "runs.db", str(library)) as (server, _), contextlib.redirect_stdout(printed):
        names: dict[str, Any] = {
            "json": json,
            "urllib": SimpleNamespace(request=request),
            "Any": Any,
            "url": server.url,
            "key": server.key,
        }
        exec(definition, names)
        exec(example, names)
    assert printed.getvalue() == blocks(SERVING, "text")[0]


def test_the_commands_on_keys_work(tmp_path: Path) -> None:
    store, made = str(tmp_path / "runs.db"), ""
    for line in blocks(KEYS, "bash")[0].splitlines():
        words = line.split()[1:]
        if words[1] == "revoke":
            words[2] = made
        done = CliRunner().invoke(main, [*words, "--store", store])
        assert done.exit_code == 0, done.output
        if words[1] == "add":
            made = done.output[4:12]
            assert re.fullmatch(r"jtn_[0-9a-z]{8}_[0-9A-Za-z]{38}\n", done.output)
