"""Loading a domain's context: with much history and many other decisions, against few and none."""

from __future__ import annotations

from time import perf_counter

from bench.decisions.memory import DOMAIN, OWNER, Memory, Size
from bench.rounds import Work, interleaved
from bench.table import Row, Table, at_most, millis
from gieok import Gieok, User

_QUESTION = "재고는 어디에서 바꾸나"


async def measure(few: Memory, many: Memory, size: Size) -> Table:
    """The same domain in both files, through the plan that ships."""
    async with await Gieok.open(few.settings) as small, await Gieok.open(many.settings) as large:
        timings = await interleaved(
            size.rounds,
            {
                "few": _loads(small.user(OWNER), size.times),
                "many": _loads(large.user(OWNER), size.times),
                "few asked": _loads(small.user(OWNER), size.times, _QUESTION),
                "many asked": _loads(large.user(OWNER), size.times, _QUESTION),
            },
        )
    crowd = many.crowd
    rows = [
        Row(
            f"{what}, {crowd.active:,} active × {crowd.versions} versions",
            millis(timings.of(f"many{kind}")),
            f"{few.crowd.active:,} active × {few.crowd.versions}",
            millis(timings.of(f"few{kind}")),
            ratio := timings.ratio(f"many{kind}", f"few{kind}"),
            at_most(ratio, 1.5),
        )
        for what, kind in (("load a domain", ""), ("load it with a question", " asked"))
    ]
    return Table("Loading a domain of 100 decisions, and 9 global ones", rows)


def _loads(user: User, times: int, question: str | None = None) -> Work:
    async def work() -> float:
        started = perf_counter()
        for _ in range(times):
            await user.decisions.context(DOMAIN, q=question)
        return (perf_counter() - started) / times

    return work
