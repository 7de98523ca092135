"""Generated texts in Korean and English: memories and queries for the speed rows, questions with one answer.

Everything follows from fixed seeds. A question repeats a noun of its answer in another form: with another
particle in Korean (`우산을` is asked for as `우산은`), in the plural in English. The memories around the
answer share its people, places and verbs, so that the noun decides.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import NamedTuple

from bench.peers.peer import Item

_OTHER_MEMORIES = 200
_PARTICLES = {"을": "를", "이": "가", "은": "는", "과": "와"}
"""Korean particles after a consonant, and after a vowel."""


class Question(NamedTuple):
    """A question and the key of the only memory that answers it."""

    text: str
    answer: str


class _Noun(str):
    """A noun that takes its particle from the format: `{noun:을}` is 우산을, and 자전거를."""

    def __format__(self, particle: str) -> str:
        ends_in_vowel = (ord(self[-1]) - ord("가")) % 28 == 0
        return str(self) + (_PARTICLES[particle] if particle and ends_in_vowel else particle)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@dataclass(frozen=True)
class Language:
    """Sentences with gaps, and the words for them. A `rare` noun is the answer to a question."""

    statements: Sequence[str]
    questions: Sequence[str]
    words: Mapping[str, Sequence[str]]
    rare: Sequence[str]
    common: Sequence[str]

    def statement(self, chance: random.Random, noun: str) -> str:
        words = {name: chance.choice(choices) for name, choices in self.words.items()}
        return chance.choice(self.statements).format(noun=_Noun(noun), **words)

    def question(self, chance: random.Random, noun: str) -> str:
        return chance.choice(self.questions).format(noun=_Noun(noun))

    def any_noun(self, chance: random.Random) -> str:
        return chance.choice((*self.rare, *self.common))


KOREAN = Language(
    statements=(
        "{who} {day}에 {place}에서 {noun:을} 샀다고 했어.",
        "{who} {place} 가는 길에 {noun:을} 잃어버려서 속상해했어.",
        "{noun:이} 망가져서 {who} {day}에 {place}에 맡겼어.",
        "{who} {place}에서 {noun:을} 빌려서 {day}에 돌려주기로 했어.",
        "{day}에 {place} 앞에서 {who} {noun:을} 선물로 받았어.",
    ),
    questions=(
        "{noun:은} 어떻게 됐더라?",
        "{noun}에 대해 내가 뭐라고 했지?",
        "내가 {noun}도 얘기한 적 있어?",
        "{noun}까지 말했던 거 기억나?",
        "{noun:과} 관련해서 무슨 일이 있었지?",
    ),
    words={
        "who": _words("민수가 지우가 서연이가 하준이가 할머니가 아버지가 언니가 팀장님이 이웃이 친구가"),
        "place": _words("시장 공원 도서관 회사 병원 역 학교 바닷가 카페 서점"),
        "day": _words("월요일 화요일 수요일 목요일 금요일 토요일 일요일 주말 설날 생일"),
    },
    rare=_words("""
        우산 자전거 냉장고 안경 기타 목도리 카메라 노트북 화분 텐트 시계 지갑 세탁기 운동화 장갑
        피아노 선풍기 베개 가위 앨범 망원경 스케이트 다리미 바이올린 주전자 모자 청소기 담요
        손전등 만년필 낚싯대 배낭 거울 액자 믹서기 열쇠 휠체어 책장 이어폰 난로 프라이팬 달력
        체중계 돗자리 현미경 벨트 향수 드라이기 유모차 나침반
    """),
    common=_words("""
        사과 수박 김치 커피 빵 우유 책 잡지 편지 사진 꽃 초콜릿 인형 그림 엽서 스티커 연필 공책
        지도 영화표 반지 귀걸이 양말 셔츠 치마 바지 코트 우비 수건 비누
    """),
)
ENGLISH = Language(
    statements=(
        "{who} bought the {noun} at the {place} on {day}.",
        "{who} lost the {noun} on the way to the {place} and was upset.",
        "The {noun} broke, and {who} took it to the {place} on {day}.",
        "{who} borrowed the {noun} at the {place} and will return it on {day}.",
        "On {day}, in front of the {place}, {who} got the {noun} as a present.",
    ),
    questions=(
        "What happened with the {noun}s?",
        "What did I say about {noun}s?",
        "Did I ever mention any {noun}s?",
        "Do you remember those {noun}s?",
        "Who had something to do with {noun}s?",
    ),
    words={
        "who": _words("Minsu Jiwoo Nora Daniel grandmother father Emma Oliver Hana Lucas"),
        "place": _words("market park library office hospital station school beach café bookshop"),
        "day": _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday"),
    },
    rare=_words("""
        umbrella bicycle fridge guitar scarf camera laptop tent wallet sneaker piano pillow
        album telescope skate iron violin kettle hat blanket lantern backpack mirror frame mixer
        key wheelchair bookcase earphone heater pan calendar scale mat microscope belt perfume
        dryer stroller compass drum hammer ladder basket lamp carpet canoe ring printer candle
    """),
    common=_words("""
        apple melon cake coffee loaf milk book magazine letter photo flower chocolate doll
        painting postcard sticker pencil notebook map ticket bracelet earring sock shirt skirt
        jacket coat raincoat towel soap
    """),
)


def memories(count: int, seed: str) -> list[Item]:
    """Memories of two sentences, in turn Korean and English."""
    chance = random.Random(seed)
    return [
        Item(
            key=f"{seed}-{number}",
            text=" ".join(language.statement(chance, language.any_noun(chance)) for _ in range(2)),
        )
        for number, language in enumerate(islice(cycle((KOREAN, ENGLISH)), count))
    ]


def queries(count: int, seed: str) -> list[str]:
    """Questions about nouns that are in many memories, in turn Korean and English."""
    chance = random.Random(seed)
    return [
        language.question(chance, language.any_noun(chance))
        for language in islice(cycle((KOREAN, ENGLISH)), count)
    ]


def answers(language: Language) -> tuple[list[Item], list[Question]]:
    """Memories in random order, and a question about each noun that only one of them has."""
    chance = random.Random("answers")
    items = [Item(key=noun, text=language.statement(chance, noun)) for noun in language.rare]
    items += [
        Item(key=f"other-{number}", text=language.statement(chance, chance.choice(language.common)))
        for number in range(_OTHER_MEMORIES)
    ]
    chance.shuffle(items)
    return items, [Question(language.question(chance, noun), noun) for noun in language.rare]
