"""Python functions as actions and as nodes: arguments, results, durable steps."""
