"""Batch consecutive token creations into one decision."""

from jeton.model.decision import CreateToken, CreateTokens, Decision


def batch_creations(decisions: list[Decision]) -> list[Decision]:
    """Replace consecutive creations by one decision, so that a wide fan-out is short in the journal."""
    if len(decisions) < 2 or [type(d) for d in decisions].count(CreateToken) < 2:
        return decisions
    batched: list[Decision] = []
    run: list[CreateToken] = []
    for decision in decisions:
        if isinstance(decision, CreateToken):
            run.append(decision)
            continue
        _close(run, batched)
        batched.append(decision)
    _close(run, batched)
    return batched


def _close(run: list[CreateToken], batched: list[Decision]) -> None:
    if len(run) == 1:
        batched.append(run[0])
    elif run:
        batched.append(CreateTokens(tuple(run)))
    run.clear()
