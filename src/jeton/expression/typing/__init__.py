"""Types of expressions, inferred from the schemas of their variables."""
