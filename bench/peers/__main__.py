"""`make race` (`python -m bench.peers`): install the peers, measure them beside Gieok, print the table."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.peers.environments import ENTRANTS, ROOT, NotInstalled, model_of, python_of
from bench.peers.questions import QuestionSet, generated, read_folder
from bench.peers.race import LONG, SHORT, PeerFailed, Ready, ask_all, check, measure_speed, progress
from bench.peers.report import Row, conditions, full_table, share_row, short_table, speed_rows, write
from bench.peers.texts import ENGLISH, KOREAN
from bench.peers.vectors import VectorFile

FOLDER = ROOT / ".race"
"""The environments of the peers, the model and its vectors. Ignored by git."""
_TEXTS_AT_ONCE = 256


async def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers", description="Gieok beside other memory stores."
    )
    parser.add_argument(
        "--only", nargs="*", metavar="NAME", help="entrants: " + ", ".join(e.name for e in ENTRANTS)
    )
    parser.add_argument(
        "--data",
        nargs="*",
        type=Path,
        metavar="FOLDER",
        default=[Path(each) for each in os.environ.get("GIEOK_RECALL_DATA", "").split(os.pathsep) if each],
        help="folders of conversations for the rows of recall (GIEOK_RECALL_DATA)",
    )
    parser.add_argument("--short", action="store_true", help="small sizes, to try it")
    parser.add_argument("--write", action="store_true", help="write the tables into the README and docs")
    options = parser.parse_args()
    if unknown := set(options.only or ()) - {entrant.name for entrant in ENTRANTS}:
        parser.error(f"no entrant {', '.join(unknown)}; there are {', '.join(e.name for e in ENTRANTS)}")
    FOLDER.mkdir(exist_ok=True)

    skipped: dict[str, str] = {}
    entrants, versions = await get_ready(options.only, skipped)
    names = [ready.entrant.name for ready in entrants]
    size = SHORT if options.short else LONG
    rows = speed_rows(await measure_speed(entrants, size), size)
    rows += await question_rows(entrants, options.data, skipped)

    about, table = conditions(versions, skipped), full_table(rows, names)
    print(f"\n{about}\n\n{table}")
    if options.write:
        write(ROOT / "docs" / "benchmarks.md", f"\n{about}\n\n{table}\n")
        for file, korean in (("README.md", False), ("README.ko.md", True)):
            about = conditions(versions, skipped, korean=korean)
            write(ROOT / file, f"\n{about}\n\n{short_table(rows, names, korean=korean)}\n")


async def get_ready(
    only: Sequence[str] | None, skipped: dict[str, str]
) -> tuple[list[Ready], dict[str, str]]:
    """Install and try the entrants. Those that do not work are left out, with the reason."""
    entrants: list[Ready] = []
    versions: dict[str, str] = {}
    for entrant in ENTRANTS:
        if only and entrant.name not in only:
            continue
        try:
            ready = Ready(entrant, python_of(entrant, FOLDER))
            versions[entrant.name] = await check(ready)
            entrants.append(ready)
        except (NotInstalled, PeerFailed) as error:
            skipped[entrant.name] = str(error)
            progress(f"{entrant.name} is left out: {error}")
    return entrants, versions


async def question_rows(
    entrants: Sequence[Ready], folders: Sequence[Path], skipped: dict[str, str]
) -> list[Row]:
    """Correct hits and recall, with vectors of MiniLM."""
    korean, english = generated("Korean", KOREAN), generated("English", ENGLISH)
    sets = read_sets(folders, skipped)
    try:
        model = model_of(FOLDER)
    except NotInstalled as error:
        skipped["correct hits and recall"] = str(error)
        return []
    sys.path.append(str(model))
    os.environ["PYTHONPATH"] = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(model)])
    vectors = FOLDER / "vectors.db"
    await embed({text for each in (korean, english, *sets) for text in each.texts()}, VectorFile(vectors))

    rows: list[Row] = []
    for each, label, in_korean, depth in (
        (korean, "answer in the first five, Korean (%)", "정답이 상위 5개 안에, 한국어 (%)", 5),
        (english, "answer in the first five, English (%)", "정답이 상위 5개 안에, 영어 (%)", 5),
        *((each, f"recall@10, {each.name} (%)", f"recall@10, {each.name} (%)", 10) for each in sets),
    ):
        progress(f"{label}: {len(each.conversations)} owners, {each.questions:,} questions")
        found = await ask_all(entrants, each, str(vectors), depth)
        rows.append(
            share_row(label, in_korean, {name: each.recall(ranked, depth) for name, ranked in found.items()})
        )
    return rows


def read_sets(folders: Sequence[Path], skipped: dict[str, str]) -> list[QuestionSet]:
    """The conversations of all folders. A missing folder is left out, with the reason."""
    sets: list[QuestionSet] = []
    if not folders:
        skipped["recall"] = "no data; give folders with --data or GIEOK_RECALL_DATA"
    for folder in folders:
        if folder.is_dir():
            sets += read_folder(folder)
        else:
            skipped[f"recall of {folder}"] = "there is no such folder"
    return sets


async def embed(texts: set[str], file: VectorFile) -> None:
    """Embed what no earlier run has embedded, short texts first."""
    from bench.peers.gieok_store import CachedMiniLM  # noqa: PLC0415  needs the model on sys.path

    missing = sorted(texts - file.read(texts).keys(), key=len)
    model = CachedMiniLM(file)
    for start in range(0, len(missing), _TEXTS_AT_ONCE):
        progress(f"embedding {start:,} of {len(missing):,} texts (once; later runs read them)")
        await model.embed_documents(missing[start : start + _TEXTS_AT_ONCE])


if __name__ == "__main__":
    asyncio.run(main())
