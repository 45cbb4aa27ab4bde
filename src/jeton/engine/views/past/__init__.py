"""A run as it was after any of its journal entries: counts by node, changes, slots of fan-outs. Pure folds."""
