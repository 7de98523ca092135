"""What a model understood of an exchange: one structured answer with a summary per exchange and observations.

The model proposes observations. `canon` decides which of them are grounded in what was said, and how they
change the facts.
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from gieok.engine import Data
from gieok.memory.fields import Importance, Timestamp, storable

MAX_KEY_CHARS = 128
MAX_VALUE_CHARS = 1_000
MAX_QUOTE_CHARS = 1_000


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


class SpokenMessage(Data):
    """A message of the conversation."""

    role: Speaker
    text: str
    at: Timestamp


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
