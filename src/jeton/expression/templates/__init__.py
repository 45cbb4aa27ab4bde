"""Templates: texts with holes, bounded in what they may make."""
