"""Tables beside those of the runs: written with a commit, read by queries."""
