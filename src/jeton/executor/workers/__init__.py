"""ThreadPool and processes that carry out work."""
