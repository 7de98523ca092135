"""Gieok itself, through its facade: sealed, one file, `synchronous=FULL`. `--vectors` adds an embedder."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from bench.peers.peer import Item, Peer, serve
from bench.peers.vectors import DIMENSION, HASHED, VectorFile, hash_text
from gieok import Gieok
from gieok.adapters.embedders import open_embedder
from gieok.errors import SettingsInvalid
from gieok.memory.companion.records import MemoryDraft
from gieok.memory.companion.vectors.search import Embedder, Vector
from gieok.settings import EmbedderSettings
from gieok.testing.settings import settings_for

PERSONA = "race"


class HashedEmbedder:
    """The cheap vectors of the speed rows, for every language."""

    name = HASHED
    dimension = DIMENSION
    languages: Collection[str] | None = None

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [hash_text(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        return hash_text(text)


class CachedMiniLM:
    """Gieok's MiniLM embedder. What was embedded once is read from a file, which all peers share.

    SettingsInvalid if the package with the model is not installed.
    """

    def __init__(self, file: VectorFile) -> None:
        model = open_embedder(EmbedderSettings(embedder="minilm"), None)
        if model is None:
            raise SettingsInvalid("there is no embedder minilm")
        self.name, self.dimension, self.languages = model.name, model.dimension, model.languages
        self._model, self._file = model, file

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        known = dict(self._file.read(texts))
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            vectors = await self._model.embed_documents(missing)
            self._file.write(dict(zip(missing, vectors, strict=True)))
            known |= self._file.read(missing)
        return [known[text] for text in texts]

    async def embed_query(self, text: str) -> Vector:
        return (await self.embed_documents([text]))[0]


class GieokStore(Peer):
    """With an embedder, the time of an add includes `embed()`, which a service runs in the background."""

    def __init__(self, *, with_vectors: bool) -> None:
        self._with_vectors = with_vectors

    async def open(self, folder: Path, vectors: str) -> str:
        settings = settings_for(f"sqlite:///{folder}/gieok.db", folder.with_suffix(".key"))
        embedder: Embedder | None = None
        if self._with_vectors:
            embedder = HashedEmbedder() if vectors == HASHED else CachedMiniLM(VectorFile(Path(vectors)))
        self._keys: dict[str, str] = {}
        self._gieok = await Gieok.open(settings, embedder=embedder)
        return f"gieok {version('gieok')}"

    async def add(self, owner: str, items: Sequence[Item]) -> None:
        companion = self._gieok.user(owner).companion
        drafts = [_draft(owner, item) for item in items]
        if len(drafts) == 1:
            ids = [(await companion.create(drafts[0], account_plan="premium")).memory.id]
        else:
            ids = (await companion.create_many(drafts, account_plan="premium")).created
        self._keys |= {str(each): item["key"] for each, item in zip(ids, items, strict=True)}
        if self._with_vectors:
            await companion.embed()

    async def search(self, owner: str, query: str, limit: int) -> list[str]:
        hits = await self._gieok.user(owner).companion.search(PERSONA, query, limit=limit)
        return [self._keys[str(hit.memory.id)] for hit in hits]

    async def load(self, owner: str, limit: int) -> list[str]:
        memories = await self._gieok.user(owner).companion.load(PERSONA, limit=limit)
        return [self._keys[str(memory.id)] for memory in memories]

    async def close(self) -> None:
        await self._gieok.close()


def _draft(owner: str, item: Item) -> MemoryDraft:
    return MemoryDraft(
        persona_id=PERSONA,
        summary=item["text"],
        session_ref=f"{owner}-{item['session']}" if "session" in item else None,
        speaker=item.get("speaker"),
        occurred_at=datetime.fromisoformat(item["time"]) if "time" in item else None,
    )


if __name__ == "__main__":
    serve(GieokStore(with_vectors="--vectors" in sys.argv))
