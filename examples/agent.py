"""An agent with a Python function as its tool. Its model is a script, so it needs no key.

    python examples/agent.py

Prints:
    {'agent:bob': 1}
    How can I help?
    bob calls refund: {'amount': 20, 'order': 'A-17'}
    Done: A-17 is refunded.
"""

import asyncio
import tempfile
from pathlib import Path

import jeton


@jeton.tool
def refund(order: str, amount: float) -> dict[str, str]:
    """Refund an order, in full or in part."""
    return {"receipt": f"{amount:.2f} for {order}"}


fake = jeton.ModelProfile(
    "fake",
    provider="scripted",
    script=[
        {"when": "message == 'Hello'", "text": "How can I help?"},
        {"when": "moves == 0", "tool_calls": [{"name": "refund", "input": {"order": "A-17", "amount": 20}}]},
        {"text": "Done: A-17 is refunded."},
    ],
)
helper = jeton.Persona(instructions="You help customers of a small shop.", model_profile=fake, tools=[refund])
bob = jeton.Agent("bob", persona=helper)


async def main() -> None:
    """Deploy the agent, and talk to it."""
    with tempfile.TemporaryDirectory() as folder:
        async with jeton.open(Path(folder, "shop.db")) as engine:
            print((await engine.deploy(bob)).versions)
            talk = await engine.converse("bob")
            for text in ("Hello", "I want my money back for A-17."):
                turn = await (await talk.send(text)).result()
                for call in (call for move in turn.moves for call in move.tool_calls):
                    print(f"bob calls {call.name}: {call.input}")
                print(*turn.replies)


if __name__ == "__main__":
    asyncio.run(main())
