"""HTTP calls to servers nobody vouches for. What needs the client library is imported at the first call only."""
