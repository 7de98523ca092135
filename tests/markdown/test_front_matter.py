"""YAML front matter: values stay text, and whatever could surprise is refused with its line."""

from __future__ import annotations

import pytest

from gieok.errors import InputRefused
from gieok.interfaces.markdown.front_matter import MAX_CHARS, MAX_DEPTH, quoted, split


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a: no", "no"),
        ("a: 2024-05-01", "2024-05-01"),
        ("a: 1.0", "1.0"),
        ("a: 0o17", "0o17"),
        ("a: null", "null"),
        ("a: ~", "~"),
        ("a: 12:30:00", "12:30:00"),
        ("a: <<", "<<"),
        ("a: b # comment", "b"),
        ("a: b#c", "b#c"),
        ("a: 'it''s'", "it's"),
        ('a: "\\ud55c\\n"', "한\n"),
        ("a: see [3](3.md)", "see [3](3.md)"),
        ("a:", ()),
        ("a: ''", ""),
        ("a: []", ()),
        ("a: [b, c d]", ("b", "c d")),
        ("a:\n- b\n  - c", ("b - c",)),
        ("a:\n  - b\n  -\n  - 'c'", ("b", "", "c")),
        ("a: |\n  b\n  c\n", "b\nc\n"),
        ("a: b\n  c", "b c"),
        ("'A B': c", "c"),
    ],
)
def test_a_value_is_text_or_a_list_of_texts(line: str, value: str | tuple[str, ...]) -> None:
    front = split(f"---\n{line}\n---\nbody")
    assert list(front.values.values()) == [value]
    assert (front.nested, front.body) == (frozenset(), "body")


@pytest.mark.parametrize("value", ["{b: c}", "\n  b: c", "[[b]]", "[{b: c}]", "\n  - b: c"])
def test_a_nested_structure_is_not_read(value: str) -> None:
    front = split(f"---\nid: x\na: {value}\n---\n")
    assert (front.values, front.nested) == ({"id": "x"}, {"a"})


@pytest.mark.parametrize("nothing", ["", "# only a comment", "\n\n"])
def test_empty_front_matter(nothing: str) -> None:
    assert split(f"---\n{nothing}\n---\nbody").values == {}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("a: b\nc: &anchor d", "line 3: anchors"),
        ("a: b\nc: *alias", "line 3: anchors"),
        ("a: b\nc: !!python/object d", "line 3: anchors"),
        ("a: b\nc: [d, !!str e]", "line 3: anchors"),
        ("a: b\nA: c", "line 3: 'a' is there twice"),
        ("a: b: c", "line 2: this is not valid YAML: mapping values are not allowed here"),
        ("a: b\nc: @d", "line 3: this is not valid YAML"),
        ("a: b\n\tc: d", "line 3: this is not valid YAML"),
        ("a: b\nc: [d", "line 3: this is not valid YAML"),
        ("a: b\n- c", "line 3: this is not valid YAML"),
        ("- a\n- b", "line 2: the front matter must consist of `key: value` lines"),
        ("{a: b}", "line 2: the front matter must consist of `key: value` lines"),
        ("? [a]\n: b", "line 2: a key must be text"),
        ("a: b\n--- c", "line 3: `---` must be alone on its line"),
        ("a: b\nc: d\u2028e", "line 3: write the character U+2028 as \\u2028 inside double quotes"),
        ("a: b\x7f", "line 2: write the character U+007F"),
        (f"a: {'[' * (MAX_DEPTH + 1)}", f"line 2: the front matter is nested more than {MAX_DEPTH}"),
        ("a: " + "b" * MAX_CHARS, f"more than {MAX_CHARS} characters"),
    ],
)
def test_front_matter_that_is_refused(lines: str, message: str) -> None:
    with pytest.raises(InputRefused) as refused:
        split(f"---\n{lines}\n---\n")
    assert message in str(refused.value)


@pytest.mark.parametrize("text", ["a\u2028b\x85c\x7f\x9f", "\x00\x1f\t\r\n", '"quotes" and \\', "🦓 한"])
def test_a_quoted_text_reads_back(text: str) -> None:
    assert split(f"---\na: {quoted(text)}\nb:\n  - {quoted(text)}\n---\n").values == {"a": text, "b": (text,)}


def test_special_characters_of_older_files_are_read() -> None:
    front = split('---\nstatement: "a\u2028b\x85c"\nrelations:\n  - "REFINES a\x85b"\n---\n')
    assert front.values == {"statement": "a\u2028b\x85c", "relations": ("REFINES a\x85b",)}


def test_the_lines_of_other_keys_and_comments_stay() -> None:
    others = ["tags:", "  - a", "text: |", "  id: y", ""]
    lines = ["# note", "id: x", *others, "relations:", "# kept", "- b", "z: {id: q}"]
    front = split("\n".join(["---", *lines, "---", ""]))
    assert front.lines_without({"id", "relations"}) == ["# note", *others, "# kept", "z: {id: q}"]
