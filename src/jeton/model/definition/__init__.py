"""Definitions: workflows, flows, tasks, triggers and model profiles."""
