"""Vectors of texts, and how close they are. Needs `jeton[vectors]`; nothing of it is imported before it is used."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from jeton.executor.memory.store import Vector
from jeton.model.failure import Refused

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Key = TypeVar("_Key")


def vector_of(model: str, numbers: "Sequence[float] | NDArray[np.float32]") -> Vector:
    """A vector of length 1, with 16 bits per number."""
    require_numpy()
    import numpy

    given = numpy.asarray(numbers, dtype=numpy.float32)
    length = float(numpy.linalg.norm(given))
    return Vector(model, (given / length if length > 0 else given).astype("<f2").tobytes())


def similarities(query: Vector, stored: Sequence[tuple[_Key, Vector]]) -> dict[_Key, float]:
    """The cosine of a vector with each of others, by key. Those of another model, or of another size, are left out."""
    alike = [
        (key, vector.values)
        for key, vector in stored
        if vector.model == query.model and len(vector.values) == len(query.values)
    ]
    if not alike or not query.values:
        return {}
    require_numpy()
    import numpy

    rows = numpy.frombuffer(b"".join(values for _, values in alike), dtype="<f2").astype(numpy.float32)
    one = numpy.frombuffer(query.values, dtype="<f2").astype(numpy.float32)
    cosines = rows.reshape(len(alike), -1) @ one
    return {key: float(cosine) for (key, _), cosine in zip(alike, cosines, strict=True)}


def require_numpy() -> None:
    """Raise Refused if numpy is not installed."""
    if find_spec("numpy") is None:
        raise missing_extra("numpy")


def missing_extra(package: str) -> Refused:
    """The refusal for a package that is not installed."""
    problem = f"memories cannot be compared by meaning without {package}, which is not installed"
    return Refused("vectors_unavailable", problem, "install jeton[vectors], or remove project.settings.memory.vectors")
