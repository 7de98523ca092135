"""Korean persons: 나 and 너 become the user and the one they talk to.

A Korean sentence mostly leaves its subject out, so a first person subject is dropped and the summary
names the user once, at its beginning.
"""

from __future__ import annotations

from dataclasses import dataclass

from gieok.adapters.models.offline.analysis import Sentence
from gieok.adapters.models.offline.lexicon import listed
from gieok.text import Morpheme
from gieok.text.hangul import particle

_FIRST = frozenset({"나", "저", "내", "제", "전"})
_SECOND = frozenset({"너", "네", "니", "당신"})
_GROUP = frozenset({"우리", "저희"})
# 우리 before one of these says whose it is; before anything else it is the subject.
_BELONGING = listed("""
    엄마 아빠 어머니 아버지 부모 부모님 언니 오빠 누나 형 동생 여동생 남동생 할머니 할아버지 아들 딸
    남편 아내 가족 집 회사 학교 팀 반 강아지 고양이 아이 애 선생 선생님 동네 사장 팀장 부장 과장 이모
    삼촌 고모 사촌 친구 학과 부서 애기
""")
_REASONS = frozenset({"때문", "덕분", "대신", "말고", "없이"})
_TIMES = listed("오늘 내일 모레 어제 요즘 지금 내년 올해 작년 이번 다음 지난 지난주 아까 방금 사실 최근 곧")
_SUBJECT_PARTICLES = frozenset({"는", "은", "ㄴ", "가", "이", "야", "께서"})
_TOWARD = frozenset({"한테", "에게", "께", "한테서", "에게서"})
_WITH = frozenset({"랑", "이랑", "하고", "와", "과"})


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence told from outside: who it is about, and its words.

    `subject` is 사용자가, 사용자도, or 사용자의 where the sentence began with what is the user's own.
    `addressed`: the other person was spoken to.
    """

    subject: str
    words: str
    addressed: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    surface: str
    parts: tuple[Morpheme, ...]


def retell(sentence: Sentence, end: int, first: int = 0) -> Told:
    """Retell the text before character `end`, from the morpheme numbered `first` on."""
    words = _words(sentence, end, first)
    said: list[str] = []
    subject, addressed = "사용자가", False
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else None
        person = _person(word, following)
        addressed = addressed or person in _SECOND
        front = _front(word, person, following) if not any(said) else ""
        if front:
            subject = front
        else:
            because = following is not None and following.parts[0].form in _REASONS
            said.append(_word(word, person, drops_you=sentence.asks, stays=because))
    return Told(subject, " ".join(filter(None, said)), addressed)


def _words(sentence: Sentence, end: int, first: int) -> list[_Word]:
    """The whitespace words before `end`; the last may be the front half of one."""
    words: list[_Word] = []
    parts: list[Morpheme] = []
    for morpheme in sentence.morphemes[first:]:
        if morpheme.start >= end:
            break
        if parts and morpheme.start > parts[-1].end:
            words.append(_word_of(sentence, parts, end))
            parts = []
        parts.append(morpheme)
    if parts:
        words.append(_word_of(sentence, parts, end))
    return words


def _word_of(sentence: Sentence, parts: list[Morpheme], end: int) -> _Word:
    return _Word(sentence.text[parts[0].start : min(parts[-1].end, end)].strip(), tuple(parts))


def _person(word: _Word, following: _Word | None) -> str:
    first = word.parts[0]
    if first.tag == "NP":
        return first.form
    humble = first.form == "전" and first.tag == "MM" and len(word.parts) == 1
    # 저 before a time is the speaker (저 내년에 …), before anything else it points (저 사람).
    speaker = word.surface == "저" and following is not None and following.parts[0].form in _TIMES
    return first.form if humble or speaker else ""


def _front(word: _Word, person: str, following: _Word | None) -> str:
    """How a sentence that opens with `word` names the user: 내 … is 사용자의, 나도 … is 사용자도."""
    if person in _FIRST and word.parts[-1].tag == "JKG":
        return "사용자의"
    if person in _FIRST and len(word.parts) == 2 and word.parts[1].form in ("도", "만"):
        return f"사용자{word.parts[1].form}"
    owned = following is not None and following.parts[0].form in _BELONGING
    return "사용자의" if person in _GROUP and len(word.parts) == 1 and owned else ""


def _word(word: _Word, person: str, *, drops_you: bool, stays: bool) -> str:
    """`stays`: the pronoun is no subject, because of the word behind it (나 때문에)."""
    if person in _FIRST:
        return "자신" if stays else _case("자신", word, drops=True)
    if person in _GROUP:
        return "" if _is_subject(word) else word.surface
    if person in _SECOND:
        return "상대" if stays else _case("상대", word, drops=drops_you)
    return word.surface


def _is_subject(word: _Word) -> bool:
    return len(word.parts) == 1 or (len(word.parts) == 2 and word.parts[1].form in _SUBJECT_PARTICLES)


def _case(noun: str, word: _Word, *, drops: bool) -> str:
    """The pronoun of `word` as `noun`, its particle made to fit; nothing where a subject may be left out."""
    if _is_subject(word):
        return "" if drops or len(word.parts) == 1 else f"{noun}{particle(noun, '이/가')}"
    tag, form = word.parts[1].tag, word.parts[1].form
    if tag == "JKG":
        return f"{noun}의"
    if tag == "JKO":
        return f"{noun}{particle(noun, '을/를')}"
    if form in _TOWARD:
        return f"{noun}에게"
    if form in _WITH:
        return f"{noun}{particle(noun, '과/와')}"
    return f"{noun}{form}"
