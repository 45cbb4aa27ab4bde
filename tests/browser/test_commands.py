"""Every action's command, copied from the page and run in a shell, does what the button would have done."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page

from tests.api.server import Running
from tests.browser.site import Site, ask, expect

LIBRARY = """
project: {settings: {credits: {balance: 500}}}
workflows:
  shelled:
    initial_node: ask
    nodes:
      ask:
        gate:
          title: Go on?
          schema: {type: object, required: [ok], properties: {ok: {type: boolean, title: Ok}}}
        output_mapping: {output.said: result, state.said: result}
triggers: {shelled_by_hand: {type: manual, start: shelled}}
model_profiles:
  shell_fake:
    provider: scripted
    script: [{when: "moves == 0", tool_calls: [{name: shell_pay, input: {amount: 3}}]}, {text: Done.}]
tasks: {shell_pay: {steps: [{ref: pay, action: {kind: mock, implementation: {output: {}}}}]}}
tools:
  shell_pay:
    description: Pay.
    input_schema: {type: object, required: [amount], properties: {amount: {type: integer}}}
    task: shell_pay
    needs_approval: {title: Pay?}
personas: {shell_helper: {instructions: Help., model_profile: shell_fake, tools: [shell_pay]}}
agents: {shell_bob: {persona: shell_helper}}
"""


@pytest.fixture(scope="module", autouse=True)
def deployed(server: Running) -> None:
    ask(server, "POST", "/v1/definitions", {"files": [{"name": "shelled.yaml", "text": LIBRARY}]})


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with `jeton`, as an installation has it."""
    program = tmp_path / "jeton"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m jeton.cli.main "$@"\n')
    program.chmod(0o755)
    return tmp_path


class Shell:
    """Copies commands from the page, and runs them."""

    def __init__(self, site: Site, page: Page, programs: Path) -> None:
        self._site = site
        self._page = page
        self._programs = programs

    async def copied(self, place: Locator) -> str:
        await place.get_by_role("button", name="Copy command").click()
        await expect(place.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
        return str(await self._page.evaluate("navigator.clipboard.readText()"))

    async def runs(self, place: Locator, *exits: int) -> str:
        """Copy the command that stands there, run it, and return what it printed."""
        text = await self.copied(place)
        path = f"{self._programs}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "JETON_KEY": self._site.server.key or ""}
        done = await asyncio.to_thread(
            subprocess.run, ["sh", "-c", text], env=environment, capture_output=True, text=True, timeout=60,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode in (exits or (0,)), f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout

    async def action(self, button: str, *exits: int, reason: str | None = None) -> str:
        """Open the dialog of an action, and run its command instead of confirming it."""
        await self._page.get_by_role("button", name=button, exact=True).click()
        dialog = self._page.get_by_role("dialog", name=button, exact=True)
        if reason is not None:
            await dialog.get_by_role("textbox", name="Reason").fill(reason)
        printed = await self.runs(dialog, *exits)
        await dialog.get_by_role("button", name="Close").click()
        return printed


def record(site: Site, run: str) -> Any:
    return site.ask("GET", f"/v1/runs/{run}")


async def test_commands_of_a_run(site: Site, programs: Path) -> None:
    page = await site.sign_in("/runs?workflow=hold")
    shell = Shell(site, page, programs)
    run = site.ask("POST", "/v1/runs?wait_ms=200", {"workflow": "hold"})["run_id"]
    await site.go(f"/runs/{run}")
    await shell.action("Pause run")
    assert record(site, run)["paused"]
    await shell.action("Unpause run")
    assert not record(site, run)["paused"]
    reason = 'it\'s "late" $HOME `x` \\ é'
    await shell.action("Cancel run", reason=reason)
    assert record(site, run)["status"] == "cancelled"
    assert reason in record(site, run)["error"]["message"]


async def test_commands_that_begin_runs(site: Site, programs: Path) -> None:
    page = await site.sign_in("/runs?workflow=double")
    shell = Shell(site, page, programs)
    await page.get_by_role("button", name="Start run").click()
    dialog = page.get_by_role("dialog", name="Start run")
    await dialog.get_by_role("spinbutton", name="Number").fill("8")
    await dialog.get_by_role("textbox", name="note").fill("it's $HOME")
    await dialog.get_by_role("textbox", name="Key").fill("from a shell")
    await shell.runs(dialog)
    [started] = site.ask("GET", "/v1/runs?q=key%3A%22from%20a%20shell%22")["runs"]
    assert record(site, started["run_id"])["output"] == {"n": 16}
    failed = site.ask("POST", "/v1/runs?wait_ms=5000", {"workflow": "pay"})["run_id"]
    await dialog.get_by_role("button", name="Close").click()
    await site.go(f"/runs/{failed}")
    before = {run["run_id"] for run in site.ask("GET", "/v1/runs?workflow=pay")["runs"]}
    await shell.action("Retry run", 1, 4)  # the new run fails too, or has not ended yet
    await shell.action("Fork", 1, 4)
    new = [run for run in site.ask("GET", "/v1/runs?workflow=pay")["runs"] if run["run_id"] not in before]
    assert [run["forked_from"]["run_id"] for run in new] == [failed, failed]


async def test_commands_of_gates_and_approvals(site: Site, programs: Path) -> None:
    run = site.ask("POST", "/v1/runs?wait_ms=500", {"workflow": "shelled"})["run_id"]
    page = await site.sign_in(f"/gates?q={run}")
    shell = Shell(site, page, programs)
    form = page.get_by_role("form", name="Answer Go on?")
    await form.get_by_role("radio", name="yes").check()
    await shell.runs(form)
    assert record(site, run)["output"]["said"] == {"ok": True}
    talk = site.ask("POST", "/v1/agents/shell_bob/conversations", {})["conversation_id"]
    await site.go(f"/chat/{talk}")
    await page.get_by_role("textbox", name="Message").fill("pay")
    await page.keyboard.press("Enter")
    approval = page.get_by_role("group", name="Approval for shell_pay")
    await approval.get_by_label("amount").fill("2")
    await shell.runs(approval)
    await expect(page.get_by_role("log", name="Messages")).to_contain_text("Done.")
    [turn] = site.ask("GET", f"/v1/conversations/{talk}")["turns"]
    assert turn["moves"][0]["tool_calls"][0]["edited"] == {"amount": 2}


async def test_commands_of_an_operator(site: Site, programs: Path) -> None:
    page = await site.sign_in("/keys")
    shell = Shell(site, page, programs)
    await page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog", name="New key")
    await dialog.get_by_role("textbox", name="Name").fill("from a shell")
    await dialog.get_by_role("checkbox", name="read").check()
    assert (await shell.runs(dialog)).startswith("jtn_")
    await dialog.get_by_role("button", name="Close").first.click()
    await page.reload()
    await shell.action("Revoke from a shell")
    [key] = [each for each in site.ask("GET", "/v1/keys")["keys"] if each["name"] == "from a shell"]
    assert key["revoked_at"] is not None
    await site.go("/triggers")
    await page.get_by_role("button", name="Fire shelled_by_hand").click()
    fire = page.get_by_role("dialog").filter(has_text="shelled_by_hand")
    await fire.get_by_role("textbox").first.fill('{"n": 4}')
    await shell.runs(fire)
    await fire.get_by_role("button", name="Close").click()
    [fired] = site.ask("GET", "/v1/triggers/shelled_by_hand/firings")["firings"]
    assert record(site, fired["run_id"])["trigger_type"] == "manual"
    await site.go("/usage")
    before = site.ask("GET", "/v1/credits")["balance"]
    await shell.action("Top up")
    assert site.ask("GET", "/v1/credits")["balance"] == before + 100
