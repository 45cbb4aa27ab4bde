"""One attempt at a task: its steps, their actions, and the data that goes in and out."""
