"""What a model understood of an exchange: one structured answer with a summary per exchange and observations.

The model proposes observations. `canon` decides which of them are grounded in what was said, and how they
change the facts.
"""

from __future__ import annotations

import math
from datetime import date, datetime
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, Field, StringConstraints

from gieok.engine import Data
from gieok.memory.fields import AS_SESSION_ID, Importance, Language, SessionRef, Timestamp, storable
from gieok.refs import check_ref
from gieok.text import normalize

MAX_KEY_CHARS = 128
MAX_VALUE_CHARS = 1_000
MAX_QUOTE_CHARS = 1_000


MAX_SUMMARY_CHARS = 4_000
MAX_KEYWORDS = 64
MAX_KEYWORD_CHARS = 128

Summary = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUMMARY_CHARS),
    AfterValidator(storable),
]
Keyword = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_KEYWORD_CHARS),
    AfterValidator(storable),
]
Keywords = Annotated[tuple[Keyword, ...], Field(max_length=MAX_KEYWORDS)]


class Category(StrEnum):
    """The category of a fact. The first five are state, which the state block shows."""

    RELATIONSHIP = "RELATIONSHIP"
    GOAL = "GOAL"
    EVENT = "EVENT"
    HABIT = "HABIT"
    OPINION = "OPINION"
    PERSONAL_INFO = "PERSONAL_INFO"
    PREFERENCE = "PREFERENCE"
    OTHER = "OTHER"


Speaker = Literal["user", "assistant"]
Key = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_KEY_CHARS),
    AfterValidator(storable),
]
FactValue = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_VALUE_CHARS),
    AfterValidator(storable),
]
Subject = Annotated[str, StringConstraints(pattern=r"^(user|character|person:.{1,100})$")]
"""Whom a fact is about: the user, the character, or another person by name."""


class FactSource(Data):
    """The message that a fact comes from."""

    session_ref: Annotated[SessionRef, AS_SESSION_ID]
    message_id: Annotated[str, AfterValidator(lambda value: check_ref(value, "messageId"))]
    is_deleted: Annotated[bool, Field(exclude_if=lambda deleted: not deleted)] = False
    """Whether retention has deleted the message. Never stored; absent if it has not."""


class SpokenMessage(Data):
    """A message of the conversation. `id` is its id in the log."""

    id: str | None = None
    role: Speaker
    text: str
    at: Timestamp


class Exchange(Data):
    """What was said in one turn: messages of the user, then of the character. One side may be missing."""

    messages: Annotated[tuple[SpokenMessage, ...], Field(min_length=1)]

    def text(self, role: Speaker) -> str:
        """What this side said."""
        return "\n".join(message.text for message in self.messages if message.role == role)


class Observation(Data):
    """One proposed change of the facts."""

    turn: Annotated[int, Field(ge=1)]
    """The number of the exchange that it comes from, starting at 1."""
    op: Literal["add", "update", "retire"]
    id: str | None = None
    """The short id of the known fact that is meant, such as F3. It counts more than key and category."""
    subject: Subject = "user"
    category: Category
    key: Key
    value: FactValue
    quote: Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUOTE_CHARS)]
    """The words that prove it, from the message of the speaker."""
    says: Speaker = "user"
    """Whose words the quote is."""
    when: date | None = None
    """The day on which it happened or will happen."""
    until: date | None = None
    """The last day on which it is current."""
    importance: Importance


class Reason(StrEnum):
    """Why an observation was refused."""

    HYPOTHETICAL = "hypothetical"
    OTHER_PERSON = "other person"
    NEGATED = "negated"
    JOKE = "joke"
    QUESTION = "question"
    QUOTED = "quoted"
    FICTION = "fiction"
    PAST = "past"
    ALREADY_KNOWN = "already known"
    OPINION_OF_OTHERS = "opinion of others"
    SARCASM = "sarcasm"
    NOT_SAID = "not_said"
    FROM_PROMPT = "from_prompt"
    MALFORMED = "malformed"


class Refusal(Data):
    """A refused observation, as the model gave it, with the reason."""

    observation: Observation | str
    """The text of the item if it could not be parsed."""
    reason: Reason


class TurnNote(Data):
    """The summary of one exchange, and the keywords by which it is found again."""

    summary: Summary
    keywords: Keywords


class ListedFact(Data):
    """A known fact as the model gets it, with the short id that an observation may name."""

    id: str
    subject: Subject
    category: Category
    key: str
    value: str
    when: date | None = None
    until: date | None = None


class Conversation(Data):
    """What a model gets in order to remember exchanges."""

    language: Language
    """The language of the user's words."""
    character: str
    """The name of the character."""
    user_name: str | None = None
    """The name of the user, if their profile has one."""
    timezone: str
    """The IANA name of the user's timezone; days are days there."""
    before: tuple[SpokenMessage, ...]
    """The last messages before the exchanges, oldest first. They are no news."""
    exchanges: Annotated[tuple[Exchange, ...], Field(min_length=1)]
    known: tuple[ListedFact, ...]

    @property
    def said_at(self) -> datetime:
        """When the last message was said: the day that a relative date counts from."""
        return self.exchanges[-1].messages[-1].at


class Understood(Data):
    """The answer of a model: one note per exchange, and the observations."""

    turns: tuple[TurnNote, ...]
    observations: tuple[Observation, ...]
    malformed: tuple[Refusal, ...] = ()
    """Items that could not be read."""


class VerbatimLimit(Data):
    """How much of a message a summary may repeat. A message of up to `chars` characters may be repeated, but
    not be the whole summary.
    """

    chars: Annotated[int, Field(ge=0)]
    share: Annotated[float, Field(gt=0, le=1)]
    """The share of a longer message that may not stand in the summary as one run."""

    def is_copy(self, summary: str, message: str) -> bool:
        """Whether the summary repeats the message instead of condensing it."""
        condensed, source = normalize(summary), normalize(message)
        if not source or condensed == source:
            return bool(source)
        longest = math.ceil(self.share * len(source))
        if len(source) <= self.chars or len(condensed) < longest:
            return False
        match = SequenceMatcher(None, condensed, source, autojunk=False).find_longest_match()
        return match.size >= longest


class Rememberer(Protocol):
    """The part of a language model that remembers exchanges."""

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        """Summarise each exchange in at most `summary_chars` characters and `max_keywords` keywords, in the
        language of the user, and propose observations. No summary repeats more of a message than `verbatim`
        allows. Raises ModelUnavailable without a usable answer.
        """
        ...
