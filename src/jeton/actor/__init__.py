"""One run at a time: take a batch of messages, plan, apply, and give a host one value to commit."""
