"""The owner's event loop: runs in memory, tasks, alarms, recovery, triggers."""
