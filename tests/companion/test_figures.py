"""The benchmark of companion memory runs, in its short form, and gives the rows that its table promises."""

from __future__ import annotations

from bench import companion


async def test_companion_memory_is_measured() -> None:
    table, searches = await companion.run(short=True)
    assert "200 among 700" in table.title
    assert [row.what for row in table.rows][:2] == [
        "the five memories of a new conversation",
        "context of a turn, a message",
    ]
    assert all(row.ratio > 0 and row.goal for row in table.rows)
    assert [row.what for row in searches.rows] == ["first search, 200 memories", "search, 200 memories"]
