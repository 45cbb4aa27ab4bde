"""One suite, every host: a workflow, an input, what must come out. The ids are those of the scenarios they hold."""
