"""The examples of docs/how-to/streams.md, against a real server."""

import asyncio
import contextlib
import io
import re
from pathlib import Path
from typing import Any

from tests.api.server import serving_in_thread
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs" / "how-to" / "streams.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_clients_of_the_page_follow_a_run(tmp_path: Path) -> None:
    connected, by_hand = blocks("python")
    (printed,) = blocks("text")
    with serving_in_thread(tmp_path / "s.db") as server:
        names: dict[str, Any] = {"url": server.url, "key": server.key}
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(connected, names)
        assert said.getvalue() == printed
        exec(by_hand, names)
        run = asyncio.run(server.ask("GET", "/v1/runs", key=server.key)).json["runs"][0]["run_id"]
        found = list(names["events"](server.url, server.key, f"run={run}"))
        assert [f"{event['seq']} {event['type']}" for _, event in found] == printed.splitlines()[:-1]
        place, _ = found[2]
        assert list(names["events"](server.url, server.key, f"run={run}", place)) == found[3:]
