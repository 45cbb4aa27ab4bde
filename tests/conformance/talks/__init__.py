"""Conversations: turns, tools, approvals, memory, budgets and restarts, on every host."""
