"""A refund that a person must approve: nothing is paid before somebody has seen the exact amount.

    python examples/refund.py

Prints:
    may bob refund {'amount': 200, 'order': 'A-17'}?
    ada: refuse, the order cost 20
    bob: I may not refund 200 for A-17: the order cost 20.
    may bob refund {'amount': 20, 'order': 'A-17'}?
    ada: approve, that is right
    bob: I refunded 20 for A-17.
    paid: 20 for A-17
"""

import asyncio
from tempfile import TemporaryDirectory

import jeton

paid: list[str] = []


@jeton.tool(needs_approval="input.amount > 10", once=True)
def refund(order: str, amount: int) -> dict[str, str]:
    """Refund an order, in full or in part."""
    paid.append(f"{amount} for {order}")
    return {"receipt": f"r-{len(paid)}"}


def asks_for(amount: int) -> dict[str, object]:
    call = {"name": "refund", "input": {"order": "A-17", "amount": amount}}
    return {"when": f"message.contains(' {amount} ') && moves == 0", "tool_calls": [call]}


fake = jeton.ModelProfile(
    "fake",
    provider="scripted",
    script=[
        asks_for(200),
        asks_for(20),
        {"when": "has(tool_results[0].error)", "text": "I may not refund 200 for A-17: the order cost 20."},
        {"text": "I refunded 20 for A-17."},
    ],
)
helper = jeton.Persona(instructions="You help customers of a small shop.", model_profile=fake, tools=[refund])
bob = jeton.Agent("bob", persona=helper)


async def ask(engine: jeton.Engine, talk: jeton.Conversation, text: str, decision: str, reason: str) -> None:
    """Say something, and answer the approval. The answer could come days later, from `jeton answer`."""
    turn = await talk.send(text)
    await engine.idle()
    (gate,) = await talk.gates()
    print(f"may bob refund {gate.input}?")
    print(f"ada: {decision}, {reason}")
    await talk.answer({"decision": decision, "reason": reason}, gate=gate.id, by="ada")
    print("bob:", *(await turn.result()).replies)


async def main() -> None:
    """Ask for too much, then for the right amount."""
    with TemporaryDirectory() as folder:
        async with jeton.open(f"{folder}/shop.db") as engine:
            await engine.deploy(bob)
            talk = await engine.converse("bob")
            await ask(engine, talk, "I want 200 back for A-17.", "refuse", "the order cost 20")
            await ask(engine, talk, "Then I want 20 back for A-17.", "approve", "that is right")
    print("paid:", *paid)


if __name__ == "__main__":
    asyncio.run(main())
