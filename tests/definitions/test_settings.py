"""`project.settings`, looked at before anything runs."""

import pytest

from jeton.definitions import library_from
from jeton.engine.build.source import KINDS
from jeton.model.json import Json, JsonObject


def problems(settings: JsonObject, **actions: Json) -> list[tuple[str, str]]:
    data: dict[str, Json] = {"actions": actions, "project": {"settings": settings}}
    found = library_from(data, kinds=KINDS).problems
    assert all(problem.remedy for problem in found)
    return [(problem.code, problem.path.removeprefix("project.settings.")) for problem in found]


@pytest.mark.parametrize(
    ("settings", "then"),
    [
        pytest.param({"http": {"allow": ["intranet.example", "10.0.0.0/8", "[::1]", "::1"]}}, [], id="hosts, networks"),
        pytest.param({"http": {"allow": "localhost"}}, [("wrong_type", "http.allow")], id="one host, no list"),
        pytest.param({"http": {"alow": []}}, [("unknown_key", "http.alow")], id="allow, misspelt"),
        pytest.param({"http": []}, [("wrong_type", "http")], id="http as a list"),
        pytest.param({"memory": {"vectors": True}}, [], id="vectors"),
        pytest.param({"memory": {"vectors": {"model_profile": "small"}}}, [], id="vectors of a profile"),
        pytest.param({"memory": {"vectors": "small"}}, [("wrong_type", "memory.vectors")], id="a name alone"),
        pytest.param({"memory": {"vectors": {}}}, [("missing_key", "memory.vectors")], id="no profile"),
        pytest.param({"memory": {"vector": True}}, [("unknown_key", "memory.vector")], id="vectors, misspelt"),
        pytest.param(
            {"memory": {"vectors": {"profile": "x", "model_profile": "y"}}},
            [("unknown_key", "memory.vectors.profile")],
            id="profile",
        ),
        pytest.param(
            {"http": {"allow": ["10.0.0.0/99", "http://a.example", "a.example:80", ""]}},
            [("bad_host", f"http.allow[{index}]") for index in range(4)],
            id="all that is no host, at once",
        ),
        pytest.param(
            {"secrets": {"A": {"env": "X"}, "B": {"file": "/run/b"}, "C": {"command": ["pass", "c"]}}}, [], id="secrets"
        ),
        pytest.param({"secrets": {"A": "hunter2!"}}, [("secret_in_definition", "secrets.A")], id="the secret itself"),
        pytest.param({"secrets": {"A": {}}}, [("secret_source", "secrets.A")], id="no source"),
        pytest.param({"secrets": {"A": {"env": "X", "file": "y"}}}, [("secret_source", "secrets.A")], id="two sources"),
        pytest.param(
            {"secrets": {"A": {"var": "X"}}},
            [("unknown_key", "secrets.A.var"), ("secret_source", "secrets.A")],
            id="var",
        ),
        pytest.param({"secrets": {"A": {"command": "pass c"}}}, [("wrong_type", "secrets.A.command")], id="a line"),
        pytest.param({"secrets": {"A": {"command": []}}}, [("secret_source", "secrets.A.command")], id="no command"),
        pytest.param({"secrets": {"A": {"env": 3}}}, [("wrong_type", "secrets.A.env")], id="no variable"),
        pytest.param({"secrets": ["A"]}, [("wrong_type", "secrets")], id="secrets as a list"),
        pytest.param(
            {"secrets": {"S": {"env": "X"}}, "sinks": {"a": {"url": "https://a.example:8443/x?y=1", "secret": "S"}}},
            [],
            id="a sink",
        ),
        pytest.param(
            {
                "secrets": {"S": {"env": "X"}},
                "sinks": {"a": {"url": "http://a", "secret": "S", "events": ["*", "run.*"]}},
            },
            [],
            id="a sink for all events",
        ),
        pytest.param(
            {"sinks": {"a": {"url": "https://a.example", "secret": "S"}}},
            [("unknown_secret", "sinks.a.secret")],
            id="a sink without its secret",
        ),
        pytest.param({"sinks": {"a": {"url": "https://a.example"}}}, [("missing_key", "sinks.a")], id="nothing signs"),
        pytest.param({"sinks": ["https://a.example"]}, [("wrong_type", "sinks")], id="sinks as a list"),
        pytest.param({"sinks": {"a": "https://a.example"}}, [("wrong_type", "sinks.a")], id="an address alone"),
        *(
            pytest.param(
                {"secrets": {"S": {"env": "X"}}, "sinks": {"a": {"url": url, "secret": "S"}}},
                [(code, "sinks.a.url")],
                id=f"a sink at {url}",
            )
            for url, code in (
                ("ftp://a.example", "bad_sink"),
                ("a.example/x", "bad_sink"),
                ("https://", "bad_sink"),
                ("https://a.example/a b", "bad_sink"),
                ("https://a.example/#x", "bad_sink"),
                ("https://a.example:99999/", "bad_sink"),
                ("https://u:p@a.example/", "secret_in_definition"),
            )
        ),
        pytest.param(
            {
                "secrets": {"S": {"env": "X"}},
                "sinks": {"a": {"url": "https://a", "secret": "S", "events": ["run.complete", "x.*", 3]}, "b b": {}},
            },
            [
                ("wrong_type", "sinks.a.events[2]"),
                ("unknown_value", "sinks.a.events[0]"),
                ("unknown_value", "sinks.a.events[1]"),
                ("bad_name", 'sinks["b b"]'),
            ],
            id="events that there are not",
        ),
        pytest.param(
            {"secrets": {"S": {"env": "X"}}, "sinks": {"a": {"url": "https://a", "secret": "S", "events": []}}},
            [("unknown_value", "sinks.a.events")],
            id="no events",
        ),
        pytest.param({"files": {"workspace": "files"}}, [], id="roots"),
        pytest.param({"files": {"a b": "files"}}, [("bad_name", 'files["a b"]')], id="a root that is no name"),
        pytest.param(
            {"files": {"a": 3, "b": ""}}, [("wrong_type", "files.a"), ("wrong_type", "files.b")], id="no path"
        ),
        pytest.param({"files": "files"}, [("wrong_type", "files")], id="files as a text"),
        pytest.param({"concurrency": {"shell": 4, "http": 1}}, [], id="places for kinds"),
        pytest.param(
            {"concurrency": {"shell": 0, "http": True}},
            [
                ("out_of_range", "concurrency.shell"),
                ("wrong_type", "concurrency.http"),
            ],
            id="no places",
        ),
        pytest.param({"credits": {"balance": 0, "costs": {"http": 3}}}, [], id="credits"),
        pytest.param(
            {"credits": {"balance": -1, "costs": {"http": "3"}, "cost": 1}},
            [
                ("unknown_key", "credits.cost"),
                ("out_of_range", "credits.balance"),
                ("wrong_type", "credits.costs.http"),
            ],
            id="credits below zero, and a price that is no number",
        ),
        pytest.param({"triggers": {"max_depth": 5}}, [], id="how deep runs set off runs"),
        pytest.param({"triggers": {"max_depth": "5"}}, [("wrong_type", "triggers.max_depth")], id="a depth as text"),
        pytest.param({"concurrency": 4}, [("wrong_type", "concurrency")], id="one number for all"),
        pytest.param({"shell": {"scripts": "yes"}}, [("wrong_type", "shell.scripts")], id="a word for true"),
        pytest.param({"snapshot_policy": "never"}, [], id="no snapshots"),
        pytest.param({"snapshot_policy": {"every_n_entries": 3}}, [], id="snapshots now and then"),
        pytest.param({"snapshot_policy": "sometimes"}, [("unknown_value", "snapshot_policy")], id="other words"),
        pytest.param(
            {"snapshot_policy": {"every_n_entries": 0}},
            [("out_of_range", "snapshot_policy.every_n_entries")],
            id="none",
        ),
        pytest.param({"snapshot_policy": {}}, [("missing_key", "snapshot_policy")], id="no number"),
        pytest.param({"snapshot_policy": 5}, [("unknown_value", "snapshot_policy")], id="a number alone"),
        pytest.param({"secret": {}}, [("unknown_setting", "secret")], id="a setting that is misspelt"),
        pytest.param({"colour_of_the_page": "red", "limits": {"a": 1}}, [], id="settings that others read"),
        pytest.param({"http": None, "secrets": None}, [], id="left empty"),
    ],
)
def test_a_setting_at_load(settings: JsonObject, then: list[tuple[str, str]]) -> None:
    assert problems(settings) == then


SCRIPT: JsonObject = {"kind": "shell", "implementation": {"argv": ["echo $1", "a"], "shell": True}}
SCRIPT_REFUSED = [("script_refused", "actions.a.implementation.shell")]


@pytest.mark.parametrize(
    ("settings", "then"),
    [
        pytest.param({}, [], id="nothing said"),
        pytest.param({"shell": {"scripts": False}}, SCRIPT_REFUSED, id="refused"),
        pytest.param({"shell": {"scripts": True}}, [], id="allowed"),
    ],
)
def test_a_project_may_forbid_scripts(settings: JsonObject, then: list[tuple[str, str]]) -> None:
    assert problems(settings, a=SCRIPT) == then


def test_secrets_that_actions_name_are_the_project_s() -> None:
    shell: JsonObject = {"kind": "shell", "implementation": {"argv": ["a"], "set_env": {"T": {"secret": "TOKEM"}}}}
    http: JsonObject = {
        "kind": "http",
        "implementation": {"url": "https://a.example/", "auth": {"bearer": {"secret": "TOKEN"}}},
    }
    then = [("unknown_secret", "actions.a.implementation.set_env.T.secret")]
    assert problems({"secrets": {"TOKEN": {"env": "X"}}}, a=shell, b=http) == then
