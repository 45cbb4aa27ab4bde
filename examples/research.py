"""An agent that starts research in the background, goes on talking, and reports when it is done.

    python examples/research.py

Prints:
    ada: What do bees, bats and birds eat?
    bob: I am looking it up.
    ada: Thank you!
    bob: You are welcome.
    (the research is done)
    bob: Bees eat nectar, bats eat insects, birds eat seeds.
"""

import asyncio
from dataclasses import dataclass
from tempfile import TemporaryDirectory

import jeton

FOOD = {"bees": "nectar", "bats": "insects", "birds": "seeds"}
may_end = asyncio.Event()  # in life the research just takes its time


@jeton.action
async def look_up(animal: str) -> str:
    """One piece of research. All of them run at the same time."""
    await may_end.wait()
    return f"{animal} eat {FOOD[animal]}"


research = jeton.Workflow("research", output_mapping={"facts": "state.found.map(each, each.fact)"})
begin = research.node("begin")
find = research.node("find", action=look_up, input={"animal": "animal"}, output={"state.fact": "result"})
report = research.node("report")
research.transition(begin, find, foreach="input.animals", item_var="animal")
research.transition(find, report, synchronization=jeton.join("all", merge=jeton.merge("state.found")))


@dataclass
class Topics:
    animals: list[str]


tool = jeton.Tool("research", "Find out what animals eat.", workflow=research, input=Topics, runs_async=True)
fake = jeton.ModelProfile(
    "fake",
    provider="scripted",
    script=[
        {
            "when": "message.contains('eat')",
            "text": "I am looking it up.",
            "tool_calls": [{"name": "research", "input": {"animals": list(FOOD)}}],
        },
        {"when": "message == 'Thank you!'", "text": "You are welcome."},
        {"text": "Bees eat nectar, bats eat insects, birds eat seeds."},
    ],
)
bob = jeton.Agent("bob", persona=jeton.Persona(model_profile=fake, tools=[tool]))


async def main() -> None:
    """The first turn lingers while its tool works, so the second one is answered before the first has ended."""
    with TemporaryDirectory() as folder:
        async with jeton.open(f"{folder}/research.db") as engine:
            await engine.deploy(bob)
            talk = await engine.converse("bob")
            question = await talk.send("What do bees, bats and birds eat?")
            thanks = await (await talk.send("Thank you!")).result()
            asked, _ = await talk.turns()
            for turn in (asked, thanks):
                print("ada:", turn.message)
                print("bob:", *turn.replies)
            may_end.set()
            print("(the research is done)")
            print("bob:", (await question.result()).replies[-1])


if __name__ == "__main__":
    asyncio.run(main())
