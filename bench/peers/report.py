"""The tables of a race: printed, and written between markers into the README and docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.peers.environments import GIEOK, GIEOK_VECTORS, LANGGRAPH
from bench.peers.race import ADD_MANY, ADD_ONE, LOAD, SEARCH_LARGE, SEARCH_SMALL, Size, Speed
from bench.table import Goal, aligned, at_least, at_most, rate
from bench.timing import Timings

_BETWEEN_MARKERS = re.compile(r"(<!-- race -->\n).*?(<!-- /race -->)", re.DOTALL)
_KOREAN_COLUMN = {GIEOK_VECTORS.name: "Gieok + 벡터"}


@dataclass(frozen=True)
class Row:
    """A measurement, with a cell for each entrant. A goal compares Gieok with LangGraph."""

    label: str
    korean: str
    cells: Mapping[str, str]
    ratio: float | None = None
    goal: Goal | None = None
    in_readme: bool = True


def speed_rows(speed: Speed, size: Size) -> list[Row]:
    """The rows of time, disk and memory."""
    total = f"{size.batch * size.batches:,}"

    def timed(
        key: str, label: str, korean: str, cell: Callable[[float], str], goal: Callable[[float], Goal] | None
    ) -> Row:
        timings = speed.timings[key]
        ratio = _ratio(timings, speed.disk)
        if ratio and cell is rate:
            ratio = 1 / ratio
        cells = {name: cell(timings.of(name)) for name in speed.disk}
        return Row(
            label, korean, cells, ratio, goal(ratio) if goal and ratio else None, in_readme=key != LOAD
        )

    def sizes(label: str, korean: str, by_name: Mapping[str, int]) -> Row:
        cells = {name: f"{count / 1e6:,.0f} MB" for name, count in by_name.items()}
        return Row(label, korean, cells, in_readme=False)

    return [
        timed(ADD_ONE, "add one", "하나 추가", rate, lambda ratio: at_least(ratio, 1)),
        timed(
            ADD_MANY,
            f"add {size.batch:,} at once",
            f"{size.batch:,}개씩 추가",
            rate,
            lambda ratio: at_least(ratio, 0.5),
        ),
        timed(
            SEARCH_SMALL,
            f"search {size.small:,} of an owner among {total}",
            f"{total}개 중 한 사용자의 {size.small:,}개에서 검색",
            _millis,
            lambda ratio: at_most(ratio, 0.8),
        ),
        timed(
            SEARCH_LARGE,
            f"search {total} of one owner",
            f"한 사용자의 {total}개에서 검색",
            _millis,
            lambda ratio: at_most(ratio, 0.06),
        ),
        timed(LOAD, "load five", "5개 불러오기", _millis, None),
        sizes(f"disk, {total} memories", f"디스크, {total}개", speed.disk),
        sizes("memory of the process (RSS)", "프로세스 메모리(RSS)", speed.memory),
    ]


def share_row(label: str, korean: str, shares: Mapping[str, float]) -> Row:
    """A row of correct answers, in percent."""
    return Row(label, korean, {name: f"{100 * share:.1f}" for name, share in shares.items()})


def _ratio(timings: Timings, names: Mapping[str, object]) -> float | None:
    is_compared = GIEOK.name in names and LANGGRAPH.name in names
    return timings.ratio(GIEOK.name, LANGGRAPH.name) if is_compared else None


def _millis(seconds: float) -> str:
    return f"{seconds * 1e3:,.2f} ms"


def conditions(versions: Mapping[str, str], skipped: Mapping[str, str], *, korean: bool = False) -> str:
    """When, where and with which versions it was measured, and what was left out."""
    cores, load = ("코어", "부하") if korean else ("cores", "load")
    left_out = "제외" if korean else "Left out"
    machine = (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} {cores}, {load} {os.getloadavg()[0]:.1f}"
    )
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}, {machine}.",
        *(f"{version}." for version in dict.fromkeys(versions.values())),
        *(f"{left_out}: {what}: {why}." for what, why in skipped.items()),
    ]
    return "\n".join(lines)


def full_table(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Every row, with the ratio of Gieok to LangGraph and its goal."""
    lines: list[Sequence[str]] = [("", *names, f"{GIEOK.name} ÷ {LANGGRAPH.name}", "goal", "reached")]
    for row in rows:
        ratio = f"{row.ratio:.2f}×" if row.ratio else ""
        goal = (row.goal.text, "yes" if row.goal.reached else "**no**") if row.goal else ("", "")
        lines.append((row.label, *(row.cells.get(name, "") for name in names), ratio, *goal))
    return "\n".join(aligned(lines))


def short_table(rows: Sequence[Row], names: Sequence[str], *, korean: bool = False) -> str:
    """The rows of the README."""
    titles = [_KOREAN_COLUMN.get(name, name) if korean else name for name in names]
    lines: list[Sequence[str]] = [("", *titles)]
    for row in rows:
        if row.in_readme:
            cells = (row.cells.get(name, "") for name in names)
            lines.append((row.korean if korean else row.label, *cells))
    return "\n".join(aligned(lines))


def write(file: Path, text: str) -> None:
    """Replace what is between the markers of a Markdown file. ValueError if it has none."""
    page = file.read_text("utf-8")
    if not _BETWEEN_MARKERS.search(page):
        raise ValueError(f"{file} has no <!-- race --> … <!-- /race -->")
    file.write_text(_BETWEEN_MARKERS.sub(lambda match: f"{match[1]}{text}\n{match[2]}", page), "utf-8")
