"""The modality of Korean clauses, by morphemes and endings. The tables are in `korean_cues`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from gieok.text.hangul import SYLLABLE
from gieok.text.korean.morphemes import Morpheme, morphemes_in
from gieok.text.modality import korean_cues as cue
from gieok.text.modality.clause import Modality, Part

_M = Modality
_WORD = re.compile(r"\S+")
_MARK = re.compile(r"[^가-힣a-z0-9]*$")
_REACH = 12  # clauses: longer sentences are lists
_SYMBOLS = frozenset({"SF", "SY", "SE", "SC", "SSO", "SSC", "UNKNOWN", "IC"})


class _Word(NamedTuple):
    text: str
    start: int
    end: int
    parts: tuple[Morpheme, ...]
    """Its morphemes, without marks and laughter."""
    mark: str
    """The marks and laughter at its end."""


def takes_back(text: str) -> bool:
    """Whether a message or clause in normal form begins by calling what went before a joke."""
    return cue.TAKEN_BACK.match(text) is not None


def opens_role_play(text: str) -> bool:
    """Whether a message in normal form asks for a game of roles."""
    return cue.ROLE.search(text) is not None


def read(normal: str) -> list[Part]:
    """The clauses of a text in normal form."""
    parts: list[Part] = []
    groups: list[list[_Word]] = []
    for group, closes in _groups(_words(normal), normal):
        start, end = group[0].start, group[-1].end
        part = Part(normal[start:end], start, end, closes=closes, asked="?" in group[-1].mark)
        _mark_alone(part, group)
        parts.append(part)
        groups.append(group)
    _mark_conditions(parts, groups)
    _mark_subjects(parts, groups)
    _mark_reports(parts, groups)
    _share_moods(parts, groups)
    _mark_neighbours(parts, normal)
    return parts


def _words(normal: str) -> list[_Word]:
    found = morphemes_in(normal)
    words: list[_Word] = []
    at = 0
    for match in _WORD.finditer(normal):
        parts: list[Morpheme] = []
        while at < len(found) and found[at].start < match.end():
            if found[at].tag not in _SYMBOLS:
                parts.append(found[at])
            at += 1
        laughs = not parts and not SYLLABLE.search(match[0])
        if laughs and words and "\n" not in normal[words[-1].end : match.start()]:
            last = words.pop()  # laughter belongs to the word before it
            words.append(last._replace(end=match.end(), mark=f"{last.mark}{match[0]}"))
            continue
        mark = _MARK.search(match[0])
        words.append(_Word(match[0], match.start(), match.end(), tuple(parts), mark[0] if mark else ""))
    return words


def _groups(words: list[_Word], normal: str) -> Iterator[tuple[list[_Word], bool]]:
    """Words by clause, each with whether a sentence ends there."""
    group: list[_Word] = []
    for index, word in enumerate(words):
        group.append(word)
        following = words[index + 1] if index + 1 < len(words) else None
        if following is None or "\n" in normal[word.end : following.start] or _closes(word, following):
            yield group, True
            group = []
        elif _joins(word, following):
            yield group, False
            group = []


def _closes(word: _Word, following: _Word) -> bool:
    """Whether a sentence ends after a word: by a mark, by laughter, or by an ending that closes."""
    if re.search(r"[.!?~^;]|[ㅋㅎㅠㅜ]{2,}", word.mark):
        return True
    if not word.parts:
        return False
    last = word.parts[-1]
    before = word.parts[-2] if len(word.parts) > 1 else None
    head = following.parts[0] if following.parts else None
    if last.tag == "ETN":
        return last.form in ("ㅁ", "음") and not (head and (head.form.startswith("좋") or head.tag[0] == "J"))
    if last.form.endswith("까") and head is not None and head.form in cue.PONDERS:  # 갈까 생각 중
        return False
    if last.tag == "EC" and not _carried_on(last, head):
        ended = before is not None and before.tag == "EP" and last.form in ("어", "아", "다")
        return ended or cue.FINAL.search(last.form) is not None
    return last.tag == "EF"


def _joins(word: _Word, following: _Word) -> bool:
    """Whether a clause ends after a word and the sentence continues."""
    if "," in word.mark:
        return True
    if not word.parts:
        return False
    last = word.parts[-1]
    if last.tag[0] in "NS" and following.text in cue.CORRECTING:  # 목요일 아니 금요일
        return True
    if last.form == "말고" or (last.form == "데" and last.tag == "NNB" and len(word.parts) > 1):
        return True
    head = following.parts[0] if following.parts else None
    return last.tag == "EC" and cue.JOINT.search(last.form) is not None and not _carried_on(last, head)


def _carried_on(last: Morpheme, head: Morpheme | None) -> bool:
    auxiliary = head is not None and (head.tag == "VX" or head.form in cue.CARRIES_ON)
    return auxiliary and not last.form.endswith("면")


def _mark_alone(part: Part, group: list[_Word]) -> None:
    """What the words of one clause say of it."""
    text = part.text
    forms = [morpheme for word in group for morpheme in word.parts]
    if cue.UNDONE.search(text) or _denials(part, forms) % 2:
        part.modality.add(_M.NEGATED)
    asks = forms and forms[-1].tag in ("EF", "EC") and cue.QUESTION_ENDING.match(forms[-1].form)
    if part.asked or asks:
        part.modality.add(_M.QUESTION)
    if cue.FORMERLY.search(f"{text} ") and cue.PAST.search(text) and not cue.STILL.search(text):
        part.modality.add(_M.PAST)
    for table, modality in (
        (cue.UNREAL, _M.HYPOTHETICAL),
        (cue.WISH, _M.WISH),
        (cue.FIGURATIVE, _M.JOKE),
        (cue.MYTH, _M.FICTION),
    ):
        if table.search(text):
            part.modality.add(modality)


def _denials(part: Part, forms: list[Morpheme]) -> int:
    """How many negations a clause has; two affirm: 없지 않다."""
    excused = [match.span() for match in cue.NO_DENIAL.finditer(part.text)]
    count = 0
    for index, morpheme in enumerate(forms):
        at = morpheme.start - part.start
        if any(left <= at < right for left, right in excused):
            continue
        following = forms[index + 1] if index + 1 < len(forms) else None
        match morpheme.form, morpheme.tag:
            case ("안" | "못", "MAG"):
                count += following is not None and following.tag[0] in "VXMN"
            case ("아니", "VCN"):
                count += index > 0
            case ("않" | "못하" | "말", "VX" | "VV") | ("없", "VA" | "VV") | ("말고", "JX"):
                count += 1
            case _:
                pass
    return count


def _mark_conditions(parts: list[Part], groups: list[list[_Word]]) -> None:
    """-면: until the sentence ends. 안 먹으면 안 돼 is an obligation, 하면 좋겠다 a wish."""
    for index, part in enumerate(parts):
        last = groups[index][-1].parts[-1:]
        if not last or last[0].tag != "EC" or not last[0].form.endswith("면"):
            continue
        following = parts[index + 1] if index + 1 < len(parts) and not part.closes else None
        if cue.NO_CONDITION.search(part.text):
            continue
        if following is not None and cue.OBLIGED.match(following.text):
            if {_M.NEGATED} <= part.modality & following.modality:
                part.modality.discard(_M.NEGATED)
                following.modality.discard(_M.NEGATED)
        elif following is not None and following.text.startswith("좋"):
            part.modality.add(_M.WISH)
            following.modality.add(_M.WISH)
        else:
            _mark_consequence(parts, index)


def _mark_consequence(parts: list[Part], index: int) -> None:
    for at, later in enumerate(parts[index : index + _REACH]):
        later.modality.add(_M.CONDITIONAL)
        if _M.HYPOTHETICAL in later.modality:
            parts[index].modality.add(_M.HYPOTHETICAL)
        if later.closes or (at and later.text.endswith((",", "는데", "은데", "지만"))):
            return


def _share_moods(parts: list[Part], groups: list[list[_Word]]) -> None:
    """돈 모아서 여행 갈까: the mood stands once, at the end, and holds for the verbs that 고 and 서 join."""
    for index in range(len(parts) - 2, -1, -1):
        forms = [morpheme for word in groups[index] for morpheme in word.parts]
        part, following = parts[index], parts[index + 1]
        if part.closes or not forms:
            continue
        acts = any(morpheme.tag in ("VV", "XSV") for morpheme in forms)
        in_past = any(morpheme.tag == "EP" for morpheme in forms)
        if cue.SHARING.search(forms[-1].form) and acts and not in_past:
            part.modality |= following.modality & {_M.HYPOTHETICAL, _M.WISH}
        if forms[-1].form.endswith("면") and cue.OBLIGED.match(following.text):  # 하면 안 되냐고
            part.modality |= following.modality & {_M.QUESTION, _M.HEARSAY, _M.OPINION_OF_OTHERS}
            part.speaker = following.speaker


def _mark_subjects(parts: list[Part], groups: list[list[_Word]]) -> None:
    """Whom each clause is about. A person stays the subject until another, or the end of the sentence.

    Where a clause names two, the first may be who says it: 장모님은 사위가 변했다 하시고.
    """
    current = named = ""
    is_topic = False
    for part, group in zip(parts, groups, strict=True):
        speaker: str | None = None
        for index in range(len(group)):
            person = _person(group, index)
            if person is None:
                continue
            current = named if person in cue.PRONOUNS and named else person
            is_topic = group[index].parts[-1].form not in cue.SUBJECT
            named = current or named
            speaker = current if speaker is None else speaker
        part.speaker = current if speaker is None else speaker
        if current:
            part.modality.add(_M.OTHER_PERSON)
            part.subject = current
        last = group[-1].parts[-1:]
        goes_on = is_topic or (last and cue.KEEPS_SUBJECT.search(last[0].form))
        if part.closes or not goes_on:
            current = ""


def _person(words: list[_Word], index: int) -> str | None:
    """The person that a word makes the subject, "" for the speaker, None if it makes none."""
    word, following = words[index], words[index + 1] if index + 1 < len(words) else None
    if not word.parts:
        return None
    first, last = word.parts[0], word.parts[-1]
    bare = word.text.rstrip("~!.,ㅋㅎㅠㅜ")
    particle = last.form if last.tag in ("JX", "JKS") else ""
    if bare in cue.SELF or (first.tag == "NP" and first.form in cue.SELF):
        makes = particle in cue.TOPIC | cue.SUBJECT or len(word.parts) == 1
        return "" if makes else None
    if following is None or (following.parts and following.parts[0].form in cue.EXISTS):
        return None  # 동생 있어 is said of the speaker
    if particle in cue.TOPIC | cue.SUBJECT | {"도"}:
        if particle in cue.SUBJECT and following.parts and following.parts[-1].tag == "ETM":
            return None  # 오빠가 사준 자전거
        noun = "".join(part.form for part in word.parts[:-1] if part.tag[0] in "NX")
        return _stem(noun) if _is_person(noun, word.parts[:-1]) else None
    opens = index == 0 or words[index - 1].text in cue.SELF
    kin = bare.removesuffix("네") if len(bare) > 2 else bare  # 이모네 강아지
    return kin if opens and kin in cue.RELATIVES else None


def _is_person(noun: str, parts: tuple[Morpheme, ...]) -> bool:
    noun = noun.removesuffix("들")
    if noun in cue.RELATIVES or (noun.endswith(cue.TITLES) and len(noun) > 1):
        return True
    if any(noun.endswith(kin) for kin in cue.RELATIVES if len(kin) > 1):
        return True
    called = len(parts) > 1 and parts[-1].form == "이" and parts[0].tag == "NNP"
    named = len(parts) == 1 and parts[0].tag == "NNP" and 1 < len(noun) < 4
    return (called or named) and cue.NO_PERSON.search(noun) is None


def _stem(noun: str) -> str:
    """민준이 as 민준."""
    return noun[:-1] if len(noun) > 2 and noun.endswith("이") and noun not in cue.RELATIVES else noun


def _mark_reports(parts: list[Part], groups: list[list[_Word]]) -> None:
    """-대, -래, -다고 하다: reported. -다고 of a third person, and orders, are what somebody else thinks."""
    for index, part in enumerate(parts):
        report = _report([morpheme for word in groups[index] for morpheme in word.parts])
        after = parts[index + 1].text if index + 1 < len(parts) and not part.closes else ""
        said = f"{part.text} {after}"
        part.speaker = _authority(groups[index]) or part.speaker
        third = bool(part.speaker)
        wanted = third and cue.WANTED.search(said) is not None
        requested = cue.REQUESTED.search(part.text) is not None or report.orders
        if cue.NAMING.search(said) or cue.THOUGHT.match(after) or not (report.found or requested or wanted):
            part.speaker = ""
            continue
        part.modality.add(_M.HEARSAY)
        if report.asks:
            part.modality.add(_M.QUESTION)
        of_speaker = third and not part.subject  # 시어머니는 내가 게으르대
        if requested or wanted or of_speaker or (third and report.quotes):
            part.modality.add(_M.OPINION_OF_OTHERS)


def _authority(group: list[_Word]) -> str:
    """Who states a fact by saying it: 병원에서, 의사가."""
    subjects = [word for word, following in pairwise(group) if following.text[0] not in "되돼된될됐아"]
    subjects = [word for word in subjects if word.text.endswith(("에서", "가", "이", "께서", "은", "는"))]
    found = (kind for word in subjects for kind in cue.AUTHORITIES if word.text.startswith(kind))
    return next(found, "")


class _Report(NamedTuple):
    found: bool
    quotes: bool
    """-다고 하다, with a verb of saying."""
    asks: bool
    orders: bool


def _report(forms: list[Morpheme]) -> _Report:
    """What the endings of a clause report."""
    endings = [
        (here, forms[index - 1] if index else None)
        for index, here in enumerate(forms)
        if (here.tag in ("EC", "EF") and cue.REPORT_ENDING.match(here.form)) or here[:2] == ("자는", "ETM")
    ]
    bare = any(
        here.form in cue.QUOTE_BARE and here.tag in ("EC", "EF") and after.form in cue.QUOTE_VERB
        for here, after in pairwise(forms)
    )
    return _Report(
        found=bare or bool(endings),
        quotes=bare or any(cue.QUOTE_ENDING.match(here.form) for here, _ in endings),
        asks=any(cue.ASKED_ENDING.match(here.form) for here, _ in endings),
        orders=any(
            cue.ORDERED_ENDING.match(here.form) and before is not None and before.tag in ("VV", "VX", "XSV")
            for here, before in endings
        ),
    )


def _mark_neighbours(parts: list[Part], normal: str) -> None:
    """What one clause says of others: corrections, jokes taken back, stories, songs, roles, irony."""
    begins = 0
    ironies = [match.span() for match in cue.SARCASM.finditer(normal)]
    for index, part in enumerate(parts):
        if index:
            before = parts[index - 1]
            if before.text[-1] not in "!?" and cue.CORRECTION.match(part.text):
                before.modality.add(_M.NEGATED)
            if takes_back(part.text):
                for earlier in parts[_sentence_start(parts, index - 1) : index]:
                    earlier.modality.add(_M.JOKE)
        if part.text.endswith("~") and _is_sung(parts, index):
            part.modality.add(_M.QUOTED)
        if part.closes:
            _mark_story(parts[begins : index + 1], normal)
            begins = index + 1
    role = cue.ROLE.search(normal)
    for part in parts:
        if role is not None and part.end > role.start():
            part.modality.add(_M.FICTION)
        if any(start < part.end and part.start < end for start, end in ironies):
            part.modality.add(_M.SARCASM)


def _is_sung(parts: list[Part], index: int) -> bool:
    """나는 너를 떠나~ 이 노래 나옴."""
    before = parts[index - 1].text if index else ""
    after = " ".join(part.text for part in parts[index + 1 : index + 3])
    return cue.SONG_BEFORE.search(before) is not None or cue.SONG_AFTER.search(after) is not None


def _sentence_start(parts: list[Part], index: int) -> int:
    while index and not parts[index - 1].closes:
        index -= 1
    return index


def _mark_story(sentence: list[Part], normal: str) -> None:
    """A plot: what stands behind the film or book that is named, if it is retold."""
    begins = sentence[0].start
    text = normal[begins : sentence[-1].end]
    story, media = cue.STORY.search(text), cue.MEDIA.search(text)
    retold = media is not None and (story is not None or cue.RETOLD.search(text) is not None)
    for part in sentence:
        in_story = story is not None and part.end > begins + story.start()
        if in_story or (retold and media is not None and part.start > begins + media.start()):
            part.modality.add(_M.FICTION)
