"""Model profiles built in Python."""

from collections.abc import Mapping, Sequence
from typing import Any

from jeton.engine.build.parts import Parts, given_values
from jeton.executor import RetryOptions
from jeton.model.definition.task import RetryPolicy


class ModelProfile:
    """A model: its provider, how it is called, and what its tokens cost."""

    def __init__(
        self,
        name: str,
        *,
        provider: str,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        prices: Mapping[str, int] | None = None,
        context_window: int | None = None,
        accepts: Sequence[str] = (),
        timeout_ms: int | None = None,
        retry_policy: RetryPolicy | RetryOptions | None = None,
        fallbacks: Sequence["ModelProfile | str"] = (),
        background: bool | None = None,
        script: Sequence[Mapping[str, Any]] | None = None,
        description: str | None = None,
    ) -> None:
        """`api_key` is the name of a secret of the project. `script` has the answers of the provider `scripted`."""
        self.name = name
        self._fallbacks = tuple(fallbacks)
        self._fields = given_values(
            provider=provider,
            model=model,
            base_url=base_url,
            api_key=None if api_key is None else {"secret": api_key},
            parameters=parameters,
            prices=prices,
            context_window=context_window,
            accepts=accepts or None,
            timeout_ms=timeout_ms,
            retry_policy=retry_policy,
            background=background,
            script=script,
            description=description,
        )

    def collect(self, parts: Parts) -> None:
        """Add the profile and its fallbacks to the content of a library file."""
        fallbacks = [parts.refer(each) for each in self._fallbacks]
        parts.add("model_profiles", self.name, {**self._fields, **given_values(fallbacks=fallbacks or None)})

    def __repr__(self) -> str:
        return f"<model profile {self.name}>"
