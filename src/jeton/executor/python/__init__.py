"""Python functions as actions and nodes: arguments, results, durable steps."""
