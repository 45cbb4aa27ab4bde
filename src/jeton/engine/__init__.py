"""The public API: open a store, deploy definitions, start runs, and query and control them."""
