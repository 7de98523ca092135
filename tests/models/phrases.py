"""Check that a reply of the offline model consists of whole phrases, and of quotes from its prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gieok.adapters.models.offline.reply import voices
from gieok.memory.conversation.records import Prompt

_DATE = (
    r"(?:오늘|어제|그저께|내일|모레|아까|(?:\d{4}년 )?\d{1,2}월 \d{1,2}일에?"
    r"|today|yesterday|tomorrow|earlier|on \d{1,2} [A-Z][a-z]+(?: \d{4})?)"
)


def _phrases() -> Iterator[str]:
    for voice in voices().values():
        for purpose, choices in voice.items():
            if purpose == "events":
                yield from (phrase for both in choices.values() for phrase in both)
            elif purpose != "earlier":
                yield from choices


def _pattern(phrase: str) -> str:
    escaped = re.escape(phrase).replace(r"\{date\}", _DATE).replace(r"\{speaker\}", "(?:.+?)")
    return escaped.replace(r"\{quote\}", "(?:.+?)")


_PHRASE = re.compile("|".join(sorted(map(_pattern, _phrases()), key=len, reverse=True)))
_QUOTE = re.compile(r"'(?P<ko>.+?)'(?=라고|$| )|: \"(?P<en>.+?)\"(?=$| )")


def assert_phrases(reply: str, prompt: Prompt) -> None:
    """Raise AssertionError unless the reply is phrases joined by spaces, and each quote is in the prompt."""
    assert re.fullmatch(f"(?:{_PHRASE.pattern})(?: (?:{_PHRASE.pattern}))*", reply), reply
    texts = [
        *(message.content for message in prompt.messages[:-1]),
        *(memory.summary for memory in prompt.memories),
        *(fact.value for fact in (*prompt.state, *prompt.facts)),
    ]
    for match in _QUOTE.finditer(reply):
        quote = match["ko"] or match["en"]
        if "'" not in "".join(texts) and '"' not in "".join(texts):
            assert any(quote in text for text in texts), (quote, texts)
