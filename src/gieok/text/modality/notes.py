"""How a note is worded: the short value of a fact, such as `quit smoking` or `예전에 부산에 살았음`."""

# ruff: noqa: E501 - one rule of a table is one line

from __future__ import annotations

from gieok.text.modality import english_cues, korean_cues
from gieok.text.modality.clause import cues, level, listed

_DENIES = cues(r"""
    \b(?:not|no|never|nobody|nothing|none|without|cannot|neither|nor|against|single|unable|instead|isn't|can't|won't|no longer)\b
    n't\b / \b\w+-free\b / 안\s / 못 / 않 / 없 / 아니 / 아님 / 아닌 / 싫 / 금지 / 대신 / 제외 / 금주 / 금연 / 말[기것지]
""")
_ENDS = cues(r"""
    \b(?:stop|quit|refus|avoid|dislik|hat|cancel|declin|reject|ban|forb|separat|miss|fail|postpon|ended|lost|left|abandon|scrap|gave up|given up|called off|turned down|fell through)
    취소 / 중단 / 그만 / 반대 / 거절 / 포기 / 끊 / 미루 / 헤어 / 지우 / 무산
""")
_LOOKS_BACK = cues(r"""
    \b(?:was|were|had|used to|former|formerly|previously|ago|ex|once|retired|in the past|until|as a child|since)\b
    \b(?:took|went|made|got|wrote|ran|died|met|won|lost|broke|(?!scared|married|engaged|interested|tired|bored|worried|excited|need)\w{3,}ed)\b
    {ㅆ}(?:음|던|다|었|으|고|지) / {ㅆ}$ / 예전 / 과거 / 옛날 / 한때 / 시절 / (?:^|\s)전\s / 던\s / (?:때|적)(?:에|\s) / \d년째
""")
_WISHES = cues(r"""
    \b(?:wants?|wish\w*|hopes?|hoping|would like|dreams?|goal|plans?)\b / 싶 / 원함 / 원하 / 바람 / 바라 / 희망 / 목표 / 꿈
""")
_HEDGES = cues(r"""
    \b(?:maybe|might|may|could|considering|thinking|perhaps|possibly|unsure|undecided|would|if|when|depends)\b
    고민 / 생각\s?중 / 검토 / 지도 / 수도 / 듯 / 면\s / 경우
""")
_SAME = (
    listed("mom mum mam mama mother ma mommy"),
    listed("dad father papa daddy pa"),
    listed("sister sis"),
    listed("brother bro"),
    listed("grandma gramma grandmother gran nan nana"),
    listed("grandpa grandfather granddad"),
    listed("boyfriend bf partner girlfriend gf"),
    listed("husband hubby partner wife spouse"),
    listed("roommate roomate flatmate housemate"),
    listed("boss manager gaffer"),
    listed("friend mate bestie buddy"),
    listed("neighbor neighbour"),
    listed("coworker colleague"),
    listed("kid child son daughter kids children baby"),
    listed("엄마 어머니 어머님 모친"),
    listed("아빠 아버지 아버님 부친"),
    listed("형 형님 오빠"),
    listed("언니 누나"),
    listed("남편 신랑"),
    listed("아내 와이프 집사람 부인"),
    listed("남친 남자친구 애인 연인"),
    listed("여친 여자친구 애인 연인"),
    listed("엄빠 부모님 부모"),
    listed("친구 베프 절친 단짝"),
    listed("선생 선생님 쌤"),
    listed("작은아빠 작은아버지"),
    listed("큰아빠 큰아버지"),
)
"""Words for the same person, of which a message may have one and a note another."""


def denies(note: str) -> bool:
    """Whether a note says that something is not so, or has ended."""
    return _DENIES.search(level(note)) is not None or ending_in(note) != ""


def ending_in(note: str) -> str:
    """The verb by which a note says that something has ended: `quit`, `그만`. Empty if there is none."""
    found = _ENDS.search(level(note))
    return found[0] if found and not _DENIES.search(level(note)) else ""


def looks_back(note: str) -> bool:
    """Whether a note speaks of the past."""
    return _LOOKS_BACK.search(level(note)) is not None


def wishes(note: str) -> bool:
    """Whether a note states a wish or an aim."""
    return _WISHES.search(level(note)) is not None


def hedges(note: str) -> bool:
    """Whether a note leaves open if it is so."""
    return _HEDGES.search(level(note)) is not None


def mentions(note: str, person: str) -> bool:
    """Whether a note names a person, given as in `Clause.subject`, by that word or by a synonym."""
    text = level(note)
    names = {word.strip(".") for word in level(person).split()}
    names |= {other for group in _SAME for other in group if names & group}
    return any(name in text for name in names if len(name) > 1 or "가" <= name <= "힣")


def mentions_anyone(note: str) -> bool:
    """Whether a note names a relative, a friend or somebody else by what they are to the speaker."""
    text = level(note)
    words = (word.strip('.,;:!?()"').removesuffix("'s") for word in text.split())
    return not english_cues.RELATIVES.isdisjoint(words) or any(
        kin in text for kin in korean_cues.RELATIVES if len(kin) > 1
    )
