"""Loading decision memory into a prompt: seven layers in a fixed order, within a token budget."""
