"""MCP servers of a project, looked at before anything runs. Nothing is started by looking."""

from pathlib import Path

import pytest

from jeton.definitions import library_from
from jeton.engine.build.source import KINDS
from jeton.model.json import Json, JsonObject

SECRETS: JsonObject = {"KEY": {"env": "KEY"}}


def problems(settings: JsonObject, **sections: Json) -> list[tuple[str, str]]:
    data: dict[str, Json] = {**sections, "project": {"settings": settings}}
    found = library_from(data, kinds=KINDS).problems
    assert all(problem.remedy for problem in found)
    return [(problem.code, problem.path.removeprefix("project.settings.")) for problem in found]


def server(**keys: Json) -> list[tuple[str, str]]:
    return [(code, path.removeprefix("mcp.s.")) for code, path in problems({"mcp": {"s": keys}, "secrets": SECRETS})]


@pytest.mark.parametrize(
    ("keys", "then"),
    [
        pytest.param({"command": ["npx", "-y", "files"]}, [], id="a program"),
        pytest.param(
            {"command": ["a"], "env": {"A": "b", "TOKEN": {"secret": "KEY"}}, "cwd": "work", "trusted": True},
            [],
            id="with an environment",
        ),
        pytest.param(
            {"url": "https://mcp.example/mcp", "headers": {"X-Key": {"secret": "KEY"}}, "timeout_ms": 5}, [], id="a url"
        ),
        pytest.param(
            {
                "url": "http://localhost:8000/mcp",
                "auth": {"token_url": "https://a.example/token", "client_id": "me", "client_secret": {"secret": "KEY"}},
                "expose": ["read"],
            },
            [],
            id="with credentials of a client",
        ),
        pytest.param({}, [("bad_server", "mcp.s")], id="neither"),
        pytest.param({"command": ["a"], "url": "https://a.example"}, [("bad_server", "mcp.s")], id="both"),
        pytest.param({"command": []}, [("bad_server", "command")], id="no program"),
        pytest.param({"command": "npx files"}, [("wrong_type", "command")], id="a line and not a list"),
        pytest.param({"command": ["a"], "headers": {}}, [("bad_server", "headers")], id="headers for a program"),
        pytest.param({"url": "https://a.example", "env": {}}, [("bad_server", "env")], id="a variable for a url"),
        pytest.param({"url": "file:///etc/passwd"}, [("bad_server", "url")], id="a file"),
        pytest.param({"url": "https://"}, [("bad_server", "url")], id="no host"),
        pytest.param({"url": "https://[x"}, [("bad_server", "url")], id="no url"),
        pytest.param({"url": "https://me:pw@a.example"}, [("secret_in_definition", "url")], id="a password in a url"),
        pytest.param({"command": ["a"], "env": {"A B": "c"}}, [("bad_name", 'env["A B"]')], id="no name"),
        pytest.param({"command": ["a"], "env": {"A": 1}}, [("wrong_type", "env.A")], id="a number"),
        pytest.param({"command": ["a"], "env": {"A": "b\nc"}}, [("text_refused", "env.A")], id="two lines"),
        pytest.param(
            {"command": ["a"], "env": {"A": {"secret": "KAY"}}}, [("unknown_secret", "env.A.secret")], id="no secret"
        ),
        pytest.param(
            {"url": "https://a.example", "auth": {"token_url": "https://b.example"}},
            [("missing_key", "auth"), ("missing_key", "auth")],
            id="no client",
        ),
        pytest.param(
            {
                "url": "https://a.example",
                "auth": {"token_url": "https://b.example", "client_id": "me", "client_secret": "hunter2!"},
            },
            [("secret_in_definition", "auth.client_secret")],
            id="the secret itself",
        ),
        pytest.param({"command": ["a"], "timeout_ms": 0}, [("out_of_range", "timeout_ms")], id="no time"),
        pytest.param({"command": ["a"], "trusted": "yes"}, [("wrong_type", "trusted")], id="trusted, in words"),
        pytest.param({"command": ["a"], "comand": []}, [("unknown_key", "comand")], id="misspelt"),
        pytest.param({"command": ["a"], "expose": "read"}, [("wrong_type", "expose")], id="one tool and not a list"),
    ],
)
def test_a_server(keys: JsonObject, then: list[tuple[str, str]]) -> None:
    assert server(**keys) == then


@pytest.mark.parametrize(
    ("settings", "then"),
    [
        pytest.param({"mcp": []}, [("wrong_type", "mcp")], id="a list"),
        pytest.param({"mcp": {"a b": {"command": ["x"]}}}, [("bad_name", 'mcp["a b"]')], id="a bad name"),
        pytest.param({"mcp": {"s": "npx"}}, [("wrong_type", "mcp.s")], id="a text"),
        pytest.param({"mpc": {}}, [("unknown_setting", "mpc")], id="misspelt"),
        pytest.param({"mcp_server": {"expose": ["w"]}}, [], id="a workflow is exposed"),
        pytest.param(
            {"mcp_server": {"expose": ["v"]}},
            [("unknown_workflow", "mcp_server.expose[0]")],
            id="one that is not there",
        ),
        pytest.param({"mcp_server": {"exposed": []}}, [("unknown_key", "mcp_server.exposed")], id="exposed, misspelt"),
    ],
)
def test_the_settings(settings: JsonObject, then: list[tuple[str, str]]) -> None:
    assert problems(settings, workflows={"w": {"initial_node": "a", "nodes": {"a": {}}}}) == then


def test_an_action_names_a_server_that_is_there() -> None:
    settings: JsonObject = {"mcp": {"files": {"command": ["x"]}}}
    actions: JsonObject = {"a": {"kind": "mcp", "implementation": {"server": "file", "tool": "read"}}}
    assert problems(settings, actions=actions) == [("unknown_server", "actions.a.implementation.server")]


def test_loading_starts_nothing(tmp_path: Path) -> None:
    started = tmp_path / "started"
    settings: JsonObject = {"mcp": {"s": {"command": ["touch", str(started)]}}}
    actions: JsonObject = {"a": {"kind": "mcp", "implementation": {"server": "s", "tool": "read"}}}
    assert problems(settings, actions=actions) == []
    assert not started.exists()
