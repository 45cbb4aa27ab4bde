"""Where companies come from, and what is known of them. Put your database and your service here."""

import jeton


@jeton.action
def new_companies() -> list[str]:
    """Names of companies that nobody looked up yet."""
    return ["Acme", "Globex", "Initech"]


@jeton.action(retry={"max_attempts": 3, "initial_delay_ms": 500})
def enrich(name: str) -> dict[str, str | int]:
    """What a service that costs money says. The price is reserved first; what was not used is given back."""
    jeton.current_call().cost(4)
    return {"name": name, "people": len(name) * 100}
