"""How well a memory answers a query. One formula for every store (docs/how-to/memory.md#scores).

Only memories that the searcher may see are counted, so that no score tells what others' memories say.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

MOST_WORDS = 32  # of a query; the rest is ignored
SATURATION, LENGTH_WEIGHT = 1.2, 0.75  # k1 and b of BM25
HALF_LIFE_MS = 30 * 24 * 60 * 60 * 1000
DIGITS = 6


class Scores(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a memory was found, each part from 0 to 1. `vector` is there if both sides have one."""

    text: float
    significance: float
    recency: float
    total: float
    vector: float | None = None


class Statistics:
    """The memories that are searched: how many, how many words they have, and how many of them have each word."""

    def __init__(self, memories: int, words: int, having: Mapping[str, int]) -> None:
        self.average = words / memories if words else 1.0
        self.weights = {word: _rarity(having.get(word, 0), memories) for word in having}
        self.total = sum(self.weights.values()) or 1.0


def query_words(query: str) -> list[str]:
    """The distinct words of a query, in order, up to a limit."""
    from jeton.executor.memory.words import words_of  # loaded with the first query

    return list(dict.fromkeys(words_of(query)))[:MOST_WORDS]


def text_score(words: Sequence[str], found: Statistics) -> float:
    """BM25, divided by what a memory full of every word of the query would get."""
    counts = Counter(word for word in words if word in found.weights)
    needed = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * len(words) / found.average)
    return sum(found.weights[word] * count / (count + needed) for word, count in counts.items()) / found.total


def scores(text: float, vector: float | None, significance: float, age_ms: int) -> Scores:
    """Combine the parts. Words and meaning decide; significance and recency at most double what they give."""
    recency = 0.5 ** (max(age_ms, 0) / HALF_LIFE_MS)
    relevance = text if vector is None else 1 - (1 - text) * (1 - max(vector, 0.0) / 2)
    total = relevance * (2 + significance + recency) / 4
    return Scores(
        text=round(text, DIGITS),
        significance=round(significance, DIGITS),
        recency=round(recency, DIGITS),
        total=round(total, DIGITS),
        vector=None if vector is None else round(vector, DIGITS),
    )


def _rarity(having: int, memories: int) -> float:
    return math.log(1 + (memories - having + 0.5) / (having + 0.5))
