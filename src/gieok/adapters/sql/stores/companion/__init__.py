"""Companion memory in SQL."""
