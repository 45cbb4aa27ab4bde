"""What the runs of a definition may call, told to whoever imports one."""

from jeton.actor.whole.calls import Call, calls_of
from jeton.definitions.bundle import bundle_of
from tests.definitions.agents.given_agents import SHOP
from tests.definitions.given import loaded

SHOPPING = loaded(SHOP).require()


def test_an_agent_calls_its_models_their_fallbacks_and_what_its_tools_call() -> None:
    assert calls_of(bundle_of(SHOPPING, "agent:bob")) == (
        Call("agent", "bob"),
        Call("agent", "eve"),
        Call("llm", '{"prompt":"verdict","model_profile":"fast","tools":["search"]}'),
        Call("mcp", "web search/all: http://127.0.0.1:1"),
        Call("model", "openai small http://127.0.0.1:8080/v1"),
        Call("model", "openai_responses large"),
        Call("workflow", "write_report"),
    )


def test_a_workflow_that_asks_an_agent_calls_what_the_agent_calls() -> None:
    own, asked = calls_of(bundle_of(SHOPPING, "triage")), calls_of(bundle_of(SHOPPING, "agent:bob"))
    assert set(asked) <= set(own)


def test_an_agent_with_a_script_calls_no_model() -> None:
    library = loaded(SHOP.replace("tools: [ask_bob, judge]", "tools: []")).require()
    assert calls_of(bundle_of(library, "agent:zoe")) == ()
