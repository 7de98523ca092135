"""English questions and requests, told in the order of a statement: asked what the weather is like."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.english_verbs import past_of, third_person
from gieok.adapters.models.offline.english_words import ADVERBS, third_person_words

_ASK_FOR = re.compile(
    r"^(?:please |pls )?(?:(?:can|could|will|would) you (?:please )?)"
    r"(?P<act>(?!like\b|be\b|mind\b|rather\b|ever\b|want\b|have\b|say\b|feel\b|still\b).+)$|"
    r"^(?:please|pls) (?P<plain>.+)$|"
    r"^(?P<order>(?:tell|help|recommend|give|show|explain|remind|suggest|teach|send|find|write|translate|remember)\b.+)$",
    re.IGNORECASE,
)
_DROPPED_DO = re.compile(r"^(remember|like|want|know|think|feel)\b")
_LETS = re.compile(r"^let'?s (?P<act>.+)$", re.IGNORECASE)
_PLEASE = re.compile(r"\W*\bplease\b\W*$", re.IGNORECASE)
_WH = r"what|when|where|why|how|who|whom|whose|which"
_PRONOUN = r"you|i|we|they|he|she|it|this|that|there"
_DO = re.compile(
    rf"^(?P<wh>(?:{_WH})\b.*?)?\s*\b(?P<aux>do|does|did)(?P<not>n't)?\s+(?P<who>{_PRONOUN})\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_AUX = re.compile(
    rf"^(?P<wh>(?:{_WH})\b.*?)?\s*\b(?P<aux>am|is|are|was|were|can|could|will|would|should|have|has|had|may|might)\s+"
    rf"(?P<who>{_PRONOUN})\b\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_BE_NOUN = re.compile(
    rf"^(?P<wh>(?:{_WH})(?: \w+)?)(?:'s| is| are| was| were)\s+"
    r"(?P<noun>(?:the|a|an|my|your|his|her|our|their|this|that)\s.+)$",
    re.IGNORECASE,
)
_BE = re.compile(r"(?:'s| (?:is|are|was|were))\s", re.IGNORECASE)
_SPLIT_AT = re.compile(r"\s(?=like$|like\b|doing\b|going\b|\w+ing\b|so\b|about\b)")
_LEADING_AUX = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)(?:n't)? ", re.IGNORECASE
)
_WHO_DOES = re.compile(rf"^(?:{_WH})\b", re.IGNORECASE)


def reported_request(said: str, *, asks: bool) -> str | None:
    """`asked the assistant to …`, `wanted to … together`; None when `said` asks for nothing to be done."""
    lets = _LETS.match(said)
    if lets:
        return f"wanted to {third_person_words(lets['act'])} together"
    match = _ASK_FOR.match(said)
    if not match or (asks and match["order"]):
        return None
    act = match["act"] or match["plain"] or match["order"]
    act = _PLEASE.sub("", act)
    return f"asked the assistant to {third_person_words(act[:1].lower() + act[1:])}" if act else None


def reported_question(said: str) -> str:
    """`asked what …` or `asked whether …`."""
    said = said[:1].lower() + said[1:] if not said.startswith(("I ", "I'")) else said
    said = _DROPPED_DO.sub(r"do you \1", said)
    for pattern, retell in ((_DO, _after_do), (_AUX, _after_auxiliary), (_BE_NOUN, _after_be)):
        match = pattern.match(said)
        if match:
            return f"asked {retell(match)}"
    if _WHO_DOES.match(said):
        return f"asked {third_person_words(said)}"
    return f"asked about {third_person_words(_LEADING_AUX.sub('', said))}"


def _opening(match: re.Match[str]) -> str:
    return third_person_words(match["wh"]) if match["wh"] else "whether"


def _after_do(match: re.Match[str]) -> str:
    who, words = match["who"].lower(), match["rest"].split(" ")
    index = 0
    while index < len(words) - 1 and words[index].lower() in ADVERBS | {"ever"}:
        index += 1
    if match["not"]:
        words.insert(0, f"{match['aux'].lower()}n't")
    elif match["aux"].lower() == "did":
        words[index] = past_of(words[index].lower())
    elif who in ("you", "he", "she", "it", "this", "that"):
        words[index] = third_person(words[index].lower(), in_past=False)
    return f"{_opening(match)} {third_person_words(' '.join([who, *words]))}"


def _after_auxiliary(match: re.Match[str]) -> str:
    aux, who = match["aux"].lower(), match["who"].lower()
    told = third_person_words(f"{who} {aux} {match['rest']}".rstrip())
    return f"{_opening(match)} {told}"


def _after_be(match: re.Match[str]) -> str:
    """What is the weather like → what the weather is like."""
    said = match.string
    found = _BE.search(said, match.end("wh") - 1)
    be = found[0].strip() if found else "is"
    be = "is" if be == "'s" else be
    parts = _SPLIT_AT.split(match["noun"], maxsplit=1)
    rest = f" {parts[1]}" if len(parts) > 1 else ""
    return third_person_words(f"{match['wh']} {parts[0]} {be}{rest}")
