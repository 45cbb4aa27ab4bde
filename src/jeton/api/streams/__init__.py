"""Streams of events, as WebSocket and as server-sent events: one source of frames, two ways to write them."""
