"""A recorded conversation, done again with another prompt: what would have been said, and asked for, instead?

    python examples/replay.py

Prints:
    bob: Hello, how can I help?
    bob: I refunded 20 for A-17.
    with the other prompt:
      text of turn 2:
        - ['I refunded 20 for A-17.']
        + ['I could not refund A-17.']
      calls of turn 2:
        - [{'name': 'refund', 'input': {'amount': 20, 'order': 'A-17'}}]
        + [{'name': 'refund', 'input': {'amount': 5, 'order': 'A-17'}}]
    paid: 20 for A-17
"""

import asyncio
from tempfile import TemporaryDirectory

import jeton

paid: list[str] = []


@jeton.tool
def refund(order: str, amount: int) -> dict[str, str]:
    """Refund an order, in full or in part."""
    paid.append(f"{amount} for {order}")
    return {"receipt": f"r-{len(paid)}"}


def refunds(amount: int) -> list[dict[str, object]]:
    return [{"name": "refund", "input": {"order": "A-17", "amount": amount}}]


fake = jeton.ModelProfile(
    "fake",
    provider="scripted",
    script=[
        {"when": "message == 'Hello'", "text": "Hello, how can I help?"},
        {"when": "moves == 0 && context.instructions.contains('at most 5')", "tool_calls": refunds(5)},
        {"when": "moves == 0", "tool_calls": refunds(20)},
        {"when": "has(tool_results[0].error)", "text": "I could not refund A-17."},
        {"text": "I refunded 20 for A-17."},
    ],
)
generous = jeton.Persona("generous", instructions="Refund what is asked for.", model_profile=fake, tools=[refund])
bob = jeton.Agent("bob", persona=generous)
careful = {"instructions": "Refund at most 5.", "model_profile": "fake", "tools": ["refund"]}


async def main() -> None:
    """Tools are recorded: a call that was made before has the result of then, another one an error. Nothing is paid."""
    with TemporaryDirectory() as folder:
        async with jeton.open(f"{folder}/shop.db") as engine:
            await engine.deploy([bob, {"personas": {"careful": careful}}])
            talk = await engine.converse("bob")
            for text in ("Hello", "I want 20 back for A-17."):
                turn = await (await talk.send(text)).result()
                print("bob:", *turn.replies)
            print("with the other prompt:")
            for again in await talk.replay(persona="careful"):
                for each in (each for each in again.differences if each.what != "tokens"):
                    print(f"  {each.what} of turn {again.turn}:")
                    print("    -", each.before)
                    print("    +", each.after)
    print("paid:", *paid)


if __name__ == "__main__":
    asyncio.run(main())
