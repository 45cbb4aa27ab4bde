"""The server: requests in, answers and streams of events out. One table of routes says all that it does."""
