"""What language models were used for an owner, day by day, and the budget that a plan sets."""
