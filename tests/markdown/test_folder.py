"""A folder of records: which files are read, how names are resolved, and which files are written."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from uuid import UUID

import pytest

from gieok.errors import InputRefused, NotFound
from gieok.interfaces.markdown.folder import FolderWriter, entries, read_folder, root_id
from gieok.interfaces.markdown.records import Defaults
from gieok.memory.decisions.exchange import DecisionEntry
from gieok.memory.decisions.records import ProposedRelation

ROOT = UUID("7c9e6679-7425-40de-944b-e07fc1f90ae7")


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def decision(statement: str, *relations: ProposedRelation, root: UUID = ROOT) -> DecisionEntry:
    return DecisionEntry(
        statement=statement, strength="normal", scope="global", root_id=root, relations=relations
    )


def test_only_records_in_force_are_read(tmp_path: Path) -> None:
    """The other files are listed with the reason."""
    write(
        tmp_path,
        README="# Our decisions",
        **{"adr-template": "# {title}"},
        a="# one",
        b="# two\n\n## Status\n\nProposed",
        c="# three\n\n## Status\n\nSuperseded by a",
    )
    (tmp_path / ".drafts").mkdir()
    write(tmp_path / ".drafts", d="not even a record")
    (tmp_path / "notes.txt").write_text("not Markdown")
    found = read_folder(tmp_path, Defaults())
    assert [file.path for file in found.files] == ["a.md"]
    assert [(each.path, each.reason) for each in found.skipped] == [
        ("README.md", "not a record"),
        ("adr-template.md", "not a record"),
        ("b.md", "proposed"),
        ("c.md", "superseded"),
    ]


def test_a_name_always_means_the_same_decision() -> None:
    assert root_id("kim", str(ROOT)) == ROOT
    assert root_id("kim", "ADR-1") == root_id("kim", "ADR-1")
    assert len({root_id("kim", "ADR-1"), root_id("kim", "ADR-2"), root_id("lee", "ADR-1")}) == 3
    assert len({root_id("kim", "ADR-1", space) for space in (None, "wms", "ui")}) == 3
    assert root_id("kim", "결정") == root_id("kim", unicodedata.normalize("NFD", "결정"))


def test_a_target_is_an_id_a_file_or_a_name_of_the_team(tmp_path: Path) -> None:
    (tmp_path / "wms").mkdir()
    write(tmp_path, **{"0001-one": "---\nid: ADR-1\n---\n# one"})
    relations = ("0001-one.md", "0001-one", "ADR-1", "wms/b.md", str(ROOT))
    lines = "\n".join(f"  - DEPENDS_ON {each}" for each in relations)
    write(tmp_path, a=f"---\nrelations:\n{lines}\n---\n# a")
    write(tmp_path / "wms", b="---\nrelations: [REFINES ../a.md]\n---\n# b")
    one, a, b = entries("kim", read_folder(tmp_path, Defaults()).files)
    assert a.relations is not None
    targets = [relation.target for relation in a.relations]
    assert targets == [one.root_id, one.root_id, one.root_id, b.root_id, ROOT]
    assert b.relations == (ProposedRelation(type="REFINES", target=a.root_id),)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a": "# a", "b": "no title"}, "b.md: has no title"),
        (
            {"a": f"---\nid: {ROOT}\n---\n# a", "b": f"---\nid: {ROOT}\n---\n# b"},
            "b.md: has the same id as a.md",
        ),
        (
            {"a": "---\nrelations: [REFINES z]\n---\n# a"},
            "a.md: relations: no record in the folder is",
        ),
        ({"a": "x" * 300_000}, "a.md: has more than 262144 bytes"),
    ],
)
def test_an_invalid_file_is_named(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    write(tmp_path, **files)
    with pytest.raises(InputRefused) as refused:
        entries("kim", read_folder(tmp_path, Defaults()).files)
    assert str(refused.value).startswith(reason)


def test_an_ambiguous_name_is_refused(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, same=f"# {folder}")
    write(tmp_path, a="---\nrelations: [REFINES same]\n---\n# a")
    with pytest.raises(InputRefused, match="more than one record is called 'same'"):
        entries("kim", read_folder(tmp_path, Defaults()).files)


def test_a_file_or_folder_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"# \xff\xfe")
    with pytest.raises(InputRefused, match=r"a\.md: cannot be read as UTF-8"):
        read_folder(tmp_path, Defaults())
    (tmp_path / "a.md").rename(tmp_path / os.fsdecode(b"\xff.md"))
    with pytest.raises(InputRefused, match=r"\?\.md: has a name that is not UTF-8"):
        read_folder(tmp_path, Defaults())
    with pytest.raises(NotFound, match="there is no folder"):
        read_folder(tmp_path / "none", Defaults())


def test_a_second_export_changes_nothing(tmp_path: Path) -> None:
    writer = FolderWriter(tmp_path / "new", "kim")
    writer.write([decision("재고는 한 곳에서 바꾼다")])
    assert writer.written == [("재고는-한-곳에서-바꾼다-7c9e6679.md", "written")]
    again = FolderWriter(tmp_path / "new", "kim")
    again.write([decision("재고는 한 곳에서 바꾼다")])
    assert [outcome for _, outcome in again.written] == ["unchanged"]
    assert len(list((tmp_path / "new").iterdir())) == 1


def test_a_changed_decision_keeps_its_file_and_its_name(tmp_path: Path) -> None:
    """Other files are not written."""
    write(tmp_path, **{"0001-ours": "---\nid: ADR-1\n---\n# 1. before"}, other="# other")
    root = root_id("kim", "ADR-1")
    writer = FolderWriter(tmp_path, "kim")
    writer.write([decision("after", root=root), decision("other", root=root_id("kim", "other.md"))])
    assert writer.written == [("0001-ours.md", "written"), ("other.md", "unchanged")]
    assert "id: ADR-1\n" in (tmp_path / "0001-ours.md").read_text()
    assert (tmp_path / "other.md").read_text() == "# other"
    (ours, _) = entries("kim", read_folder(tmp_path, Defaults()).files)
    assert (ours.root_id, ours.statement) == (root, "after")


def test_a_record_that_is_not_in_force_is_left_alone(tmp_path: Path) -> None:
    deprecated = "# one\n\nStatus: deprecated"
    write(tmp_path, one=deprecated)
    writer = FolderWriter(tmp_path, "kim")
    writer.write([decision("one", root=root_id("kim", "one.md"))])
    assert writer.written == [("one.md", "left")]
    assert (tmp_path / "one.md").read_text() == deprecated


@pytest.mark.parametrize("statement", ["../../etc/passwd", "a/b\\c:d*e?", "...", "\x1b[31m", "x" * 4_000])
def test_no_statement_writes_outside_the_folder(tmp_path: Path, statement: str) -> None:
    writer = FolderWriter(tmp_path / "in", "kim")
    writer.write([decision(statement)])
    (file,) = (tmp_path / "in").iterdir()
    assert file.name.endswith(".md")
    assert list(tmp_path.iterdir()) == [tmp_path / "in"]
    assert entries("kim", read_folder(tmp_path / "in", Defaults()).files)[0].statement == statement


def test_defaults_of_the_import_are_not_a_difference(tmp_path: Path) -> None:
    """Strength and domain were given on the command line, and stay out of the file."""
    write(tmp_path, one="# 1. one")
    (imported,) = entries("kim", read_folder(tmp_path, Defaults("lock", "wms")).files, "wms")
    writer = FolderWriter(tmp_path, "kim")
    writer.write([imported.model_copy(update={"relations": ()})])
    assert writer.written == [("one.md", "unchanged")]


def test_a_rewritten_file_keeps_the_front_matter_of_other_tools(tmp_path: Path) -> None:
    front = "# ours\ndate: 2024-05-01\nstrength: lock\ndeciders:\n  - kim\n\nstatus: accepted"
    write(tmp_path, one=f"---\n{front}\n---\n# ADR-7: before\n\nwhy")
    (before,) = entries("kim", read_folder(tmp_path, Defaults()).files)
    writer = FolderWriter(tmp_path, "kim")
    writer.write([before.model_copy(update={"statement": "after"})])
    text = (tmp_path / "one.md").read_text()
    assert "\n# ours\ndate: 2024-05-01\ndeciders:\n  - kim\n" in text
    assert "\n# ADR-7: after\n" in text
    assert text.count("strength:") == text.count("status:") == 1
    (after,) = entries("kim", read_folder(tmp_path, Defaults()).files)
    assert after.content == before.content.model_copy(update={"statement": "after"})


def test_a_symbolic_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path, elsewhere="# before")
    (tmp_path / "in" / "one.md").symlink_to(tmp_path / "elsewhere.md")
    writer = FolderWriter(tmp_path / "in", "kim")
    writer.write([decision("after", root=root_id("kim", "one.md"))])
    assert writer.written == [("one.md", "left")]
    assert (tmp_path / "in" / "one.md").is_symlink()
    assert (tmp_path / "elsewhere.md").read_text() == "# before"


@pytest.mark.parametrize("statement", ["template", "Use the template engine", "ADR template", "README"])
def test_a_decision_about_templates_is_a_record(tmp_path: Path, statement: str) -> None:
    FolderWriter(tmp_path, "kim").write([decision(statement)])
    write(
        tmp_path, **{"0000-template": "# t", "adr-template-bare-minimal": "# t", "7-template-engine": "# t"}
    )
    found = read_folder(tmp_path, Defaults())
    assert {file.record.statement for file in found.files} == {statement, "t"}
    assert [each.path for each in found.skipped] == ["0000-template.md", "adr-template-bare-minimal.md"]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    writer = FolderWriter(tmp_path / "in", "kim")
    (tmp_path / "in").rmdir()
    with pytest.raises(InputRefused, match="cannot be written: FileNotFoundError"):
        writer.write([decision("one")])
