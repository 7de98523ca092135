"""For those who build on Gieok: contract suites for stores, a clock, settings for tests."""
