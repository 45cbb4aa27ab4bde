"""The parts of an expression that the CEL library evaluates."""
