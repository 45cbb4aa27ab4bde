"""Vectors from the weights that lie in the package wordllama, which are read directly, without any network."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from jeton.executor.memory.store import Vector
from jeton.executor.memory.vectors import missing_extra, require_numpy, vector_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOCAL_MODEL = "wordllama-l2-256"
MOST_LETTERS = 4000  # of a text; what follows hardly changes a mean

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENS = "tokenizers/l2_supercat_tokenizer_config.json"


def local_vector(text: str) -> Vector:
    """The mean of the vectors of a text's tokens. Slow at first, because weights are loaded: call it in a thread.

    Raises Refused if a package is not installed."""
    table, tokenizer = _loaded()
    ids: list[int] = tokenizer.encode(text[:MOST_LETTERS], add_special_tokens=False).ids
    mean = table[ids].mean(axis=0, dtype="float32") if ids else table[0] * 0
    return vector_of(LOCAL_MODEL, mean)


class _Table(msgspec.Struct):
    dtype: str
    shape: tuple[int, int]
    data_offsets: tuple[int, int]


@cache
def _loaded() -> "tuple[NDArray[np.float16], Any]":
    """A vector for each token, and what splits texts into tokens."""
    require_numpy()
    for package in ("tokenizers", "wordllama"):
        if find_spec(package) is None:
            raise missing_extra(package)
    import numpy
    from tokenizers import Tokenizer

    spec = find_spec("wordllama")  # found, and not imported: it would look for a network
    folder = Path(spec.origin).parent if spec is not None and spec.origin is not None else Path()
    if not (folder / _WEIGHTS).exists() or not (folder / _TOKENS).exists():
        raise missing_extra("the weights of wordllama")
    content = (folder / _WEIGHTS).read_bytes()  # a length, a JSON header, and the numbers
    start = 8 + int.from_bytes(content[:8], "little")
    (table,) = msgspec.json.decode(content[8:start], type=dict[str, _Table]).values()
    first, last = (start + offset for offset in table.data_offsets)
    tokenizer = Tokenizer.from_file(str(folder / _TOKENS))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return numpy.frombuffer(content[first:last], dtype=numpy.float16).reshape(table.shape), tokenizer
