"""Work on definitions that strangers wrote, in processes of its own: it can be bounded and ended there."""
