"""What starts runs without anybody asking: by hand, by webhook, by an event, by a run's end."""

import hashlib
import hmac
from pathlib import Path

import msgspec
import pytest

import jeton
from jeton.engine.build.source import Source
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.json import Json, JsonObject

ECHO: JsonObject = {"initial_node": "a", "nodes": {"a": {"output_mapping": {"output.got": "input"}}}}
PLACE: JsonObject = {
    "initial_node": "tell",
    "nodes": {
        "tell": {
            "action": {"kind": "emit", "implementation": {"event": "order.placed"}},
            "input_mapping": {"order": "input.order", "total": "input.total"},
        }
    },
}


def library(triggers: JsonObject, **more: Json) -> JsonObject:
    return {"workflows": {"echo": ECHO, "place": PLACE}, "triggers": triggers, **more}


async def given(engine: jeton.Engine, run: str | None) -> JsonObject:
    """The input of a run."""
    found = (await engine.context(run or "")).input
    assert isinstance(found, dict)
    return found


async def test_a_trigger_fired_by_hand_starts_its_workflow_with_its_own_input_below_what_is_given(
    tmp_path: Path,
) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library({"go": {"type": "manual", "start": "echo", "input": {"a": 1, "b": 1}}}))
        firing = await engine.fire("go", {"b": 2})
        assert firing.run_id is not None
        record = await engine.ended(firing.run_id, 30)
        got = await given(engine, firing.run_id)
        told = got.pop("_trigger")
        assert got == {"a": 1, "b": 2}
        assert isinstance(told, dict)
        assert (told["type"], told["depth"], told["source"]) == ("manual", 0, None)
        assert (record.trigger_type, record.trigger_id, record.trigger_depth) == ("manual", "go", 0)
        events = [event async for event in engine.events(firing.run_id)]
        assert [event["type"] for event in events[:3]] == ["run.submitted", "trigger.fired", "run.started"]
        assert [event["seq"] for event in events] == list(range(len(events)))
        assert await engine.firings(run=firing.run_id) == (firing,)


async def test_a_run_that_nobody_fired_says_manual_and_depth_0(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library({}))
        record = await (await engine.start("echo", {})).result(30)
        assert (record.trigger_type, record.trigger_id, record.trigger_depth) == ("manual", None, 0)


async def test_the_same_delivery_fires_once_also_after_a_restart_and_with_another_payload(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library({n: {"type": "manual", "start": "echo"} for n in ("go", "other")}))
        first = await engine.fire("go", {"n": 1}, delivery_id="d-1")
        assert await engine.fire("go", {"n": 2}, delivery_id="d-1") == first
    async with jeton.open(tmp_path / "runs.db") as engine:
        assert await engine.fire("go", {"n": 1}, delivery_id="d-1") == first
        assert (await engine.fire("other", {"n": 1}, delivery_id="d-1")).run_id != first.run_id
        await engine.idle()
        assert len(await engine.list()) == 2


async def test_beside_an_owner_a_trigger_can_be_fired_and_its_run_begins_there(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as owner:
        await owner.deploy(library({"go": {"type": "manual", "start": "echo"}}))
        async with jeton.open(tmp_path / "runs.db", owner=False) as guest:
            firing = await guest.fire("go")
        assert firing.run_id is not None
        while not await owner.list():
            await owner.idle()
        assert (await owner.ended(firing.run_id, 30)).status == "completed"


async def test_what_was_fired_and_not_begun_is_no_damage_and_begins_with_the_next_owner(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library({"go": {"type": "manual", "start": "echo"}}))
    async with jeton.open(tmp_path / "runs.db", owner=False) as guest:
        firing = await guest.fire("go")
    assert verify(tmp_path / "runs.db").problems == ()
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.idle()
        assert firing.run_id is not None
        assert (await engine.get(firing.run_id)).status == "completed"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        pytest.param("nobody", "unknown_trigger", id="a trigger that is not there"),
        pytest.param("strict", "input_invalid", id="input that does not fit"),
        pytest.param("off", "disabled", id="a workflow that is disabled"),
    ],
)
async def test_what_is_not_fired(tmp_path: Path, name: str, code: str) -> None:
    strict: JsonObject = {
        **ECHO,
        "input_schema": {
            "type": "object",
            "required": ["n"],
            "additionalProperties": False,
            "properties": {"n": {"type": "integer"}},
        },
    }
    triggers: JsonObject = {
        "strict": {"type": "manual", "start": "strict"},
        "off": {"type": "manual", "start": "echo"},
    }
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy({"workflows": {"echo": ECHO, "strict": strict}, "triggers": triggers})
        await engine.disable("echo")
        with pytest.raises(jeton.Refused) as refused:
            await engine.fire(name, {"n": "one"}, delivery_id="d")
        assert refused.value.code == code
        assert await engine.list() == ()
        assert [firing.code for firing in await engine.firings(name)] == ([] if name == "nobody" else [code])
        await engine.enable("echo")
        if name != "nobody":  # what was refused did not use the delivery up
            assert (await engine.fire(name, {"n": 1}, delivery_id="d")).run_id is not None


async def test_an_event_fires_once_for_each_that_the_condition_holds_for(tmp_path: Path) -> None:
    triggers: JsonObject = {
        "big": {"type": "event", "name": "order.placed", "condition": "event.total > 100", "start": "echo"},
        "paid": {"type": "event", "name": "order.paid", "start": "echo"},
    }
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library({}))
        await (await engine.start("place", {"order": 0, "total": 500})).result(30)  # before there is a trigger
        await engine.deploy(library(triggers))
        runs = [await engine.start("place", {"order": n, "total": n * 60}) for n in (1, 2, 3)]
        await engine.idle()
        fired = await engine.list(workflow="echo")
        assert [record.trigger_depth for record in fired] == [1, 1]
        assert {firing.source for firing in await engine.firings("big")} == {runs[1].id, runs[2].id}
        assert await engine.firings("paid") == ()
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.idle()
        assert len(await engine.list(workflow="echo")) == 2


async def test_a_condition_that_cannot_be_evaluated_is_a_refusal_on_record(tmp_path: Path) -> None:
    triggers: JsonObject = {
        "big": {"type": "event", "name": "order.placed", "condition": "event.total > 100", "start": "echo"}
    }
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library(triggers))
        await (await engine.start("place", {"order": 0, "total": "much"})).result(30)
        await engine.idle()
        (firing,) = await engine.firings("big")
        assert (firing.code, firing.run_id) == ("expression_error", None)


ASK: JsonObject = {
    "initial_node": "tell",
    "nodes": {
        "tell": {"action": {"kind": "emit", "implementation": {"event": "asked"}}},
        "hear": {"wait": {"signal": "answer"}},
    },
    "transitions": [{"from": "tell", "to": "hear"}],
}


async def test_a_run_under_way_hears_what_became_of_its_event_and_goes_on_waiting(tmp_path: Path) -> None:
    triggers: JsonObject = {
        "first": {"type": "event", "name": "asked", "start": "echo"},
        "off": {"type": "event", "name": "asked", "start": "place"},
        "later": {"type": "event", "name": "never", "start": "echo"},
    }
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy({"workflows": {"echo": ECHO, "place": PLACE, "ask": ASK}, "triggers": triggers})
        await engine.disable("place")
        run = await engine.start("ask")
        await engine.idle()
        (echo,) = await engine.list(workflow="echo")
        record = await engine.get(run.id)
        assert record.status == "waiting"
        assert [(each.trigger, each.run_id, each.code) for each in record.fired or ()] == [
            ("first", echo.run_id, None),
            ("off", None, "disabled"),
        ]
        events = [event async for event in engine.events(run.id)]
        fired, refused = [event for event in events if str(event["type"]).startswith("trigger.")]
        assert (fired["trigger"], fired["cause"], fired["depth"]) == ("first", "event", 1)
        assert fired["started"] == echo.run_id
        assert (refused["type"], refused["trigger"], refused["code"]) == ("trigger.refused", "off", "disabled")
        assert "disabled" in str(refused["problem"])
        await run.signal("answer")
        assert (await run.result(30)).status == "completed"
        types = [event["type"] async for event in engine.events(run.id)]
        assert types[-1] == "run.completed"
        assert (types.count("run.waiting"), types.count("run.resumed")) == (1, 0)
    assert verify(tmp_path / "runs.db").problems == ()


async def test_what_a_runs_end_set_off_is_in_its_record_and_not_in_its_history(tmp_path: Path) -> None:
    triggers: JsonObject = {
        "after": {"type": "run_finished", "workflow": "place", "start": "echo"},
        "off": {"type": "run_finished", "workflow": "place", "start": "ask"},
    }
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy({"workflows": {"echo": ECHO, "place": PLACE, "ask": ASK}, "triggers": triggers})
        await engine.disable("ask")
        run = await engine.start("place", {"order": 1, "total": 1})
        await engine.idle()
        (echo,) = await engine.list(workflow="echo")
        record = await engine.get(run.id)
        assert [(each.trigger, each.run_id, each.code) for each in record.fired or ()] == [
            ("after", echo.run_id, None),
            ("off", None, "disabled"),
        ]
        assert (await engine.get(echo.run_id)).fired == ()
        assert {each.fired for each in await engine.list()} == {None}  # nobody looked, which is not nothing
        types = [event["type"] async for event in engine.events(run.id)]
        assert types[-1] == "run.completed"
        assert "trigger.refused" not in types


async def test_a_run_that_ends_fires_those_that_wait_for_it_until_it_is_too_deep(tmp_path: Path) -> None:
    """H11: depth 2 fires a run at depth 3, and depth 3 fires nothing."""
    triggers: JsonObject = {"again": {"type": "run_finished", "workflow": "echo", "start": "echo"}}
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library(triggers))
        first = await engine.start("echo", {})
        await engine.idle()
        runs = await engine.list(workflow="echo")
        assert sorted(run.trigger_depth for run in runs) == [0, 1, 2, 3]
        firings = await engine.firings("again")
        assert [(each.depth, each.code) for each in firings] == [(4, "too_deep"), (3, None), (2, None), (1, None)]
        assert firings[-1].source == first.id
        told = await given(engine, firings[-1].run_id)
        assert (told["status"], told["run_id"]) == ("completed", first.id)


async def test_the_limit_is_the_projects(tmp_path: Path) -> None:
    triggers: JsonObject = {"again": {"type": "run_finished", "workflow": "echo", "start": "echo"}}
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library(triggers, project={"settings": {"triggers": {"max_depth": 1}}}))
        await engine.start("echo", {})
        await engine.idle()
        assert sorted(run.trigger_depth for run in await engine.list()) == [0, 1]


async def test_a_disabled_workflow_is_not_fired_by_an_end_and_that_is_on_record(tmp_path: Path) -> None:
    triggers: JsonObject = {"after": {"type": "run_finished", "workflow": "place", "start": "echo"}}
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library(triggers))
        await engine.disable("echo")
        await engine.start("place", {"order": 1, "total": 1})
        await engine.idle()
        assert await engine.list(workflow="echo") == ()
        assert [firing.code for firing in await engine.firings()] == ["disabled"]


async def test_sub_workflows_keep_their_parents_depth(tmp_path: Path) -> None:
    parent: JsonObject = {"initial_node": "call", "nodes": {"call": {"workflow": "echo"}}}
    triggers: JsonObject = {"after": {"type": "run_finished", "workflow": "place", "start": "parent"}}
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy({"workflows": {"echo": ECHO, "place": PLACE, "parent": parent}, "triggers": triggers})
        await engine.start("place", {"order": 1, "total": 1})
        await engine.idle()
        (child,) = await engine.list(workflow="echo")
        assert (child.trigger_type, child.trigger_depth, child.parent_run_id is not None) == ("run_finished", 1, True)


async def test_a_trigger_that_is_removed_fires_nothing_more(tmp_path: Path) -> None:
    triggers: JsonObject = {"after": {"type": "run_finished", "workflow": "place", "start": "echo"}}
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library(triggers))
        await engine.remove_trigger("after")
        await engine.start("place", {"order": 1, "total": 1})
        await engine.idle()
        assert (await engine.triggers(), await engine.firings()) == ((), ())
        with pytest.raises(jeton.Refused, match="no trigger 'after'"):
            await engine.remove_trigger("after")


MORNING: JsonObject = {"type": "schedule", "cron": "0 7 * * *", "start": "echo"}
EVENING: JsonObject = {"type": "schedule", "cron": "0 19 * * *", "start": "place"}


def written(path: Path, triggers: JsonObject, **workflows: Json) -> Path:
    path.write_bytes(msgspec.json.encode({"workflows": workflows or {"echo": ECHO}, "triggers": triggers}))
    return path


async def names(engine: jeton.Engine) -> list[str]:
    return [trigger.name for trigger in await engine.triggers()]


async def test_a_trigger_that_its_file_no_longer_has_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "library.json"
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(written(file, {"morning": MORNING, "noon": MORNING}))
        assert [trigger.origin for trigger in await engine.triggers()] == [str(file.resolve())] * 2
        assert (await engine.deploy(file)).removed == ()
        assert (await engine.deploy(written(file, {"noon": MORNING}))).removed == ("morning",)
        assert await names(engine) == ["noon"]
        deployed = await engine.deploy(written(file, {}, renamed=ECHO))  # and what it started is not there either
        assert (deployed.removed, await names(engine)) == (("noon",), [])


@pytest.mark.parametrize("how", ["another file", "plain data", "a workflow built in Python"])
async def test_what_comes_from_elsewhere_removes_no_trigger_of_a_file(tmp_path: Path, how: str) -> None:
    built = jeton.Workflow("echo")
    built.node("a")
    others: dict[str, Source] = {
        "another file": written(tmp_path / "part.json", {}),
        "plain data": {"workflows": {"echo": ECHO}},
        "a workflow built in Python": built,
    }
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(written(tmp_path / "library.json", {"morning": MORNING}))
        assert (await engine.deploy(others[how])).removed == ()
        assert await names(engine) == ["morning"]


async def test_plain_data_speaks_for_the_triggers_of_what_it_defines(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy({"workflows": {"echo": ECHO}, "triggers": {"morning": MORNING}})
        await engine.deploy({"workflows": {"place": PLACE}, "triggers": {"evening": EVENING}})
        assert await names(engine) == ["evening", "morning"]
        assert (await engine.deploy({"workflows": {"echo": ECHO}})).removed == ("morning",)
        assert await names(engine) == ["evening"]


async def test_a_trigger_that_another_file_declares_from_now_on_is_that_files(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(written(old, {"morning": MORNING}))
        await engine.deploy(written(new, {"morning": MORNING}))
        assert (await engine.deploy(written(old, {}))).removed == ()
        assert (await engine.deploy(written(new, {}))).removed == ("morning",)


async def test_ends_that_nobody_waited_for_any_more_fire_nothing_later(tmp_path: Path) -> None:
    after: JsonObject = {"after": {"type": "run_finished", "workflow": "place", "start": "echo"}}
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library(after))
        await engine.start("place", {"order": 1, "total": 1})
        await engine.remove_trigger("after")  # perhaps after the end, and before anybody fired for it
        await engine.idle()
        before = len(await engine.list(workflow="echo"))
        await engine.deploy(library(after))
        await engine.idle()
        assert len(await engine.list(workflow="echo")) == before


HOOK: JsonObject = {
    "type": "webhook",
    "path": "orders/paid",
    "secret": "HOOK",
    "schema": {"type": "object", "required": ["n"]},
    "start": "echo",
}
SECRETS: JsonObject = {"settings": {"secrets": {"HOOK": {"env": "HOOK_SECRET"}}}}


def signed(body: bytes, secret: str = "swordfish") -> dict[str, str]:
    return {"X-Jeton-Signature": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}


async def test_a_webhook_that_is_signed_fires_once_per_delivery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_SECRET", "swordfish")
    body = b'{"n": 1}'
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library({"hook": HOOK}, project=SECRETS))
        headers = {**signed(body), "X-GitHub-Delivery": "g-1"}
        first = await engine.deliver_webhook("/orders/paid", body, headers)
        again = await engine.deliver_webhook("orders/paid", body, headers)
        assert again == msgspec.structs.replace(first, again=True)
        assert (first.type, first.source, first.delivery_id) == ("webhook", "orders/paid", "g-1")
        assert (await engine.deliver_webhook("orders/paid", body, signed(body), "g-2")).run_id != first.run_id


@pytest.mark.parametrize(
    ("path", "body", "headers", "code"),
    [
        pytest.param("orders", b"{}", {}, "unknown_hook", id="an address nobody has"),
        pytest.param("orders/paid", b'{"n": 1}', {}, "bad_signature", id="no signature"),
        pytest.param("orders/paid", b'{"n": 1}', signed(b'{"n": 2}'), "bad_signature", id="that of another body"),
        pytest.param("orders/paid", b'{"n": 1}', signed(b'{"n": 1}', "tunafish"), "bad_signature", id="another secret"),
        pytest.param("orders/paid", b'{"n": 1}', {"X-Jeton-Signature": "sha256=é"}, "bad_signature", id="no hex"),
        pytest.param("orders/paid", b"n=1", signed(b"n=1"), "input_invalid", id="a body that is no JSON"),
        pytest.param("orders/paid", b"\xff", signed(b"\xff"), "input_invalid", id="a body that is no text"),
        pytest.param("orders/paid", b'{"m": 1}', signed(b'{"m": 1}'), "input_invalid", id="one that does not fit"),
        pytest.param("orders/paid", b"", signed(b""), "input_invalid", id="one that is empty"),
    ],
)
async def test_a_webhook_that_is_refused_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, body: bytes, headers: dict[str, str], code: str
) -> None:
    monkeypatch.setenv("HOOK_SECRET", "swordfish")
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library({"hook": HOOK}, project=SECRETS))
        with pytest.raises(jeton.Refused) as refused:
            await engine.deliver_webhook(path, body, headers)
        assert refused.value.code == code
        assert (await engine.list(), await engine.firings()) == ((), ())


async def test_a_path_that_another_file_has_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    hook: JsonObject = {"type": "webhook", "path": "same", "start": "w"}
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        flow: JsonObject = {"initial_node": "n", "nodes": {"n": {}}, "description": file.stem}
        library = {"workflows": {"w": flow}, "triggers": {f"hook-{file.stem}": hook}}
        file.write_bytes(msgspec.json.encode(library))
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(files[0])
        await engine.deploy(files[0])  # the same trigger has its own path
        with pytest.raises(jeton.Refused, match="'hook-a'") as refused:
            await engine.deploy(files[1])
        assert refused.value.code == "duplicate_path"
        assert [each.name for each in await engine.triggers()] == ["hook-a"]
        assert (await engine.workflow("w")).workflows["w"].description == "a"
        files[0].write_bytes(files[0].read_bytes().replace(b"hook-a", b"hook-c"))
        assert (await engine.deploy(files[0])).removed == ("hook-a",)  # whose path is free
        await engine.remove_trigger("hook-c")
        await engine.deploy(files[1])
        assert (await engine.deliver_webhook("same", b"{}", {})).trigger == "hook-b"


async def test_a_webhook_whose_secret_cannot_be_had_is_refused(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library({"hook": HOOK}, project=SECRETS))
        with pytest.raises(jeton.Refused) as refused:
            await engine.deliver_webhook("orders/paid", b"{}", signed(b"{}"))
        assert refused.value.code == "secret_unavailable"
