"""Text is text: whatever a run, a gate, a tool or a model says is shown as it is, and nothing of it runs or loads."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import Page

from tests.api.door.test_commands import served
from tests.api.server import Running
from tests.browser.site import Site, ask, expect
from tests.browser.texts import TEXTS

SHORT = (
    180  # a title, a label or a message of a failure is cut by the engine at some length; whole texts are in the data
)
LIBRARY = {
    "workflows": {
        "asks": {
            "initial_node": "ask",
            "nodes": {"ask": {"gate": {"title": "{{ input.text }}", "schema": {"type": "string", "title": "Say"}}}},
        },
        "fails": {
            "initial_node": "a",
            "nodes": {"a": {"task": {"steps": [{"action": {"kind": "fail", "implementation": {
                "type": "bad_day", "message": "{{ input.text }}"}}}]}, "input_mapping": {"text": "input.text"}}},
        },
        "waits": {
            "initial_node": "keep",
            "nodes": {
                "keep": {"output_mapping": {"state.texts": "input.texts", "state.text": "input.texts[0]"}},
                "wait": {"wait": {"seconds": 86400, "label": "<img src=x onerror='window.ran = 1'>"}},
            },
            "transitions": [{"from": "keep", "to": "wait", "condition": "state.texts[1] != '<b>'"}],
        },
    },
    "model_profiles": {"fake": {"provider": "scripted", "script": [
        {"when": "moves == 0", "text": "SAID", "tool_calls": [{"name": "tell", "input": {"text": "CALLED"}}]},
        {"text": "REPLIED"},
    ]}},
    "tasks": {"tell": {"steps": [{"ref": "tell", "action": {"kind": "mock", "implementation": {"output": "RESULT"}}}]}},
    "tools": {"tell": {"description": "Tell.", "task": "tell",
                       "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}}}},
    "personas": {"helper": {"instructions": "Help.", "model_profile": "fake", "tools": ["tell"]}},
    "agents": {"bob": {"persona": "helper"}},
}  # fmt: skip


def library() -> str:
    """The library, whose model and tool say all texts at once."""
    said = "\n\n".join(text[:SHORT] for text in TEXTS)
    text = json.dumps(LIBRARY)
    for word in ("SAID", "CALLED", "REPLIED"):
        text = text.replace(json.dumps(word), json.dumps(said))
    return text.replace('"RESULT"', json.dumps({"texts": [each[:SHORT] for each in TEXTS]}))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, str, str]]:
    """A server full of such texts, a run that has all of them in its data, and a conversation that says them."""
    folder = tmp_path_factory.mktemp("texts")
    (folder / "library.json").write_text(library())
    with served(folder / "store.db", str(folder / "library.json")) as (running, _):
        for text in TEXTS:
            for workflow in ("asks", "fails"):
                started = {"workflow": workflow, "input": {"text": text}, "key": f"{workflow} {text}"[:150].strip()}
                ask(running, "POST", "/v1/runs", started)
        data = {"texts": TEXTS, **{f"field {text}"[:100]: text for text in TEXTS}}
        run = ask(running, "POST", "/v1/runs?wait_ms=500", {"workflow": "waits", "input": data})["run_id"]
        talk = ask(running, "POST", "/v1/agents/bob/conversations", {})["conversation_id"]
        ask(running, "POST", f"/v1/conversations/{talk}/messages", {"text": "\n".join(t[:SHORT] for t in TEXTS)})
        while ask(running, "GET", "/v1/runs?status=submitted,running")["runs"]:
            pass
        yield running, run, talk


PLACES = [
    "/runs", "/runs?status=failed&failures=1", "/gates", "/chat/TALK", "/definitions/asks",
    "/definitions/waits?tab=text",
    "/store", "/usage", "/runs/RUN", "/runs/RUN?node=keep", "/runs/RUN?tab=timeline", "/runs/RUN?tab=events",
    "/runs/RUN?tab=tokens", "/runs/RUN?tab=context", "/runs/RUN?tab=explain", "/runs/FAILED", "/runs/ASKING",
]  # fmt: skip


async def settled(page: Page) -> None:
    await expect(page.get_by_role("heading", level=1).first).to_be_visible()
    await expect(page.locator(".skeleton")).to_have_count(0)
    await page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("place", PLACES)
async def test_text_is_text(site: Site, hostile: tuple[Running, str, str], place: str) -> None:
    running, run, talk = hostile
    here = Site(site.browser, running)
    names: dict[str, Any] = {"RUN": run, "TALK": talk}
    for name, workflow in (("FAILED", "fails"), ("ASKING", "asks")):
        if name in place:
            names[name] = ask(running, "GET", f"/v1/runs?workflow={workflow}&limit=1")["runs"][0]["run_id"]
    for name, value in names.items():
        place = place.replace(name, value)
    page = await here.sign_in(place, reduced_motion=True)
    asked_elsewhere: list[str] = []
    page.on("dialog", lambda dialog: asked_elsewhere.append(dialog.message))
    await page.evaluate(
        "addEventListener('securitypolicyviolation', (event) => console.error('refused: ' + event.blockedURI))"
    )
    await settled(page)
    for width in (1280, 360):
        await page.set_viewport_size({"width": width, "height": 800})
        # charts follow the width a moment later; what a text breaks stays broken
        fits = "(width) => document.documentElement.scrollWidth <= width"
        await page.wait_for_function(fits, arg=width, timeout=10_000)
    assert await page.evaluate("window.ran") is None
    assert page.url.startswith(f"{running.url}/#")
    made = await page.evaluate(
        "document.querySelectorAll('main :is(iframe, object, embed, base, meta, video, math, style, "
        'script, form[action], a[href]:not([href^="#/"]), img:not(.cm-widgetBuffer))\').length'
    )
    assert made == 0, "a text became an element"
    assert asked_elsewhere == []
    await here.close()
    assert here.complaints == []


async def test_texts_are_whole(site: Site, hostile: tuple[Running, str, str]) -> None:
    """Each failure's message is shown as it was, letter for letter."""
    running, _, _ = hostile
    here = Site(site.browser, running)
    page = await here.sign_in("/runs?workflow=fails", reduced_motion=True)
    for text in (
        "<img src=x onerror='window.ran = 1'>",
        "[here](javascript:window.ran=1)",
        "&#60;img src=x onerror=window.ran=1&#62;",
    ):
        await expect(page.get_by_role("table", name="Runs").get_by_text(text, exact=False).first).to_be_attached()
    await here.close()
    assert here.complaints == []
