"""The graph of relations between decisions: what a change reaches, and what a proposal conflicts with."""
