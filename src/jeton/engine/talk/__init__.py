"""Conversations with agents: begin them, talk, stop turns, and look back."""
