"""Reading and judging documents. A judge could be a model: an `llm` action, or an agent."""

import jeton

WANTED = {"strict": 8, "mild": 2, "fair": 5}


@jeton.action
def read(document: dict[str, str]) -> dict[str, str | int]:
    """The title and the length of a document."""
    return {"title": document["title"], "words": len(document["text"].split())}


@jeton.action(retry={"max_attempts": 3, "initial_delay_ms": 200})
def judge(words: int, judge: str) -> dict[str, bool]:
    """One vote."""
    return {"yes": words >= WANTED[judge]}
