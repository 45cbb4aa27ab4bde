"""Plain data into model values, one module per kind of definition."""
