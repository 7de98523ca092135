"""Decisions that keep applying, the evidence behind them, and the anchors that lead back to both."""
