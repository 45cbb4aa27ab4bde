"""What the engine shows of runs: records, events, tokens, explanations, drawings."""
