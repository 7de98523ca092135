"""The YAML front matter of a Markdown file: the lines between `---` and `---` at the top.

Every value is text: `no`, `2024-05-01` and `1.0` stay as they are written. Only text and lists of text are
read. Deeper structures are allowed under the keys of other tools and ignored. Anchors, aliases and tags are
refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import yaml

from gieok.errors import InputRefused

MAX_CHARS = 256 * 1024
MAX_DEPTH = 16

Value = str | tuple[str, ...]

_FENCE = "---"
_END_FENCES = frozenset({"---", "..."})
_SPECIAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
"""Characters that YAML does not allow unescaped, and those that are line breaks in YAML 1.1."""
_QUOTED_LINE = re.compile(r'(?:\w+:|  -) "')


@dataclass(frozen=True)
class FrontMatter:
    """The front matter of a file, and the text below it."""

    values: Mapping[str, Value]
    """By lower-case key. A key without a value has ()."""
    nested: frozenset[str]
    """Keys whose value is neither text nor a list of text."""
    body: str
    lines: Sequence[str] = ()
    """The source lines."""
    key_lines: Sequence[tuple[int, str]] = ()
    """The index in `lines` at which each key begins."""

    def lines_without(self, keys: Collection[str]) -> list[str]:
        """The source lines except those of these keys. Comments stay."""
        kept: list[str] = []
        starts = dict(self.key_lines)
        is_removed = False
        for number, line in enumerate(self.lines):
            is_removed = starts[number] in keys if number in starts else is_removed
            if not is_removed or line.startswith("#"):
                kept.append(line)
        return kept


def split(text: str) -> FrontMatter:
    """Split a text with `\\n` line ends into front matter and body. Without front matter, all of it is body.

    InputRefused says which line is wrong.
    """
    first, _, rest = text.partition("\n")
    if first.rstrip() != _FENCE:
        return FrontMatter({}, frozenset(), text)
    lines = rest.split("\n")
    end = next((number for number, line in enumerate(lines) if line.rstrip() in _END_FENCES), None)
    if end is None:
        raise InputRefused("the front matter begins with --- and never ends; add a line --- below it")
    return _parse(lines[:end], "\n".join(lines[end + 1 :]))


def quoted(text: str) -> str:
    """A text as a double-quoted YAML scalar on one line. JSON's escapes are valid in YAML."""
    return _escape_special(json.dumps(text, ensure_ascii=False))


def plain_or_quoted(text: str) -> str:
    """A text without quotes where no character in it has a meaning in YAML."""
    is_plain = all(character.isalnum() or character in "-_./ " for character in text)
    return text if is_plain and not text.startswith("- ") and text != "-" else quoted(text)


def _escape_special(line: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def _parse(lines: Sequence[str], body: str) -> FrontMatter:
    # Gieok before 0.2 wrote special characters unescaped inside double quotes.
    source = [_escape_special(line) if _QUOTED_LINE.match(line) else line for line in lines]
    _check_characters(source)
    values: dict[str, Value] = {}
    nested: set[str] = set()
    key_lines: list[tuple[int, str]] = []
    try:
        for line, key, value in _entries("\n".join(source)):
            if key in values or key in nested:
                raise _refused(line, f"'{key}' is there twice; keep one of them")
            key_lines.append((line, key))
            if value is None:
                nested.add(key)
            else:
                values[key] = value
    except yaml.MarkedYAMLError as error:
        # An unclosed quote or bracket is reported where it was opened, and not at the end of the text.
        is_unclosed = error.context_mark is not None and "block" not in (error.context or "")
        mark = error.context_mark if is_unclosed else error.problem_mark
        problem = " ".join(filter(None, (error.context, error.problem)))
        raise _refused(mark.line if mark else 0, f"this is not valid YAML: {problem}") from None
    return FrontMatter(values, frozenset(nested), body, lines, key_lines)


def _check_characters(lines: Sequence[str]) -> None:
    if sum(map(len, lines)) > MAX_CHARS:
        raise InputRefused(f"the front matter has more than {MAX_CHARS} characters")
    for number, line in enumerate(lines):
        if found := _SPECIAL.search(line):
            code = f"{ord(found[0]):04x}"
            raise _refused(number, f"write the character U+{code.upper()} as \\u{code} inside double quotes")


def _events(source: str) -> Iterator[yaml.Event]:
    yield from yaml.parse(source, Loader=yaml.BaseLoader)  # pyright: ignore[reportUnknownMemberType]  untyped


def _entries(source: str) -> Iterator[tuple[int, str, Value | None]]:
    """Line, key and value of each top-level entry; the value is None for a nested structure."""
    events = _events(source)
    event = next(events)
    while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
        event = next(events)
    if isinstance(event, yaml.StreamEndEvent):
        return  # only comments, or nothing
    if not isinstance(event, yaml.MappingStartEvent) or event.flow_style:
        raise _refused(event.start_mark.line, "the front matter must consist of `key: value` lines")
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        if not isinstance(event, yaml.ScalarEvent):
            raise _refused(event.start_mark.line, "a key must be text")
        value = next(events)
        is_empty = isinstance(value, yaml.ScalarEvent) and not value.value and value.style is None
        yield event.start_mark.line, str(event.value).casefold(), () if is_empty else _value(value, events, 1)
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            raise _refused(event.start_mark.line, "`---` must be alone on its line")


def _value(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Value | None:
    """The value that begins with this event. Consumes its events."""
    line = event.start_mark.line
    if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) or event.anchor or event.tag:
        raise _refused(line, "anchors (&), aliases (*) and tags (!) are not allowed; put the value in quotes")
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    if depth > MAX_DEPTH:
        raise _refused(line, f"the front matter is nested more than {MAX_DEPTH} levels deep")
    items: list[Value | None] = []
    for inner in events:
        if isinstance(inner, yaml.CollectionEndEvent):
            break
        items.append(_value(inner, events, depth + 1))
    texts = tuple(item for item in items if isinstance(item, str))
    return texts if isinstance(event, yaml.SequenceStartEvent) and len(texts) == len(items) else None


def _refused(line: int, reason: str) -> InputRefused:
    """The first line of a file is its fence, so that line 0 of the front matter is line 2 of the file."""
    return InputRefused(f"line {line + 2}: {reason}")
