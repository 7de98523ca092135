"""The fixed persona, the facts that conversation changes, and the block that tells a model the state."""
