"""The facts of a turn.

What the rules of both languages call a fact, and the key by which a later one supersedes it. Slots have
English names whatever the language of the talk, so that they stay one slot; what fills them is in the user's.
Any of them is retracted by its denial, and by owning up that it was a jest.

    category       key                value, for example                  superseded or retracted by
    PERSONAL_INFO  name, age          김민지 / 29살                       another
    PERSONAL_INFO  birthday           5월 3일                             another
    PERSONAL_INFO  home, hometown     부산                                moving, living elsewhere
    PERSONAL_INFO  job                간호사 / 카카오에서 일함            another; leaving it retracts
    PERSONAL_INFO  major, mbti, diet  vegan                               another
    PERSONAL_INFO  school, birthyear  3학년 / 97년생                      another
    PERSONAL_INFO  siblings, pronouns 막내 / they/them                    another
    PERSONAL_INFO  nationality        Brazilian                           another; so with handedness
    PERSONAL_INFO  allergy:<what>     땅콩 알레르기가 있음
    PERSONAL_INFO  family:<who>       여동생이 있음
    PERSONAL_INFO  pet:<animal>       강아지를 키움                       its death retracts
    RELATIONSHIP   partner            지훈과 사귀는 중 / 지훈과 헤어짐    each other, marriage, divorce
    RELATIONSHIP   person:<who>       민수와 다툼 / 엄마가 입원함         peace, other news of the same
    RELATIONSHIP   promise:<what>     같이 영화 보기로 약속함             another about it
    RELATIONSHIP   us                 서로 사귀는 중 / 서로 헤어짐        how user and persona stand next
    GOAL           <what>             토익 900점 넘고 싶어함              reached or given up retracts
    EVENT          <occasion>         면접을 앞두고 있음                  its end or outcome: 면접 봄, 합격함
    EVENT          job, move, health  회사 그만둠 / 감기에 걸림           the next of the same kind
    EVENT          <goal reached>     마라톤 완주함
    HABIT          <activity>         매일 아침 달리기 함                 not doing it any more retracts
    PREFERENCE     likes:<thing>      커피를 좋아함 / 커피를 싫어함       each other
    PREFERENCE     favorite:<kind>    초밥                                another
    OPINION        <about>            재택근무가 더 낫다고 생각함         another about the same
"""

from __future__ import annotations

from collections.abc import Sequence

from gieok.adapters.models.offline.analysis import read
from gieok.adapters.models.offline.english_between import english_agreed, english_between_us
from gieok.adapters.models.offline.english_facts import english_facts
from gieok.adapters.models.offline.found import Found
from gieok.adapters.models.offline.korean_between import agreed, between_us
from gieok.adapters.models.offline.korean_facts import korean_facts
from gieok.adapters.models.offline.quoted import own_words
from gieok.adapters.models.offline.taken_back import owns_up, taken_back
from gieok.memory.canon.records import ExtractedFact, Fact, Provenance


def facts_in(user: str, assistant: str, known: Sequence[Fact], before: str = "") -> tuple[ExtractedFact, ...]:
    """What the user stated, then what the assistant concluded. Of one key, what was said last holds.

    Where the user only owns up to a jest, what they stated `before` is taken back.
    """
    if before and owns_up(user):
        return _records(taken_back(_stated(before, "", known), known), "user")
    concluded = _records(_concluded(assistant), "model")
    later = {(fact.category, fact.key) for fact in concluded}
    stated = _records(_stated(user, assistant, known), "user")
    return (*(fact for fact in stated if (fact.category, fact.key) not in later), *concluded)


def _stated(text: str, answer: str, known: Sequence[Fact]) -> list[Found]:
    said = read(own_words(text))
    if said.language == "en":
        return [*english_facts(said, known), *english_between_us(said)]
    return [*korean_facts(said, known), *between_us(said, answer)]


def _concluded(text: str) -> list[Found]:
    """Only what a speaker can settle: promises, and how the two stand. The rest is the user's to say."""
    if not text:
        return []
    said = read(text)
    if said.language == "en":
        return [*english_agreed(said), *english_between_us(said)]
    return [*agreed(said), *between_us(said)]


def _records(found: Sequence[Found], provenance: Provenance) -> tuple[ExtractedFact, ...]:
    last = {(fact.category, fact.key): fact for fact in found}
    records = (fact.said_by(provenance) for fact in last.values())
    return tuple(record for record in records if record is not None)
