"""Turns of conversations: context, model calls, answers, tools, approvals."""
