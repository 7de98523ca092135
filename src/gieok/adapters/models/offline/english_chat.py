"""English as it is typed, opened into plain English: im gonna → I am going to, and an I where none is."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.english_rule import any_word
from gieok.adapters.models.offline.english_verbs import is_past, past_of
from gieok.adapters.models.offline.lexicon import listed

_SHORT = {
    "im": "I am", "ive": "I have", "gonna": "going to", "wanna": "want to", "dont": "do not",
    "didnt": "did not", "doesnt": "does not", "cant": "ca not", "isnt": "is not", "wasnt": "was not",
    "gf": "girlfriend", "bf": "boyfriend", "bff": "best friend", "imo": "in my opinion",
    "imho": "in my opinion", "cuz": "because", "bc": "because", "cos": "because", "rn": "",
    "atm": "", "tbh": "", "ngl": "",
}  # fmt: skip
_ABBREVIATED = re.compile(rf"\b(?:{'|'.join(_SHORT)})\b", re.IGNORECASE)
_FACE = re.compile(r"[:;]-?['’]?[()DPp/](?=\s|$)")
_TURNED = tuple(
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"\b(promised (?:my \w+|\w+)) (?:that )?i(?:['’]d| would)\b", r"\1 to"),
        (r"\bi(?:['’]d| would) rather\b", "I prefer to"),
        (r"\bme and ((?-i:[A-Z])\w+|my \w+)\b", r"\1 and I"),
    )
)
_HAD_TO = re.compile(r"\b(i|we) had to (\w+)\b", re.IGNORECASE)
_OPENING = re.compile(
    r"^(?:{},? )+".format(
        any_word(r"""
            just finally so well oh hey hi ugh omg wow yeah yes ok(?:ay)? lol ha(?:ha)+ honestly actually
            guess_what btw by_the_way still fully also and recently officially
        """)
    ),
    re.IGNORECASE,
)
# Said of oneself where nothing stands in front.
_BARE_STATE = re.compile(
    r"(?:(?:not )?(?:an? )?(?:big|huge|massive|real) fan of|allergic to|back to \w+ing|obsessed with"
    r"|between jobs|addicted to|not (?:talking|speaking) to)\b",
    re.IGNORECASE,
)
_NO_VERB = listed("""
    morning evening nothing something anything everything during thing king ring spring string
    excited tired bored interested concerned worried exhausted let put hit hurt shut set cost
    been gone done seen left used said supposed
""")


def typed_out(text: str) -> str:
    """`text` with its abbreviations opened and its subject in front."""
    text = _ABBREVIATED.sub(lambda match: _SHORT[match[0].lower()], _FACE.sub("", text))
    for pattern, full in _TURNED:
        text = pattern.sub(full, text)
    subject = _left_out(text)
    if subject:
        text = f"{subject} {_OPENING.sub('', text)}"
    return _HAD_TO.sub(lambda match: f"{match[1]} {past_of(match[2].lower())}", text)


def _left_out(text: str) -> str:
    """The words that stand before "moved to Denver", "trying to save" and "not a fan of …"; "" for none."""
    said = _OPENING.sub("", text)
    first, _, rest = said.partition(" ")
    word = first.lower()
    if _BARE_STATE.match(said):
        return "I am"
    if not rest or word in _NO_VERB:
        return ""
    if word.endswith("ing") and len(word) > 5:
        return "I am"
    return "I" if is_past(word) else ""
