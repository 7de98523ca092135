"""Generated text: 4,000 words, half Korean and half English, with a Zipf-like frequency distribution.

Korean words are pairs of syllables that the dictionary has as one word. English words are made of syllables.
The seed is fixed, so every run measures the same items and queries.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, product
from uuid import uuid4

from gieok.memory.turns.records import MemoryItem
from gieok.text import terms

_HANGUL = (
    "가강개경계고공과관교구국기내단대동면모문물미발방보부사산상생서성소수시식신실"
    "안업여연영용운원음의인일자작장전접정제조주준지직진차체출통특표품학한행현형화회"
)
_ONSETS = (
    "b",
    "br",
    "c",
    "d",
    "f",
    "g",
    "h",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "r",
    "s",
    "st",
    "t",
    "tr",
    "v",
    "w",
)
_VOWELS = ("a", "e", "i", "o", "u")
_CODAS = ("n", "nd", "r", "rt", "l", "m", "ck", "p", "t", "x")
_FRAMES = (
    "나 어제 {0} {1} 때문에 {2}에 갔는데 정말 떨렸어.",
    "I could not sleep because of the {0}, and my {1} is next to the {2}.",
    "우리 팀은 {0}보다 {1}을 먼저 끝내기로 했고 {2}은 미뤘어.",
    "My sister bought a {0} in {1} and gave me the {2}.",
    "{0} 시험에 붙으면 {1}에서 {2} 공부를 계속할 거야.",
    "Do you remember the {0} that I told you about? The {1} broke and the {2} is gone.",
    "주말에 친구랑 {0} 보러 갔다가 {1}에서 {2} 먹었어.",
    "We are moving to {0} in May, so I must sell the {1} and the {2}.",
)
_EACH = 2_000
_KEYWORDS = 7
_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class Vocabulary:
    """Words from the most to the least frequent, and items, messages and queries made of them."""

    def __init__(self, seed: int = 5) -> None:
        self._random = random.Random(seed)
        pairs = (a + b for a, b in product(_HANGUL, repeat=2))
        korean = self._random.sample([word for word in pairs if terms(word) == [word]], _EACH)
        first = [a + b for a, b in product(_ONSETS, _VOWELS)]
        second = [a + b + c for a, b, c in product(_ONSETS, _VOWELS, _CODAS)]
        english = self._random.sample([a + b for a, b in product(first, second)], _EACH)
        self.by_frequency = [word for pair in zip(korean, english, strict=True) for word in pair]
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(2 * _EACH)))

    def draw(self, count: int) -> list[str]:
        """Random words by frequency. The most frequent is in about one of twelve items."""
        return self._random.choices(self.by_frequency, cum_weights=self._weights, k=count)

    def items(self, count: int, session_ref: str) -> Iterator[MemoryItem]:
        """Items of one session, a minute apart, about as long as those of the offline model."""
        for number in range(count):
            yield MemoryItem(
                id=uuid4(),
                session_ref=session_ref,
                timestamp=_START + timedelta(minutes=number),
                summary=" ".join(self.draw(16)),
                keywords=self._keywords(),
            )

    def messages(self, count: int) -> list[str]:
        """Messages of a user, alternating between the languages."""
        return [_FRAMES[number % len(_FRAMES)].format(*self.draw(3)) for number in range(count)]

    def queries(self, each: int) -> dict[str, list[str]]:
        """Queries by kind: one to three common, medium or rare words, or one of each."""
        bands = {"common words": (0, 40), "medium words": (200, 800), "rare words": (2_000, 4_000)}
        made = {
            kind: [self._some_of(low, high, 1 + number % 3) for number in range(each)]
            for kind, (low, high) in bands.items()
        }
        parts = [[self._some_of(low, high, 1) for _ in range(each)] for low, high in bands.values()]
        return {**made, "one of each": [" ".join(words) for words in zip(*parts, strict=True)]}

    def prefixes(self, count: int) -> Sequence[str]:
        """Prefixes of medium words that are long enough for a prefix search."""
        long = [word for word in self.by_frequency[200:800] if len(word) > 4]
        return [word[:4] for word in self._random.sample(long, count)]

    def unknown_words(self, count: int) -> list[str]:
        """Words that are in no item."""
        return [f"zq{word}" for word in self._random.sample(self.by_frequency[1::2], count)]

    def _some_of(self, low: int, high: int, count: int) -> str:
        return " ".join(self._random.sample(self.by_frequency[low:high], count))

    def _keywords(self) -> tuple[str, ...]:
        """Seven keywords, one of which is a phrase of two words."""
        drawn = self.draw(_KEYWORDS + 1)
        return tuple(dict.fromkeys((f"{drawn[0]} {drawn[1]}", *drawn[2:])))
