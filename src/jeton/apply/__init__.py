"""A pure fold: state and decisions into what changed, events and effects. Its cost follows the change, not the run."""
