"""Threads and processes that run functions and programs."""
