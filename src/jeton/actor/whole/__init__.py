"""A whole run: a copy of everything stored of it, its checks, and its file format."""
