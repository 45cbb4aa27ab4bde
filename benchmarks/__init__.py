"""What jeton costs, measured: beside the machine's own ceiling, in one run, because machines are noisy."""
