"""Libraries with one of everything that agents are made of, for tests that change one part."""

import textwrap

PARTS = {
    "model_profiles": {"fake": "{provider: scripted, script: [{text: Hello.}]}"},
    "prompts": {"ask": "{template: 'Judge {{ input.text }}.'}"},
    "tasks": {"pay": "{steps: [{ref: pay, action: {kind: mock}}]}"},
    "tools": {"refund": "{description: Refund an order., task: pay}"},
    "personas": {"helper": "{instructions: Help., model_profile: fake, tools: [refund]}"},
    "agents": {"bob": "{persona: helper}"},
}


def with_parts(**changed: dict[str, str] | str) -> str:
    """A sound library with an agent, in which some sections have more entries, or others of the same name.

    A text stands for the one entry that the section has."""
    text = ""
    sections = dict.fromkeys([*PARTS, *changed])
    for section in sections:
        more = changed.get(section, {})
        usual = PARTS.get(section, {})
        entries = {**usual, **(dict.fromkeys(usual, more) if isinstance(more, str) else more)}
        text += f"{section}:\n" + "".join(f"  {name}: {body}\n" for name, body in entries.items())
    return text


def tool(body: str) -> str:
    """A library whose tool has these keys."""
    return with_parts(tools=f"{{{body}}}")


def persona(body: str) -> str:
    """A library whose persona has these keys beside its profile."""
    return with_parts(personas=f"{{model_profile: fake, {body}}}")


def profile(body: str) -> str:
    """A library whose profile has these keys."""
    return with_parts(model_profiles=f"{{{body}}}")


def scripted(entry: str) -> str:
    """A library whose script has this one entry."""
    return profile(f"provider: scripted, script: [{{{entry}}}]")


def node(body: str) -> str:
    """A library whose workflow has one node, with these keys."""
    schema = "{type: object, properties: {mail: {type: string}, n: {type: integer}}}"
    return with_parts(workflows={"w": f"{{initial_node: a, input_schema: {schema}, nodes: {{a: {{{body}}}}}}}"})


SHOP = textwrap.dedent("""
    model_profiles:
      fast:
        provider: openai
        model: small
        base_url: http://127.0.0.1:8080/v1
        api_key: {secret: KEY}
        parameters: {temperature: 0, max_tokens: 500}
        prices: {input: 100, output: 400}
        context_window: 128000
        accepts: [image/*, application/pdf]
        timeout_ms: 60000
        retry_policy: {max_attempts: 2, backoff: linear, initial_delay_ms: 100}
        fallbacks: [slow, fake]
      slow: {provider: openai_responses, model: large, background: true, fallbacks: [fake]}
      fake:
        provider: scripted
        script:
          - when: "message.contains('refund') && moves == 0"
            tool_calls: [{name: refund, input: {order: A}}]
            text: Ok.
          - when: "tool_results.exists(r, r.name == 'refund')"
            text: Done.
            usage: {input_tokens: 7, output_tokens: 2}
          - {error: overloaded, transient: true, delay_ms: 5}
          - {text: ""}
    prompts:
      verdict:
        system: You judge.
        template: "{{ input.text }} ({{ run.id }})"
        examples: [{input: Good., output: pass}]
    tasks:
      pay: {input_schema: {type: object, required: [order]}, steps: [{ref: pay, action: charge}]}
      judge:
        steps:
          - ref: ask
            action: {kind: llm, implementation: {prompt: verdict, model_profile: fast, tools: [search]}}
    actions:
      charge: {kind: mock, implementation: {output: {receipt: r}}}
      unused: {kind: mock}
    tools:
      refund:
        name: refund
        description: Refund an order.
        input_schema: {type: object, required: [order], properties: {order: {type: string}, amount: {type: number}}}
        task: pay
        input_mapping: {order: input.order, who: caller, at: run.started_at}
        once: true
        exclusive: true
        timeout_ms: 1000
        max_result_bytes: 100
        needs_approval:
          when: "input.amount > 10.0 || tainted"
          title: "{{ tool }} {{ input.order }}"
          assignees: [ann]
          approvals: 1
          timeout_ms: 5
          on_timeout: refuse
      report: {workflow: write_report, async: true, retry: {max_attempts: 2}, needs_approval: tainted}
      expert: {agent: eve, mode: loop_in}
      ask_eve: {agent: eve, output_schema: {type: object}, untrusted: true, needs_approval: false}
      ask_bob: {agent: bob}
      judge: {task: judge}
      search: {mcp: {server: web, tool: search/all}, untrusted: false}
    personas:
      helper:
        instructions: "You are {{ agent }}, {{ persona }}, {{ run.id }}."
        model_profile: fast
        tools: [refund, report, expert, search]
        context_assembly: assemble
        memory_extraction: extract
        compaction: shorten
        memory: {types: {fact: {schema: {type: object}, description: What is true.}, wish: }, scope: user, recall: 0}
        recent_turns: 5
        max_moves_per_turn: 7
        max_parallel_tools: 2
        turn_timeout_ms: 60000
        budget: {turn: 10, conversation: 100, agent_day: 1000, on_empty: ask}
      judge: {model_profile: fake, tools: [ask_bob, judge], memory: {types: [fact]}}
    agents:
      bob: {persona: helper, description: Helps., tags: [shop]}
      eve: {persona: judge}
      zoe: {persona: judge}
    workflows:
      write_report: {initial_node: a, nodes: {a: {task: judge}}}
      shorten: {initial_node: a, nodes: {a: }}
      extract: {initial_node: a, nodes: {a: }}
      other: {initial_node: a, nodes: {a: {action: unused}}}
      triage:
        initial_node: ask
        input_schema: {type: object, properties: {mail: {type: string}, talk: {type: string}}}
        nodes:
          ask:
            agent: {name: bob, output_schema: {type: object}, conversation: input.talk, timeout_ms: 5000}
            input_mapping: {message: input.mail}
            output_mapping: {output.reply: result.text, output.data: result.data, output.id: result.conversation_id}
    flows:
      assemble: {nodes: {a: {type: merge}}}
      drawn: {nodes: {a: {type: agent, data: {agent: zoe, output_schema: {type: object}}}}}
    project:
      settings:
        secrets: {KEY: {env: KEY}}
        mcp: {web: {url: "http://127.0.0.1:1"}}
    """)
"""A library with every key that agents, personas, tools, prompts and profiles have, and nothing wrong."""
