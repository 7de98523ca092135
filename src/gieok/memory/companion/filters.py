"""Filters of a list of memories.

Topics, tags and emotions are sealed, so a filtered list decrypts the memories that it is asked about. A topic
or a tag of one persona is first looked up in the search index, which leaves few of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gieok.engine import Data
from gieok.memory.companion.records import EmotionName, Label, Memory, MemoryPage, Origin
from gieok.memory.companion.rules import MAX_PAGE, check_page
from gieok.memory.companion.store import CompanionStore, MemoryStatus
from gieok.memory.fields import Timestamp
from gieok.text import terms
from gieok.text.normalization import normalize


class MemoryFilter(Data):
    """Which memories a list has. A field that is None filters nothing; a memory must match all others."""

    tag: Label | None = None
    topic: Label | None = None
    emotion: EmotionName | None = None
    origin: Origin | None = None
    since: Timestamp | None = None
    """It happened at this time or later."""
    until: Timestamp | None = None
    """It happened before this time."""

    def matches(self, memory: Memory) -> bool:
        """Whether a memory passes. Case and width of labels do not matter."""
        return (
            _has(memory.tags, self.tag)
            and _has(memory.topics, self.topic)
            and self.emotion in (None, memory.emotion)
            and self.origin in (None, memory.origin)
            and (self.since is None or self.since <= memory.occurred_at)
            and (self.until is None or memory.occurred_at < self.until)
        )


ANY = MemoryFilter()


def list_filtered(
    store: CompanionStore,
    persona_id: str | None,
    status: MemoryStatus,
    wanted: MemoryFilter,
    *,
    limit: int,
    offset: int,
) -> MemoryPage:
    """One page of the memories that match, newest first, and how many match in total."""
    if wanted == ANY:
        return store.list(persona_id, status, limit, offset)
    check_page(limit, offset)
    found = [memory for memory in _candidates(store, persona_id, status, wanted) if wanted.matches(memory)]
    page = tuple(found[offset : offset + limit])
    return MemoryPage(memories=page, total=len(found), has_more=offset + len(page) < len(found))


def _candidates(
    store: CompanionStore, persona_id: str | None, status: MemoryStatus, wanted: MemoryFilter
) -> Iterable[Memory]:
    """Memories that may match, newest first: those with the rarest word of the topic and the tag, or all."""
    words = [word for label in (wanted.topic, wanted.tag) if label for word in terms(normalize(label))]
    if persona_id is None or not words:
        return list_all(store, persona_id, status)
    index = store.index(persona_id, include_archived=status != "active")
    found = index.find(words)
    if len(found) < len(set(words)):
        return ()
    rows = min((match.rows for match in found.values()), key=len)
    newest = sorted(rows.tolist(), key=lambda row: index.rows.columns.numbers[row], reverse=True)
    memories = [each.record for each in index.open(newest) if isinstance(each.record, Memory)]
    if status == "archived":
        memories = [memory for memory in memories if memory.archived_at is not None]
    return sorted(memories, key=lambda memory: memory.created_at, reverse=True)


def list_all(store: CompanionStore, persona_id: str | None, status: MemoryStatus) -> Iterator[Memory]:
    """All memories of one persona or of all, newest first."""
    offset = 0
    while True:
        page = store.list(persona_id, status, MAX_PAGE, offset)
        yield from page.memories
        offset += len(page.memories)
        if not page.has_more:
            return


def _has(labels: tuple[str, ...], wanted: str | None) -> bool:
    return wanted is None or normalize(wanted) in map(normalize, labels)
