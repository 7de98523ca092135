"""Names and new words that are not in the dictionary.

mecab-ko reads an unknown name as the most likely words that it knows: 민준의 becomes 민 + 준의, 보라도 a form
of 보다. The name would not be a term, although a reader sees where the particle begins. Where the morphemes
of a word do not follow Korean grammar, the word without its longest particle is taken as a name, in addition
to the terms of the morphemes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gieok.text.hangul import is_syllable, split_syllable
from gieok.text.korean.morphemes import Entry

_NAME_MAX = 16

# The shape of a word has a letter for each morpheme.
_LETTERS = {
    "G": "NNG",  # common nouns
    "N": "NNP NR XR XPN XSN SH",  # other nouns, and parts of nouns
    "O": "NNB NNBC NP MM",  # dependent nouns, counters, pronouns, determiners
    "A": "MAG MAJ IC",  # adverbs, interjections
    "V": "VV VA VCN",  # verbs and adjectives
    "D": "XSV XSA VCP",  # suffixes that turn a noun into a verb
    "P": "EP",  # past and honorific
    "E": "EC EF ETM ETN VX",  # endings and auxiliaries
    "J": "JKS JKC JKG JKO JKB JKV JKQ JX JC",  # particles; T for those that come last
}
_LETTER_OF = {tag: letter for letter, tags in _LETTERS.items() for tag in tags.split()}
_LAST_PARTICLES = frozenset("은는이가을를의")

# Words that follow grammar: a noun with particles, a noun with a verb suffix, a verb in the past, a pronoun
# with particles, adverbs, and what follows Latin letters or digits.
_GRAMMATICAL = re.compile(r"[GN]+J*[JT]|G|[GN]+D[PEVOJT]*|[GN]*V[VEO]*P[PEVOJT]*|OE*J*T?|A+|[JTEPD]+")
_VERB = re.compile(r"V[VEO]*")
_NOUNS = re.compile(r"[GN]+")

_DO_VERBS = frozenset("하되")
_DO_TAGS = frozenset({"VV", "XSV", "XSA"})
# Not only nouns, which are terms anyway, and not a verb with an auxiliary (먹어야했다).
_UNKNOWN_NOUN = re.compile(r"(?=.*[^GN]).*[^EAP]")

_AFTER_CONSONANT = """
    이 은 을 과 아 이랑 이랑은 으로 으로는 으로도 이나 이라도 이라는 이라고 이야 이에요 이지만
"""
_AFTER_VOWEL = """
    가 는 를 와 야 랑 랑은 로 로는 로도 나 라도 라는 라고 예요 지만
"""
_AFTER_ANY = """
    의 도 만 만은 만이 만의 에 에는 에도 에서 에서는 에서도 에게 에게서 에게는 에게도
    한테 한테서 한테는 한테도 하고 하고는 까지 까지는 까지도 부터 부터는
    보다 보다는 처럼 같이 마다 조차 밖에 만큼
"""
# Each particle with whether the syllable before it may have a final consonant, or may have none.
_PARTICLES = {
    **dict.fromkeys(_AFTER_CONSONANT.split(), (True,)),
    **dict.fromkeys(_AFTER_VOWEL.split(), (False,)),
    **dict.fromkeys(_AFTER_ANY.split(), (True, False)),
}
_LONGEST = max(map(len, _PARTICLES))


def unknown_name(word: Sequence[Entry]) -> str | None:
    """The name in a Korean word whose entries do not follow grammar; None where they do."""
    surface = "".join(entry.surface for entry in word)
    if not 2 <= len(surface) <= _NAME_MAX:
        return None
    if noun := _noun_before_do(word):
        return noun
    shape = "".join(map(_shape, word))
    particle = _particle(surface)
    if _GRAMMATICAL.fullmatch(shape):
        # 스타벅스랑은 read as 스타벅 + 스랑 + 은 is grammatical, but covers only a part of the particle.
        covered = sum(len(entry.surface) for entry in word if entry.tag.startswith("J"))
        return surface[: -len(particle)] if 0 < covered < len(particle) else None
    if particle:
        return surface[: -len(particle)]
    return None if _VERB.fullmatch(shape) or _NOUNS.fullmatch(shape) else surface


def _noun_before_do(word: Sequence[Entry]) -> str | None:
    """The unknown noun before 하다 or 되다: 알바 in 알바했어, which is read as 알 + 바 + 했어."""
    for at in range(len(word) - 1, 0, -1):
        form, tag = word[at].parts[0] if word[at].parts else (word[at].surface, word[at].tag)
        if form in _DO_VERBS and tag in _DO_TAGS:
            shape = "".join(map(_shape, word[:at]))
            surface = "".join(entry.surface for entry in word[:at])
            return surface if len(surface) > 1 and _UNKNOWN_NOUN.fullmatch(shape) else None
    return None


def _shape(entry: Entry) -> str:
    if "+" in entry.tag:
        return "".join(_LETTER_OF.get(tag, "?") for tag in entry.tag.split("+"))
    if entry.surface in _LAST_PARTICLES and entry.tag.startswith("J"):
        return "T"
    return _LETTER_OF.get(entry.tag, "?")


def _particle(surface: str) -> str:
    """The longest particle at the end of `surface` that leaves two syllables and fits the last of them."""
    for size in range(min(_LONGEST, len(surface) - 2), 0, -1):
        particle, before = surface[-size:], surface[-size - 1]
        has_final = is_syllable(before) and split_syllable(before)[2] > 0
        if particle in _PARTICLES and has_final in _PARTICLES[particle]:
            return particle
    return ""
