"""What keeps state, delivers messages and carries out effects."""
