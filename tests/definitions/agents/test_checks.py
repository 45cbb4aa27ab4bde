"""What is wrong with agents, personas, tools, prompts and model profiles, and what comes close."""

from pathlib import Path

import pytest

from jeton.definitions import ActionKinds, library_from, load_library
from jeton.model.json import JsonObject
from tests.definitions.agents.given_agents import node, persona, profile, scripted, tool, with_parts
from tests.definitions.given import Rule, loaded, problems

RULES = {
    "a profile without a provider": Rule(
        "missing_key", "model_profiles.fake", profile("model: m"), profile("provider: openai, model: m")
    ),
    "a provider nobody has": Rule(
        "unknown_provider",
        "model_profiles.fake.provider",
        profile("provider: opnai, model: m"),
        profile("provider: openai, model: m"),
    ),
    "a key of a profile misspelt": Rule(
        "unknown_key",
        "model_profiles.fake.fallback",
        profile("provider: google, model: m, fallback: []"),
        profile("provider: google, model: m, fallbacks: []"),
    ),
    "a key that is no reference to a secret": Rule(
        "secret_in_definition",
        "model_profiles.fake.api_key",
        profile("provider: google, model: m, api_key: sk-123"),
        profile("provider: google, model: m"),
    ),
    "a secret nobody has": Rule(
        "unknown_secret",
        "model_profiles.fake.api_key.secret",
        profile("provider: google, model: m, api_key: {secret: KEY}"),
        profile("provider: google, model: m, api_key: {secret: KEY}")
        + "project: {settings: {secrets: {KEY: {env: KEY}}}}",
    ),
    "a base url that is none": Rule(
        "wrong_type",
        "model_profiles.fake.base_url",
        profile("provider: openai, model: m, base_url: 'localhost:80'"),
        profile("provider: openai, model: m, base_url: 'http://localhost:80'"),
    ),
    "a base url with a password": Rule(
        "secret_in_definition",
        "model_profiles.fake.base_url",
        profile("provider: openai, model: m, base_url: 'http://me:pw@localhost'"),
        profile("provider: openai, model: m, base_url: 'http://localhost'"),
    ),
    "a media type that is none": Rule(
        "unknown_value",
        "model_profiles.fake.accepts[1]",
        profile("provider: openai, model: m, accepts: [image/*, pdf]"),
        profile("provider: openai, model: m, accepts: [image/*, application/pdf]"),
    ),
    "a window of nothing": Rule(
        "out_of_range",
        "model_profiles.fake.context_window",
        profile("provider: openai, model: m, context_window: 0"),
        profile("provider: openai, model: m, context_window: 1"),
    ),
    "a fallback nobody knows": Rule(
        "unknown_profile",
        "model_profiles.fake.fallbacks[0]",
        profile("provider: openai, model: m, fallbacks: [fke]"),
        with_parts(model_profiles={"fke": "{provider: openai, model: m, fallbacks: [fake]}"}),
    ),
    "fallbacks in a circle": Rule(
        "fallback_cycle",
        "model_profiles.other.fallbacks[0]",
        with_parts(
            model_profiles={
                "fake": "{provider: openai, model: m, fallbacks: [other]}",
                "other": "{provider: openai, model: m, fallbacks: [fake]}",
            }
        ),
        with_parts(
            model_profiles={
                "fake": "{provider: openai, model: m, fallbacks: [other]}",
                "other": "{provider: openai, model: m, fallbacks: []}",
            }
        ),
    ),
    "a profile that falls back to itself": Rule(
        "fallback_cycle",
        "model_profiles.fake.fallbacks[0]",
        profile("provider: openai, model: m, fallbacks: [fake]"),
        profile("provider: openai, model: m, fallbacks: []"),
    ),
    "background elsewhere": Rule(
        "key_without_target",
        "model_profiles.fake.background",
        profile("provider: openai, model: m, background: true"),
        profile("provider: openai_responses, model: m, background: true"),
    ),
    "a script elsewhere": Rule(
        "key_without_target",
        "model_profiles.fake.script",
        profile("provider: openai, model: m, script: []"),
        profile("provider: scripted, script: []"),
    ),
    "a scripted profile without a script": Rule(
        "missing_key", "model_profiles.fake", profile("provider: scripted"), profile("provider: scripted, script: []")
    ),
    "a script that is an object": Rule(
        "wrong_type",
        "model_profiles.fake.script",
        profile("provider: scripted, script: {text: x}"),
        profile("provider: scripted, script: [{text: x}]"),
    ),
    "an entry without an answer": Rule(
        "bad_script_entry", "model_profiles.fake.script[0]", scripted("when: 'true'"), scripted("text: ''")
    ),
    "an entry with a text and an error": Rule(
        "bad_script_entry",
        "model_profiles.fake.script[0]",
        scripted("text: x, error: y"),
        scripted("text: x, tool_calls: [{name: refund}]"),
    ),
    "an entry with an unknown key": Rule(
        "unknown_key",
        "model_profiles.fake.script[0].delay",
        scripted("text: x, delay: 3"),
        scripted("text: x, delay_ms: 3"),
    ),
    "a passing text": Rule(
        "key_without_target",
        "model_profiles.fake.script[0].transient",
        scripted("text: x, transient: true"),
        scripted("error: x, transient: true"),
    ),
    "a call without a name": Rule(
        "missing_key",
        "model_profiles.fake.script[0].tool_calls[0]",
        scripted("tool_calls: [{input: {}}]"),
        scripted("tool_calls: [{name: nobody, input: [1]}]"),
    ),
    "no calls": Rule(
        "wrong_type",
        "model_profiles.fake.script[0].tool_calls",
        scripted("tool_calls: []"),
        scripted("tool_calls: [{name: refund}]"),
    ),
    "usage below nothing": Rule(
        "out_of_range",
        "model_profiles.fake.script[0].usage.input_tokens",
        scripted("text: x, usage: {input_tokens: -1}"),
        scripted("text: x, usage: {input_tokens: 0}"),
    ),
    "a condition that reads what is not there": Rule(
        "expression_invalid",
        "model_profiles.fake.script[0].when",
        scripted("text: x, when: \"mesage == 'x'\""),
        scripted("text: x, when: \"message == 'x' && context.tools.size() > 0\""),
    ),
    "a condition that is a number": Rule(
        "expression_type",
        "model_profiles.fake.script[0].when",
        scripted("text: x, when: moves"),
        scripted("text: x, when: moves == 1"),
    ),
    "a prompt without a template": Rule(
        "missing_key", "prompts.ask", with_parts(prompts="{system: x}"), with_parts(prompts="{template: x}")
    ),
    "a prompt that is no template": Rule(
        "template_invalid",
        "prompts.ask.template",
        with_parts(prompts="{template: '{{ input.'}"),
        with_parts(prompts="{template: '{{ input.x }}'}"),
    ),
    "a prompt that reads what is not there": Rule(
        "template_invalid",
        "prompts.ask.system",
        with_parts(prompts="{template: x, system: '{{ inptu.x }}'}"),
        with_parts(prompts="{template: x, system: '{% for x in range(2) %}{{ input[x] }}{% endfor %}'}"),
    ),
    "an example without an output": Rule(
        "missing_key",
        "prompts.ask.examples[0]",
        with_parts(prompts="{template: x, examples: [{input: x}]}"),
        with_parts(prompts="{template: x, examples: [{input: x, output: y}]}"),
    ),
    "a prompt nobody knows": Rule(
        "unknown_prompt",
        "actions.llm.implementation.prompt",
        with_parts(actions={"llm": "{kind: llm, implementation: {prompt: aks}}"}),
        with_parts(actions={"llm": "{kind: llm, implementation: {prompt: ask, model_profile: fake, tools: [refund]}}"}),
    ),
    "a prompt that a flow does not know": Rule(
        "unknown_prompt",
        "flows.f.nodes.a.data.prompt",
        with_parts(flows={"f": "{nodes: {a: {type: llm, data: {prompt: aks}}}}"}),
        with_parts(flows={"f": "{nodes: {a: {type: llm, data: {prompt: ask}}}}"}),
    ),
    "a profile that an action does not know": Rule(
        "unknown_profile",
        "tasks.pay.steps[0].action.implementation.model_profile",
        with_parts(tasks="{steps: [{action: {kind: llm, implementation: {model_profile: fkae}}}]}"),
        with_parts(tasks="{steps: [{action: {kind: llm, implementation: {model_profile: fake}}}]}"),
    ),
    "a tool without a target": Rule("missing_key", "tools.refund", tool("description: x"), tool("task: pay")),
    "a tool with two targets": Rule(
        "two_targets", "tools.refund", tool("task: pay, agent: bob"), tool("agent: bob, mode: delegate")
    ),
    "a target misspelt": Rule("unknown_key", "tools.refund.tsk", tool("tsk: pay"), tool("task: pay")),
    "a tool with another name": Rule(
        "bad_name", "tools.refund.name", tool("name: pay, task: pay"), tool("name: refund, task: pay")
    ),
    "a mode without an agent": Rule(
        "key_without_target", "tools.refund.mode", tool("task: pay, mode: loop_in"), tool("agent: bob, mode: loop_in")
    ),
    "a mode nobody knows": Rule(
        "unknown_value", "tools.refund.mode", tool("agent: bob, mode: join"), tool("agent: bob, mode: delegate")
    ),
    "once and again": Rule(
        "once_and_retry",
        "tools.refund",
        tool("task: pay, once: true, retry: {max_attempts: 2}"),
        tool("task: pay, once: false, retry: {max_attempts: 2}"),
    ),
    "a tool without a task": Rule("unknown_task", "tools.refund.task", tool("task: pya"), tool("task: pay")),
    "a tool without a workflow": Rule(
        "unknown_workflow", "tools.refund.workflow", tool("workflow: pay"), tool("task: pay")
    ),
    "a tool without an agent": Rule("unknown_agent", "tools.refund.agent", tool("agent: bbo"), tool("agent: bob")),
    "a tool of no server": Rule(
        "unknown_server",
        "tools.refund.mcp.server",
        tool("mcp: {server: web, tool: x}"),
        tool("mcp: {server: web, tool: x}") + "project: {settings: {mcp: {web: {url: 'http://localhost'}}}}",
    ),
    "a tool of a server without its name": Rule(
        "missing_key", "tools.refund.mcp", tool("mcp: {server: web}"), tool("task: pay")
    ),
    "an approval that is a list": Rule(
        "wrong_type",
        "tools.refund.needs_approval",
        tool("task: pay, needs_approval: []"),
        tool("task: pay, needs_approval: true"),
    ),
    "an approval misspelt": Rule(
        "unknown_key",
        "tools.refund.needs_approval.assignee",
        tool("task: pay, needs_approval: {assignee: ann}"),
        tool("task: pay, needs_approval: {assignees: [ann]}"),
    ),
    "an approval by nobody": Rule(
        "out_of_range",
        "tools.refund.needs_approval.approvals",
        tool("task: pay, needs_approval: {approvals: 0}"),
        tool("task: pay, needs_approval: {approvals: 1}"),
    ),
    "an approval that times out otherwise": Rule(
        "unknown_value",
        "tools.refund.needs_approval.on_timeout",
        tool("task: pay, needs_approval: {timeout_ms: 1, on_timeout: approve}"),
        tool("task: pay, needs_approval: {timeout_ms: 1, on_timeout: refuse}"),
    ),
    "an approval that reads what is not there": Rule(
        "expression_invalid",
        "tools.refund.needs_approval",
        tool("task: pay, needs_approval: state.x"),
        tool("task: pay, needs_approval: input.amount > 5 && caller.user == 'ann'"),
    ),
    "an approval that reads what a caller has not": Rule(
        "expression_type",
        "tools.refund.needs_approval",
        tool("task: pay, needs_approval: caller.usr == 'ann'"),
        tool("task: pay, needs_approval: caller.user == 'ann' || caller.type == 'run'"),
    ),
    "an approval that is no condition": Rule(
        "expression_type",
        "tools.refund.needs_approval.when",
        tool("task: pay, needs_approval: {when: \"'yes'\"}"),
        tool("task: pay, needs_approval: {when: tainted}"),
    ),
    "an approval whose title reads what is not there": Rule(
        "template_invalid",
        "tools.refund.needs_approval.title",
        tool("task: pay, needs_approval: {title: '{{ inputs }}'}"),
        tool("task: pay, needs_approval: {title: '{{ input }} {{ tool }} {{ caller }} {{ agent }}'}"),
    ),
    "an input that is no object": Rule(
        "schema_invalid",
        "tools.refund.input_schema",
        tool("task: pay, input_schema: {type: string}"),
        tool("task: pay, input_schema: {type: object}"),
    ),
    "a schema that is none": Rule(
        "schema_invalid",
        "tools.refund.input_schema.type",
        tool("task: pay, input_schema: {type: objekt}"),
        tool("task: pay, input_schema: {type: object}"),
    ),
    "an input that the task cannot take": Rule(
        "mapping_type",
        "tools.refund.input_schema",
        with_parts(
            tasks="{input_schema: {type: object, properties: {n: {type: integer}}}, steps: [{action: {kind: mock}}]}",
            tools="{task: pay, input_schema: {type: object, properties: {n: {type: string}}}}",
        ),
        with_parts(
            tasks="{input_schema: {type: object, properties: {n: {type: integer}}}, steps: [{action: {kind: mock}}]}",
            tools="{task: pay, input_schema: {type: object, properties: {n: {type: integer}}}}",
        ),
    ),
    "a mapping that reads what is not there": Rule(
        "expression_invalid",
        "tools.refund.input_mapping.x",
        tool("task: pay, input_mapping: {x: state.x}"),
        tool("task: pay, input_mapping: {x: input.x, y: caller, z: run.id}"),
    ),
    "a mapping without what the task needs": Rule(
        "mapping_missing_key",
        "tools.refund.input_mapping",
        with_parts(
            tasks="{input_schema: {type: object, required: [n]}, steps: [{action: {kind: mock}}]}",
            tools="{task: pay, input_mapping: {m: input.m}}",
        ),
        with_parts(
            tasks="{input_schema: {type: object, required: [n]}, steps: [{action: {kind: mock}}]}",
            tools="{task: pay, input_mapping: {n: input.m}}",
        ),
    ),
    "a result of no bytes": Rule(
        "out_of_range",
        "tools.refund.max_result_bytes",
        tool("task: pay, max_result_bytes: 0"),
        tool("task: pay, max_result_bytes: 1"),
    ),
    "a persona without a model": Rule(
        "missing_key", "personas.helper", with_parts(personas="{tools: []}"), persona("tools: []")
    ),
    "a persona with a model nobody knows": Rule(
        "unknown_profile",
        "personas.helper.model_profile",
        with_parts(personas="{model_profile: fakee}"),
        with_parts(personas="{model_profile: fake}"),
    ),
    "a persona whose profile names no model": Rule(
        "missing_key",
        "personas.helper.model_profile",
        profile("provider: openai"),
        profile("provider: myown, model: m"),
    ),
    "a persona with a tool nobody knows": Rule(
        "unknown_tool", "personas.helper.tools[1]", persona("tools: [refund, refnud]"), persona("tools: [refund]")
    ),
    "a persona with a version of a tool": Rule(
        "bad_name", "personas.helper.tools[0]", persona("tools: [refund@2]"), persona("tools: [refund]")
    ),
    "a persona with a tool twice": Rule(
        "duplicate_name", "personas.helper.tools[1]", persona("tools: [refund, refund]"), persona("tools: [refund]")
    ),
    "a persona with an assembly nobody knows": Rule(
        "unknown_workflow",
        "personas.helper.context_assembly",
        persona("context_assembly: assemble"),
        persona("context_assembly: assemble") + "flows: {assemble: {nodes: {a: {type: merge}}}}",
    ),
    "a persona with an extraction nobody knows": Rule(
        "unknown_workflow", "personas.helper.memory_extraction", persona("memory_extraction: x"), persona("tools: []")
    ),
    "a persona with a compaction nobody knows": Rule(
        "unknown_workflow", "personas.helper.compaction", persona("compaction: x"), persona("tools: []")
    ),
    "instructions that are no template": Rule(
        "template_invalid",
        "personas.helper.instructions",
        persona("instructions: '{% if %}'"),
        persona("instructions: '{% if agent %}x{% endif %}'"),
    ),
    "instructions that read what is not there": Rule(
        "template_invalid",
        "personas.helper.instructions",
        persona("instructions: '{{ input.x }}'"),
        persona("instructions: '{{ run.id }}'"),
    ),
    "instructions that are a list": Rule(
        "wrong_type", "personas.helper.instructions", persona("instructions: [x]"), persona("instructions: ''")
    ),
    "no recent turn": Rule(
        "out_of_range", "personas.helper.recent_turns", persona("recent_turns: 0"), persona("recent_turns: 1")
    ),
    "no move": Rule(
        "out_of_range",
        "personas.helper.max_moves_per_turn",
        persona("max_moves_per_turn: 0"),
        persona("max_moves_per_turn: 1"),
    ),
    "no tool at a time": Rule(
        "out_of_range",
        "personas.helper.max_parallel_tools",
        persona("max_parallel_tools: 0"),
        persona("max_parallel_tools: 1"),
    ),
    "a turn without time": Rule(
        "out_of_range", "personas.helper.turn_timeout_ms", persona("turn_timeout_ms: 0"), persona("turn_timeout_ms: 1")
    ),
    "a recall below nothing": Rule(
        "out_of_range", "personas.helper.memory.recall", persona("memory: {recall: -1}"), persona("memory: {recall: 0}")
    ),
    "types of memory that are a text": Rule(
        "wrong_type",
        "personas.helper.memory.types",
        persona("memory: {types: fact}"),
        persona("memory: {types: [fact]}"),
    ),
    "a type of memory that is no name": Rule(
        "bad_name",
        "personas.helper.memory.types[0]",
        persona("memory: {types: [a fact]}"),
        persona("memory: {types: [a_fact]}"),
    ),
    "a type of memory with another key": Rule(
        "unknown_key",
        "personas.helper.memory.types.fact.shema",
        persona("memory: {types: {fact: {shema: {}}}}"),
        persona("memory: {types: {fact: {schema: {}}}}"),
    ),
    "a scope nobody knows": Rule(
        "unknown_value",
        "personas.helper.memory.scope",
        persona("memory: {scope: all}"),
        persona("memory: {scope: user}"),
    ),
    "a budget misspelt": Rule(
        "unknown_key", "personas.helper.budget.day", persona("budget: {day: 3}"), persona("budget: {agent_day: 3}")
    ),
    "a budget of nothing": Rule(
        "out_of_range", "personas.helper.budget.turn", persona("budget: {turn: 0}"), persona("budget: {turn: 1}")
    ),
    "an agent without a persona": Rule(
        "missing_key", "agents.bob", with_parts(agents="{}"), with_parts(agents="{persona: helper}")
    ),
    "an agent with a persona nobody knows": Rule(
        "unknown_persona",
        "agents.bob.persona",
        with_parts(agents="{persona: helpr}"),
        with_parts(agents="{persona: helper}"),
    ),
    "an agent with what belongs to its persona": Rule(
        "unknown_key",
        "agents.bob.tools",
        with_parts(agents="{persona: helper, tools: []}"),
        with_parts(agents="{persona: helper, description: x, tags: [y]}"),
    ),
    "a node with an agent nobody knows": Rule(
        "unknown_agent", "workflows.w.nodes.a.agent", node("agent: {name: bbo}"), node("agent: {name: bob}")
    ),
    "a node with a key misspelt": Rule(
        "unknown_key",
        "workflows.w.nodes.a.agent.schema",
        node("agent: {name: bob, schema: {}}"),
        node("agent: {name: bob, output_schema: {}}"),
    ),
    "a conversation that reads what is not there": Rule(
        "expression_invalid",
        "workflows.w.nodes.a.agent.conversation",
        node("agent: {name: bob, conversation: c-1}"),
        node("agent: {name: bob, conversation: \"'c-1'\"}"),
    ),
    "a conversation that is a number": Rule(
        "expression_type",
        "workflows.w.nodes.a.agent.conversation",
        node("agent: {name: bob, conversation: input.n}"),
        node("agent: {name: bob, conversation: 'input.n == 1 ? input.mail : null'}"),
    ),
    "a timeout that is a text": Rule(
        "expression_type",
        "workflows.w.nodes.a.agent.timeout_ms",
        node("agent: {name: bob, timeout_ms: input.mail}"),
        node("agent: {name: bob, timeout_ms: input.n}"),
    ),
    "a result misread": Rule(
        "expression_type",
        "workflows.w.nodes.a.output_mapping.output.x",
        node("agent: bob, output_mapping: {output.x: result.text + 1}"),
        node("agent: bob, output_mapping: {output.x: result.text}"),
    ),
    "a flow's agent misspelt": Rule(
        "unknown_agent",
        "flows.f.nodes.a.data.agent",
        with_parts(flows={"f": "{nodes: {a: {type: agent, data: {agent: bbo}}}}"}),
        with_parts(flows={"f": "{nodes: {a: {type: agent, data: {agent: bob}}}}"}),
    ),
    "a flow's agent with a key misspelt": Rule(
        "unknown_key",
        "flows.f.nodes.a.data.schema",
        with_parts(flows={"f": "{nodes: {a: {type: agent, data: {agent: bob, schema: {}}}}}"}),
        with_parts(flows={"f": "{nodes: {a: {type: agent, data: {agent: bob, output_schema: {}, timeout_ms: 5}}}}"}),
    ),
    "an artifact type that is checked": Rule(
        "unknown_value",
        "artifact_types.report.media_type",
        "artifact_types: {report: {media_type: pdf}}",
        "artifact_types: {}",
    ),
    "artifact types that nothing uses": Rule(
        "unsupported_section",
        "artifact_types",
        "artifact_types: {report: {media_type: application/pdf, schema: {}, max_bytes: 5}}",
        "artifact_types: {}",
    ),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_a_problem_is_reported_where_it_is(rule: Rule) -> None:
    found = [(problem.code, problem.path) for problem in problems(rule.broken)]
    assert (rule.code, rule.path.replace(".output.x", '["output.x"]')) in found


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_what_comes_close_has_no_problem(rule: Rule) -> None:
    assert [p for p in problems(rule.sound) if p.severity == "error" or p.code == rule.code] == []


WARNINGS = {
    "a provider nobody has",
    "a prompt that reads what is not there",
    "an approval whose title reads what is not there",
    "an input that the task cannot take",
    "a persona whose profile names no model",
    "instructions that read what is not there",
    "artifact types that nothing uses",
}


@pytest.mark.parametrize("name", RULES)
def test_what_only_may_go_wrong_stops_no_deployment(name: str) -> None:
    assert loaded(RULES[name].broken).ok == (name in WARNINGS)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        pytest.param(persona("tools: [refnud]"), "write 'refund', or add it under 'tools:'", id="a tool"),
        pytest.param(
            with_parts(agents="{persona: helpr}"), "write 'helper', or add it under 'personas:'", id="a persona"
        ),
        pytest.param(
            with_parts(personas="{model_profile: fakee}"),
            "write 'fake', or add it under 'model_profiles:'",
            id="a profile",
        ),
        pytest.param(profile("provider: opnai, model: m"), "write 'openai' if that is meant", id="a provider"),
        pytest.param(persona("instructions: '{{ agnt.name }}'"), "write 'agent', or leave it out", id="a name"),
        pytest.param(tool("tsk: pay"), "write 'task', or remove it", id="a key"),
        pytest.param(tool("task: pay, needs_approval: tained || input.x"), "did you mean 'tainted'?", id="a variable"),
    ],
)
def test_the_nearest_name_is_proposed(text: str, remedy: str) -> None:
    assert remedy in [problem.remedy for problem in problems(text)]


def test_the_provider_of_a_plugin_is_known() -> None:
    data: JsonObject = {"model_profiles": {"fast": {"provider": "mine", "model": "m"}}}
    assert library_from(data, kinds=ActionKinds(providers=lambda: ["mine"])).problems == ()
    (problem,) = library_from(data, kinds=ActionKinds(providers=lambda: ["mines"])).problems
    assert (problem.severity, problem.code) == ("warning", "unknown_provider")
    assert problem.remedy == "write 'mines' if that is meant"


def test_agents_may_ask_each_other() -> None:
    assert problems(tool("agent: bob")) == ()


def test_all_problems_are_reported_at_once() -> None:
    text = with_parts(
        model_profiles="{provider: scripted, script: [{}], timeout_ms: 0}",
        tools="{task: pya, once: 3}",
        personas="{model_profile: fkae, tools: [x], recent_turns: no}",
        agents="{persona: nobody}",
        prompts="{template: '{{'}",
    )
    assert sorted(problem.path for problem in problems(text)) == [
        "agents.bob.persona",
        "model_profiles.fake.script[0]",
        "model_profiles.fake.timeout_ms",
        "personas.helper.model_profile",
        "personas.helper.recent_turns",
        "personas.helper.tools[0]",
        "prompts.ask.template",
        "tools.refund.once",
        "tools.refund.task",
    ]


def test_definitions_in_another_file_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("agents: {bob: {persona: helper}}")
    (tmp_path / "b.yaml").write_text("personas: {helper: {model_profile: fake}}")
    (tmp_path / "c.yaml").write_text("model_profiles: {fake: {provider: scripted, script: []}}")
    assert load_library(tmp_path).problems == ()
    known = load_library([tmp_path / "b.yaml", tmp_path / "c.yaml"]).library
    assert library_from({"agents": {"eve": {"persona": "helper"}}}, known).problems == ()
