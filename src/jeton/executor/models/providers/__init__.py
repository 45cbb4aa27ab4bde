"""Real providers, through the lowest level of pydantic-ai. Imported in a thread, when a real model is first called."""
