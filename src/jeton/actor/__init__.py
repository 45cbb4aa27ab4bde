"""One run at a time: take a batch of messages, plan, apply, commit. Written against a port that every host fulfils."""
