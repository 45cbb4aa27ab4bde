"""One run as a whole: a copy of all that is stored of it, checked, and as a file."""
