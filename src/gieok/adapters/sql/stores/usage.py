"""Model usage in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from gieok.adapters.sql.driver.database import Tx
from gieok.memory.usage import UNUSED, ModelUsage, UsageDay


class SqlUsageStore:
    """Usage of one owner inside one transaction. Numbers only, so nothing is sealed."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def add(self, day: date, usage: ModelUsage) -> None:
        self._tx.run(
            "add_usage",
            day=day.isoformat(),
            calls=usage.calls,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        )

    def on(self, day: date) -> ModelUsage:
        row = self._tx.one("get_usage", day=day.isoformat())
        if row is None:
            return UNUSED
        calls, input_tokens, output_tokens = row
        return ModelUsage(calls=calls, input_tokens=input_tokens, output_tokens=output_tokens)

    def delete_before(self, day: date, limit: int) -> int:
        """Delete the oldest days before this one. Returns how many."""
        return self._tx.run("delete_usage_days", day=day.isoformat(), limit=limit)

    def list(self, since: date) -> Sequence[UsageDay]:
        return [
            UsageDay(
                day=date.fromisoformat(day),
                calls=calls,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
            )
            for day, calls, input_tokens, output_tokens in self._tx.all("list_usage", since=since.isoformat())
        ]
