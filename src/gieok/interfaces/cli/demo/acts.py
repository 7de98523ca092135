"""The acts of the demo, except the killed process. Each runs Gieok and returns the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import apsw

from gieok.adapters.sql.driver.sqlite_file import Connection
from gieok.app import ChatTurn, Gieok, User
from gieok.interfaces.cli.demo.story import Messages, Story
from gieok.memory.canon.records import FactVersion, PersonaCard, PersonaDraft
from gieok.memory.companion.records import Memory
from gieok.memory.decisions.records import Decision, DecisionProposal, Impact
from gieok.ranking import packed_tokens
from gieok.settings import Settings

_BETWEEN_CALLS = timedelta(seconds=20)
_MEMORY = "SELECT owner, persona_id, importance, occurred_at, content, terms FROM memories WHERE id = ?"
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


@dataclass(frozen=True)
class DemoFolder:
    """Folder with the database, the keystore and the root key of the demo. Ignores the user's settings."""

    path: Path

    @property
    def database(self) -> Path:
        return self.path / "data" / "gieok.db"

    @property
    def settings(self) -> Settings:
        return Settings(
            database_url=f"sqlite:///{self.database}",
            keystore_url=f"sqlite:///{self.database}.keys",
            root_key_file=None,
            own_key_file=self.path / "key" / "root.key",
            model="offline",
        )

    async def open(self, at: datetime) -> Gieok:
        """Open Gieok with a clock that starts at `at`. Everything else is as in production."""
        calls = count()
        return await Gieok.open(
            self.settings, clock=lambda: at + next(calls) * _BETWEEN_CALLS, background=False
        )


@dataclass(frozen=True)
class Exchange:
    """A message and its turn."""

    message: str
    turn: ChatTurn


@dataclass(frozen=True)
class Talk:
    """A closed session and the memory of it."""

    exchanges: tuple[Exchange, ...]
    memory: Memory


@dataclass(frozen=True)
class MemoryRow:
    """A memory as stored in the database. `tokens` are the keyed hashes of its words."""

    id: UUID
    owner: str
    persona_id: str
    importance: int
    occurred_at: int
    """Microseconds since 1970."""
    content: bytes
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class FileSearch:
    """How often each text occurs in the files of a folder."""

    files: int
    size: int
    matches: Mapping[str, int]


@dataclass(frozen=True)
class FactChange:
    """A message that changed a fact: the state block before and after, and the versions of the fact."""

    exchange: Exchange
    before: str
    after: str
    versions: Sequence[FactVersion]
    persona_before: PersonaCard
    persona_after: PersonaCard


@dataclass(frozen=True)
class DecisionImpact:
    """Impact of a change of the first decision, and all decisions of the story."""

    impact: Impact
    decisions: Sequence[Decision]


async def create_persona(story: Story, folder: DemoFolder) -> PersonaCard:
    draft = PersonaDraft(name=story.character, language=story.language, system_prompt=story.character_prompt)
    async with await folder.open(story.talks[0].at) as gieok:
        return await gieok.user(story.owner).personas.create(draft, persona_id=story.persona_id)


async def run_session(story: Story, folder: DemoFolder, messages: Messages) -> Talk:
    """Act 1: send the messages, close the session, and return the memory of it."""
    exchanges: list[Exchange] = []
    async with await folder.open(messages.at) as gieok:
        user = gieok.user(story.owner)
        for message in messages.texts:
            session_ref = exchanges[0].turn.session_ref if exchanges else None
            turn = await user.chat.send(story.persona_id, message, session_ref=session_ref, wait_memory=True)
            exchanges.append(Exchange(message, turn))
        closed = await user.sessions.close(exchanges[0].turn.session_ref, wait=True)
        if closed.memory_id is None:
            raise AssertionError("a closed session has no memory")
        return Talk(tuple(exchanges), await user.companion.get(closed.memory_id))


def read_memory_row(database: Path, memory_id: UUID) -> MemoryRow:
    """Act 2: read the row of a memory with SQLite, without Gieok and its keys."""
    with _open_read_only(database) as connection:
        ((owner, persona_id, importance, at, content, terms),) = _rows(connection, _MEMORY, memory_id.bytes)
    return MemoryRow(memory_id, owner, persona_id, importance, at, content, packed_tokens(terms))


def search_files(folder: Path, texts: Iterable[str]) -> FileSearch:
    """Act 2: search all bytes of all files for the texts.

    No database in the folder may be open in this process: closing a file drops SQLite's locks on it.
    """
    contents = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    matches = {
        text: sum(content.count(text.encode(encoding)) for content in contents for encoding in _ENCODINGS)
        for text in texts
    }
    return FileSearch(len(contents), sum(map(len, contents)), matches)


async def start_new_session(story: Story, folder: DemoFolder) -> Exchange:
    """Act 3: send the first message of a new session."""
    async with await folder.open(story.recall.at) as gieok:
        message = story.recall.texts[0]
        chat = gieok.user(story.owner).chat
        turn = await chat.send(story.persona_id, message, new_session=True, wait_memory=True)
        return Exchange(message, turn)


async def change_fact(story: Story, folder: DemoFolder, session_ref: str) -> FactChange:
    """Act 4: send a message that supersedes a fact."""
    persona_id, message = story.persona_id, story.change.texts[0]
    async with await folder.open(story.change.at) as gieok:
        user = gieok.user(story.owner)
        persona, before = await user.personas.get(persona_id), await user.canon.state(persona_id)
        turn = await user.chat.send(persona_id, message, session_ref=session_ref, wait_memory=True)
        return FactChange(
            exchange=Exchange(message, turn),
            before=before.block,
            after=(await user.canon.state(persona_id)).block,
            versions=await _superseded_versions(user, persona_id, turn),
            persona_before=persona,
            persona_after=await user.personas.get(persona_id),
        )


async def _superseded_versions(user: User, persona_id: str, turn: ChatTurn) -> Sequence[FactVersion]:
    """All versions of the first fact that the turn superseded."""
    for change in turn.changes:
        if change.outcome == "superseded" and change.fact is not None:
            return await user.canon.history(persona_id, change.fact.root_id)
    return ()


async def save_decisions(story: Story, folder: DemoFolder) -> DecisionImpact:
    """Act 5: save decisions with their relations, and compute the impact of a change of the first."""
    async with await folder.open(story.recall.at) as gieok:
        decisions = gieok.user(story.owner).decisions
        roots: list[UUID] = []
        for each in story.decisions:
            proposal = DecisionProposal(
                statement=each.statement, strength=each.strength, scope="domain", domain=story.domain
            )
            roots.append((await decisions.save(proposal)).root_id)
        for root, each in zip(roots, story.decisions, strict=True):
            for relation_type, index in each.relations:
                await decisions.relate(root, relation_type, roots[index])
        return DecisionImpact(await decisions.impact(roots[0]), await decisions.active(roots))


def count_rows(database: Path) -> Mapping[str, int]:
    """Number of rows of each table, read with SQLite."""
    with _open_read_only(database) as connection:
        names = [name for (name,) in _rows(connection, _TABLES)]
        # The names come from the schema, and a table name cannot be a bound value.
        return {name: _rows(connection, f'SELECT count(*) FROM "{name}"')[0][0] for name in names}  # noqa: S608


def _open_read_only(database: Path) -> closing[Connection]:
    return closing(cast(Connection, apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)))


def _rows(connection: Connection, sql: str, *values: bytes | int | str) -> list[tuple[Any, ...]]:
    return connection.execute(sql, values).fetchall()
