"""Every view of the page, as an address and as what is there once it has loaded."""

from typing import Any, NamedTuple

from playwright.async_api import Page

from tests.api.server import Running
from tests.browser.site import ask, expect

LIBRARY = """
workflows:
  walked:
    initial_node: begin
    nodes: {begin: {output_mapping: {state.seen: "'yes'"}}, end: {}}
    transitions: [{from: begin, to: end}]
triggers:
  walk_daily: {type: schedule, cron: "0 7 * * *", start: walked}
model_profiles: {walk_fake: {provider: scripted, script: [{text: Good day.}]}}
personas: {walk_helper: {instructions: Help., model_profile: walk_fake}}
agents: {walk_guide: {persona: walk_helper}}
"""


class Place(NamedTuple):
    """An address. `RUN`, `DONE` and `TALK` in it stand for what `prepared` made. `shows`: a role, and a name."""

    path: str
    role: Any
    name: str


PLACES = {
    "runs": Place("/runs", "table", "Runs"),
    "failed runs by kind": Place("/runs?status=failed&failures=1", "list", "Kinds of failure"),
    "no runs": Place("/runs?q=key%3Anowhere", "heading", "No run matches"),
    "gates": Place("/gates", "list", "Open gates"),
    "conversations": Place("/chat", "list", "Conversations"),
    "a conversation": Place("/chat/TALK", "log", "Messages"),
    "definitions": Place("/definitions", "table", "Definitions"),
    "a definition": Place("/definitions/panel", "region", "Graph of panel"),
    "its text": Place("/definitions/panel?tab=text", "textbox", "Definition text"),
    "its versions": Place("/definitions/panel?tab=versions", "table", "Versions"),
    "its runs": Place("/definitions/panel?tab=runs", "table", "Runs"),
    "a new definition": Place("/definitions?new=1", "textbox", "Definition text"),
    "triggers": Place("/triggers", "table", "Triggers"),
    "a trigger": Place("/triggers/walk_daily", "heading", "walk_daily"),
    "usage": Place("/usage", "heading", "Usage"),
    "store": Place("/store", "region", "Health"),
    "keys": Place("/keys", "heading", "Keys"),
    "a run": Place("/runs/RUN", "region", "Graph of panel"),
    "a run at an entry": Place("/runs/RUN?at=0&node=judge", "heading", "Node judge"),
    "a transition": Place("/runs/RUN?transition=3", "heading", "Transition tally to done"),
    "a group": Place("/runs/RUN?group=0", "complementary", "Explain"),
    "timeline": Place("/runs/RUN?tab=timeline", "list", "Timeline"),
    "events": Place("/runs/RUN?tab=events", "log", "Events"),
    "tokens": Place("/runs/RUN?tab=tokens", "table", "Tokens"),
    "context": Place("/runs/RUN?tab=context", "tree", "Context"),
    "explain": Place("/runs/RUN?tab=explain", "list", "Considered"),
    "children": Place("/runs/RUN?tab=children", "heading", "It called no runs"),
    "compare": Place("/compare?a=RUN&b=DONE", "heading", "Compare"),
    "nowhere": Place("/nowhere", "heading", "Nothing is here"),
}


class Prepared(NamedTuple):
    """What the places are about."""

    run: str
    done: str
    talk: str

    def address(self, place: Place) -> str:
        return place.path.replace("RUN", self.run).replace("DONE", self.done).replace("TALK", self.talk)


def prepared(server: Running) -> Prepared:
    """Something for each place to show: a run that waits, one that ended, and a conversation."""
    ask(server, "POST", "/v1/definitions", {"files": [{"name": "walked.yaml", "text": LIBRARY}]})
    judges = {"workflow": "panel", "input": {"judges": ["ada", "ben", "cleo"]}}
    run = ask(server, "POST", "/v1/runs?wait_ms=300", judges)["run_id"]
    done = ask(server, "POST", "/v1/runs?wait_ms=5000", {"workflow": "walked"})["run_id"]
    talk = ask(server, "POST", "/v1/agents/walk_guide/conversations", {})["conversation_id"]
    ask(server, "POST", f"/v1/conversations/{talk}/messages", {"text": "Hello"})
    return Prepared(run, done, talk)


async def loaded(page: Page, place: Place) -> None:
    """Wait until the view shows what it is for, and reads nothing more that a skeleton stands for."""
    await expect(page.get_by_role(place.role, name=place.name, exact=True).first).to_be_visible()
    await expect(page.locator(".skeleton")).to_have_count(0)
