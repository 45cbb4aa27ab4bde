"""Who may use a server: keys, sessions of browsers, and queries that people saved."""
