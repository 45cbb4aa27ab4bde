"""A contest judged by Python functions: the workflow is built in Python, and the functions are its actions.

Prints:
    the winner is Counter, with 7 points
"""

import asyncio
from dataclasses import dataclass
from tempfile import TemporaryDirectory

import jeton


@dataclass
class Vote:
    entry: str
    points: int


@jeton.action
async def judge(entry: str) -> Vote:
    """One judge, who likes long names."""
    return Vote(entry, len(entry))


@jeton.action
def choose(votes: list[Vote]) -> Vote:
    """The vote with the most points."""
    return max(votes, key=lambda vote: vote.points)


contest = jeton.Workflow("contest", output_mapping={"winner": "state.winner"})
receive = contest.node("receive")
judged = contest.node("judge", action=judge, input={"entry": "entry"})
chosen = contest.node("choose", action=choose, input={"votes": "state.votes"}, output={"state.winner": "result"})
contest.transition(receive, judged, foreach="input.entries", item_var="entry")
contest.transition(judged, chosen, synchronization=jeton.join("all", merge=jeton.merge("state.votes")))


async def main() -> None:
    with TemporaryDirectory() as folder:
        async with jeton.open(f"{folder}/contest.db") as engine:
            run = await engine.start(contest, {"entries": ["Pawn", "Counter", "Token"]})
            output = (await run.result()).output_or_raise()
    assert isinstance(output, dict)
    winner = output["winner"]
    assert isinstance(winner, dict)
    print(f"the winner is {winner['entry']}, with {winner['points']} points")


if __name__ == "__main__":
    asyncio.run(main())
