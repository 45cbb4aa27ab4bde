"""What a server's clients look through: runs by queries, deployed definitions, usage, and the store."""
