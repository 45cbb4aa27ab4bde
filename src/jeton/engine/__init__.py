"""The public face: open a store, deploy definitions, start runs, and ask them what they did and why."""
