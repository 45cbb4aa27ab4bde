"""Views of runs: records, events, tokens, explanations, drawings."""
