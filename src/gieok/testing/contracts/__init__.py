"""Contract suites for stores, as pytest classes. They run on SQLite, on PostgreSQL and on your own store.

Subclass the suite of a store and give it the fixture that its docstring names. The suites need pytest,
pytest-asyncio and hypothesis.
"""
