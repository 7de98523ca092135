"""A memory told back to the one whom it is about: 사용자가 …다고 함 becomes …다고 했잖아."""

from __future__ import annotations

import re

from gieok.adapters.models.offline import korean
from gieok.adapters.models.offline.analysis import read
from gieok.adapters.models.offline.english_verbs import base_of_third_person
from gieok.adapters.models.offline.found import AHEAD
from gieok.text.hangul import final_consonant, with_particle, without_final

_SUBJECT = re.compile(r"^사용자(?:가|는|도|만)?\s+")
_REPORTED = re.compile(r"(?P<body>.*(?:고|라고)) (?:함|말함|했음|이야기함)$")
_NOTE = re.compile(
    r"\s\S*[음함됨짐임님움]$"
    r"|^(?:\w+(?:ed|ing|s)|had|got|quit|broke|fell|back|hurt|won|lost|bought|met|left) \S"
)
_YOUR = {"their": "your", "them": "you", "they": "you", "theirs": "yours", "themselves": "yourself"}
_PERSON = re.compile(rf"\b(?:{'|'.join(_YOUR)})\b", re.IGNORECASE)
_LED_IN = re.compile(r"(?P<lead>\w+(?: \w+){0,2},?) the user (?P<verb>\w+)(?P<rest>.*)")
_ASSISTANT = re.compile(r"\bthe assistant('s)?")


def tell_back_korean(memory: str, *, polite: bool) -> str:
    """`memory`, one Korean sentence, as one says it to the user's face."""
    text = memory.strip().rstrip(". ")
    own = text.startswith("사용자의 ")
    text = _SUBJECT.sub("", text).removeprefix("사용자의 ")
    reported = _REPORTED.match(text)
    body = reported["body"] if reported else _reported_body(text)
    body = body.replace("자신의 ", "" if polite else "네 ")
    mine = "" if polite or not own else "네 "
    return f"{mine}{body} {'하셨잖아요' if polite else '했잖아'}."


def _reported_body(text: str) -> str:
    """Summaries of other models end in a noun (앞두고 있음); they are reported like anything said."""
    found = read(text).sentences
    told = korean.report(found[0]) if found and found[0].morphemes else None
    if told is not None and told.words.endswith("고 함"):
        return told.words.removesuffix(" 함")
    return f"{text}라고"


def is_note(value: str) -> bool:
    """Whether a value tells what is so, and is no name for a thing: 면접을 앞두고 있음, exam ahead."""
    return value.endswith(AHEAD) or bool(_NOTE.search(value))


def tell_fact_korean(value: str, *, polite: bool) -> str:
    """A note of a fact, said to the user's face: 커피를 좋아함 becomes 커피를 좋아하잖아."""
    end = "잖아요." if polite else "잖아."
    if value.endswith("음") and len(value) > 1 and final_consonant(value[:-1]):
        return f"{value[:-1]}{end}"
    if final_consonant(value) == "ㅁ" and is_note(value):
        return f"{without_final(value)}{end}"
    return f"{with_particle(value, '이/')}{end}"


def tell_fact_english(value: str) -> str:
    """A note of a fact, said to the user's face: `likes coffee` becomes `You told me you like coffee.`"""
    first = value.split(" ", 1)[0]
    stands_alone = base_of_third_person(first) != first
    return tell_back_english(f"The user {value}." if stands_alone else f"The user is {value}.")


def tell_back_english(memory: str) -> str:
    """`memory`, one English sentence, as one says it to the user's face."""
    text = memory.strip().rstrip(". ")
    text = _ASSISTANT.sub(lambda match: "my" if match[1] else "me", text)
    text = _PERSON.sub(lambda match: _YOUR[match[0].lower()], text)
    if text.startswith("The user's "):
        owned = text.removeprefix("The user's ")
        return f"You told me your {owned}."
    if not text.startswith("The user "):
        return _tell_led_in(text)
    verb, _, rest = text.removeprefix("The user ").partition(" ")
    if verb in ("said", "asked", "wanted"):
        return f"You {verb} {rest}.".replace(" .", ".")
    return f"You told me you {base_of_third_person(verb)} {rest}".rstrip() + "."


def _tell_led_in(text: str) -> str:
    """A sentence that does not begin with the user, such as one that begins with its day."""
    led = _LED_IN.fullmatch(text)
    if led is None:
        return f"You told me: {text}."
    said = f"{led['lead']} you {base_of_third_person(led['verb'])}{led['rest']}"
    return f"You said {said[0].lower()}{said[1:]}."
