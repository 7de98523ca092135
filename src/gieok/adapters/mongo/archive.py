"""The archive in MongoDB: one document per copy, written with majority and journal, with bounded waits.

The `_id` of a document is `{owner, …key}` in this order, so that the documents of an owner lie together: no
other index is needed, and the collections can be sharded by `_id`. This is passive: it opens no seal.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from gieok.adapters.copies import Copy, Key, MessageCopy, SummaryCopy
from gieok.errors import SettingsInvalid, StoreDamaged, StoreUnavailable

if TYPE_CHECKING:
    from pymongo import AsyncMongoClient, UpdateOne
    from pymongo.asynchronous.collection import AsyncCollection

C = TypeVar("C", bound=Copy)
Document = dict[str, Any]

DEFAULT_DATABASE = "gieok"
SELECT_SECONDS = 3.0
"""How long to wait for a server that accepts writes."""
OPERATION_SECONDS = 10.0
"""How long one operation may take, with its retries."""
_DUPLICATE = 11000
_IDENTITY = "archive"


class MongoArchive:
    """An archive that may be unreachable: opening it connects to nothing."""

    def __init__(self, client: AsyncMongoClient[Document], location: str) -> None:
        self._client = client
        self._database = client.get_default_database(DEFAULT_DATABASE)
        self.location = location
        """For messages, without a password."""
        self.messages = MongoCopies(self, MessageCopy)
        self.summaries = MongoCopies(self, SummaryCopy)

    def collection(self, name: str) -> AsyncCollection[Document]:
        return self._database[name]

    async def claim(self, database_id: str, known_id: str | None) -> str:
        """The id of the archive, which is created for this database if there is none.

        `known_id` is the id that the database has stored. SettingsInvalid if the archive belongs to another
        database, StoreDamaged if it is not the one that the database knows.
        """
        metadata = self.collection("archive_metadata")
        with self.errors():
            found = await metadata.find_one({"_id": _IDENTITY})
            if found is None and known_id is None:
                new: Document = {"id": uuid4().hex, "database": database_id}
                await metadata.update_one({"_id": _IDENTITY}, {"$setOnInsert": new}, upsert=True)
                found = await metadata.find_one({"_id": _IDENTITY})
        if found is not None and found["database"] != database_id:
            raise SettingsInvalid(
                f"the archive {self.location} belongs to another Gieok database; name another one in the URL"
            )
        if found is None or (known_id is not None and found["id"] != known_id):
            raise StoreDamaged(
                f"the archive {self.location} is not the one that this database has used; restore it, or run "
                "`gieok archive detach` to begin a new one"
            )
        return found["id"]

    async def ping(self) -> str:
        """The version of the server. StoreUnavailable if it cannot be reached."""
        with self.errors():
            await self._client.admin.command("ping")
            return (await self._client.server_info())["version"]

    async def close(self) -> None:
        await self._client.close()

    @contextmanager
    def errors(self) -> Generator[None]:
        """Translate errors of the driver. Their texts may quote documents, so they are not shown."""
        from pymongo.errors import OperationFailure, PyMongoError  # noqa: PLC0415

        try:
            yield
        except OperationFailure as error:
            raise StoreUnavailable(
                f"the archive {self.location} refused an operation (code {error.code}); check the user's "
                "rights, its disk space, and that it is a replica set"
            ) from None
        except PyMongoError as error:
            raise StoreUnavailable(
                f"the archive {self.location} cannot be reached ({type(error).__name__}); check that MongoDB "
                "runs, and GIEOK_ARCHIVE_URL"
            ) from None


class MongoCopies(Generic[C]):
    """The copies of one kind."""

    def __init__(self, archive: MongoArchive, kind: type[C]) -> None:
        self._kind = kind
        self.name = kind.COLLECTION
        self._errors = archive.errors
        self._collection = archive.collection(kind.COLLECTION)

    async def put(self, owner: str, copies: Sequence[C], *, force: bool = False) -> None:
        """Insert or replace copies. One that is older than the stored one changes nothing, unless `force`.

        A copy without content updates the plain columns of a stored one, and is not inserted.
        """
        from pymongo.errors import BulkWriteError  # noqa: PLC0415

        if not copies:
            return
        with self._errors():
            try:
                await self._collection.bulk_write(
                    [self._write(owner, copy, force) for copy in copies], ordered=False
                )
            except BulkWriteError as error:
                if any(each["code"] != _DUPLICATE for each in error.details["writeErrors"]):
                    raise
                if error.details["writeConcernErrors"]:
                    raise

    async def get(self, owner: str, keys: Sequence[Key]) -> list[C]:
        """The copies with these keys that exist, in any order."""
        ids = [self._id(owner, key) for key in keys]
        with self._errors():
            return [self._copy(each) for each in await self._collection.find({"_id": {"$in": ids}}).to_list()]

    async def page(self, owner: str, after: Key, limit: int) -> list[C]:
        """The next copies of an owner in the order of their keys; `after` is empty at the start."""
        within = {"$gt": self._id(owner, after), "$lt": self._end(owner)}
        with self._errors():
            cursor = self._collection.find({"_id": within}).sort("_id").limit(limit)
            return [self._copy(each) for each in await cursor.to_list()]

    async def delete(self, owner: str, keys: Collection[Key]) -> None:
        ids = [self._id(owner, key) for key in keys]
        with self._errors():
            await self._collection.delete_many({"_id": {"$in": ids}})

    async def erase(self, owner: str, *prefix: str, up_to: int | None = None) -> None:
        """Delete all copies of the owner, or those whose key begins with `prefix`, with a next part of at
        most `up_to`. Idempotent."""
        last = (
            {"$lt": self._end(owner, *prefix)}
            if up_to is None
            else {"$lte": self._id(owner, (*prefix, up_to))}
        )
        within = {"$gte": self._id(owner, prefix), **last}
        with self._errors():
            await self._collection.delete_many({"_id": within})

    async def count(self, owner: str | None = None) -> int:
        """The number of copies of an owner, or about that of all copies."""
        with self._errors():
            if owner is None:
                return await self._collection.estimated_document_count()
            within = {"$gt": self._id(owner, ()), "$lt": self._end(owner)}
            return await self._collection.count_documents({"_id": within})

    async def next_owner(self, after: str) -> str | None:
        """The first owner with copies after this name; None at the end."""
        with self._errors():
            found = await self._collection.find_one({"_id": {"$gt": self._end(after)}}, sort={"_id": 1})
        return None if found is None else found["_id"]["owner"]

    def _write(self, owner: str, copy: C, force: bool) -> UpdateOne:
        from pymongo import UpdateOne  # noqa: PLC0415

        where: Document = {"_id": self._id(owner, copy.key)}
        if not force:
            where["revision"] = {"$lte": copy.revision}
        values = {name: value for name, value in asdict(copy).items() if name not in copy.KEY}
        if copy.content is None:
            del values["content"], values["generation"]  # the stored content keeps its seal
            return UpdateOne(where, {"$set": values})
        if not force:
            older, same = {"revision": {"$lt": copy.revision}}, {"generation": {"$lte": copy.generation}}
            where["$or"] = [older, same]
        return UpdateOne(where, {"$set": values}, upsert=True)

    def _copy(self, document: Document) -> C:
        key = {name: document["_id"][name] for name in self._kind.KEY}
        names = {each.name for each in fields(self._kind)}
        return self._kind(**key, **{name: value for name, value in document.items() if name in names})

    def _id(self, owner: str, key: Key) -> Document:
        return {"owner": owner, **dict(zip(self._kind.KEY, key, strict=False))}

    def _end(self, owner: str, *prefix: str) -> Document:
        """Greater than every `_id` that begins so."""
        from bson import MaxKey  # noqa: PLC0415

        return {**self._id(owner, prefix), self._kind.KEY[len(prefix)]: MaxKey()}


def open_mongo(url: str) -> MongoArchive:
    """The archive of this URL. Connects when it is used first. SettingsInvalid says what is wrong."""
    if find_spec("pymongo") is None:
        raise SettingsInvalid("archive_url needs the package pymongo: pip install 'gieok[mongodb]'")
    from pymongo import AsyncMongoClient  # noqa: PLC0415
    from pymongo.errors import PyMongoError  # noqa: PLC0415

    try:
        client: AsyncMongoClient[Document] = AsyncMongoClient(
            url,
            appname="gieok",
            w="majority",
            journal=True,
            readConcernLevel="majority",
            retryWrites=True,
            **_waits(url),
        )
        return MongoArchive(client, _location(url))
    except (PyMongoError, ValueError, TypeError):  # the texts may quote the password
        raise SettingsInvalid(
            "archive_url is not a valid MongoDB URL, as in mongodb://user:password@host:27017/gieok; special "
            "characters in user and password are percent-encoded"
        ) from None


def _waits(url: str) -> dict[str, Any]:
    """Timeouts in milliseconds, except for those that the URL has itself."""
    named = {name.lower() for name, _ in parse_qsl(urlsplit(url).query)}
    seconds = {
        "serverSelectionTimeoutMS": SELECT_SECONDS,
        "connectTimeoutMS": SELECT_SECONDS,
        "timeoutMS": OPERATION_SECONDS,
    }
    return {name: round(value * 1000) for name, value in seconds.items() if name.lower() not in named}


def _location(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
