"""The modality of English clauses, by rules over words. The words are in `english_cues`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gieok.text.english.stemming import is_stop_word
from gieok.text.modality import english_cues as cue
from gieok.text.modality.clause import Modality, Part, Span

_M = Modality
_TITLES = frozenset({"my", "our", "me", "dr", "mrs", "mr", "ms"})


def takes_back(text: str) -> bool:
    """Whether a message or clause in normal form begins by calling what went before a joke."""
    return cue.TAKEN_BACK.match(text) is not None


def opens_role_play(text: str) -> bool:
    """Whether a message in normal form asks for a game of roles, or takes a role on."""
    return cue.ROLE.search(text) is not None


def read(normal: str, original: str) -> list[Part]:
    """The clauses of a text in normal form; `original` has the same length and shows its capitals."""
    parts = _split(normal)
    for index, part in enumerate(parts):
        _mark_alone(part)
        if index and takes_back(part.text):
            _mark_taken_back(parts, index)
    for sentence in _sentences(parts):
        _mark_conditions(sentence)
        _mark_reports(sentence)
        _mark_trailing_report(sentence)
        _mark_story(sentence, normal)
        _mark_whole(sentence, normal)
    role = cue.ROLE.search(normal)
    for part in parts:
        if role is not None and part.end > role.start():
            part.modality.add(_M.FICTION)
    _mark_subjects(parts, original)
    return parts


def _split(normal: str) -> list[Part]:
    parts: list[Part] = []
    start = 0
    for left, right in [*_cuts(normal), (len(normal), len(normal))]:
        text, mark = normal[start:left], normal[left:right]
        closes = left == len(normal) or cue.SENTENCE_END.match(mark) is not None
        if text.strip():
            begins = start + len(text) - len(text.lstrip())
            part = Part(text.strip(), begins, begins + len(text.strip()))
            part.leads = not parts or bool(normal[parts[-1].end : begins].strip())
            part.closes = closes
            part.asked = "?" in mark or part.text.endswith("?")
            parts.append(part)
        elif parts:
            parts[-1].closes |= closes
            parts[-1].asked |= "?" in mark
        start = right
    return parts


def _cuts(normal: str) -> Iterator[Span]:
    for cut in cue.BOUNDARY.finditer(normal):
        is_space = not cut[0].strip() and "\n" not in cut[0]
        before_not = is_space and normal.startswith("not", cut.end())
        if not (before_not and cue.BEFORE_NOT.search(normal[max(0, cut.start() - 12) : cut.start()])):
            yield cut.span()


def _sentences(parts: list[Part]) -> Iterator[list[Part]]:
    sentence: list[Part] = []
    for part in parts:
        sentence.append(part)
        if part.closes:
            yield sentence
            sentence = []


def _mark_alone(part: Part) -> None:
    """What the words of one clause say of it."""
    text = part.text
    if part.asked or cue.QUESTION.match(text):
        part.modality.add(_M.QUESTION)
    if cue.UNREAL.search(text) or (cue.WOULD.search(text) and not part.asked):
        part.modality.add(_M.HYPOTHETICAL)
    if len(cue.DENIAL.findall(cue.NO_DENIAL.sub(" ", text))) % 2:  # two affirm: I wouldn't say no
        part.modality.add(_M.NEGATED)
    dated = cue.IN_A_YEAR.search(text) and cue.PAST_VERB.search(text) and not cue.LASTS.search(text)
    if cue.FORMERLY.search(text) or dated:
        part.modality.add(_M.PAST)
    for table, modality in (
        (cue.WISH, _M.WISH),
        (cue.FIGURATIVE, _M.JOKE),
        (cue.MYTH, _M.FICTION),
    ):
        if table.search(text):
            part.modality.add(modality)


def _mark_taken_back(parts: list[Part], index: int) -> None:
    """Just kidding: the sentence before is a joke, and the one before that if it is a word or two."""
    at = index - 1
    words = len(parts[at].text.split())
    parts[at].modality.add(_M.JOKE)
    while at and (not parts[at - 1].closes or words < 3):
        at -= 1
        words += len(parts[at].text.split())
        parts[at].modality.add(_M.JOKE)


def _mark_conditions(sentence: list[Part]) -> None:
    """If …, …: until the sentence turns. After its main clause, a condition leaves that asserted."""
    for index, part in enumerate(sentence):
        condition = cue.CONDITION.match(part.text)
        if condition is None:
            continue
        reach = [part]
        if part.leads or index == 0 or not condition[0].startswith(("if", "supposing", "provided", "unless")):
            reach += _until_turn(sentence[index + 1 :])
        unreal = any(cue.WOULD.search(later.text) or " were " in later.text for later in reach)
        for later in reach:
            later.modality |= {_M.CONDITIONAL, _M.HYPOTHETICAL} if unreal else {_M.CONDITIONAL}


def _until_turn(parts: list[Part]) -> Iterator[Part]:
    for part in parts:
        if cue.TURN.match(part.text):
            return
        yield part


def _mark_reports(sentence: list[Part]) -> None:
    """She says …: to the end of the sentence, or until it turns."""
    for index, part in enumerate(sentence):
        report = cue.REPORT.search(part.text) or cue.REPORT_WITHOUT_SUBJECT.match(part.text)
        if report is not None and cue.NO_REPORT.match(part.text[report.end() :]):
            report = None
        wish = cue.REPORT_WISH.match(part.text) or cue.ACCORDING.match(part.text)
        found = wish or report
        if found is None:
            continue
        after = list(_until_turn(sentence[index + 1 :]))
        said = " ".join([part.text[found.end() :], *(later.text for later in after)])
        opinion = wish or cue.OPINION.search(found[0]) or cue.ADVICE.search(said)
        speaker = _speaker(part.text, found) or _authority(sentence[:index])
        for later in (part, *after):
            later.modality |= {_M.HEARSAY, _M.OPINION_OF_OTHERS} if opinion else {_M.HEARSAY}
            later.speaker = speaker


def _mark_trailing_report(sentence: list[Part]) -> None:
    """I'm difficult, says Karen."""
    report = cue.TRAILING_REPORT.match(sentence[-1].text) if len(sentence) > 1 else None
    for part in sentence if report is not None else ():
        part.modality |= {_M.HEARSAY, _M.OPINION_OF_OTHERS}
        part.speaker = report["who"] if report is not None else ""


def _speaker(text: str, report: re.Match[str]) -> str:
    who = report.groupdict().get("who") or ""
    before = text[: report.start()].split()[-1:]
    return " ".join([*before, who]) if before and before[0] in cue.RELATIVES | _TITLES else who


def _authority(before: list[Part]) -> str:
    """Who said it, where only `said` stands: saw the doctor, said it's broken."""
    words = [word for part in before for word in part.text.split() if word in cue.AUTHORITIES]
    return words[-1] if words else ""


def _mark_story(sentence: list[Part], normal: str) -> None:
    begins = sentence[0].start
    story = cue.STORY.search(normal[begins : sentence[-1].end])
    for part in sentence:
        if story is not None and part.end > begins + story.start():
            part.modality.add(_M.FICTION)


def _mark_whole(sentence: list[Part], normal: str) -> None:
    """Irony holds for its sentence, a past time for what follows, and after `said:` somebody else speaks."""
    ironic = cue.SARCASM.search(normal[sentence[0].start : sentence[-1].end]) is not None
    said = past = False
    for part in sentence:
        if ironic:
            part.modality.add(_M.SARCASM)
        if past and cue.PAST_VERB.search(part.text):
            part.modality.add(_M.PAST)
        past = past or _M.PAST in part.modality
        if said:
            part.modality.add(_M.QUOTED)
        colon = normal.startswith(":", part.end) and cue.REPORT_COLON.search(part.text) is not None
        said = said or colon or cue.PROVERB.match(part.text) is not None


def _mark_subjects(parts: list[Part], original: str) -> None:
    """Whom each clause is about: the person at its beginning, or that of the clause that it continues."""
    current = named = ""
    before: Part | None = None
    for part in parts:
        if before is not None and cue.FRAGMENT.match(part.text):
            part.modality |= before.modality & {_M.JOKE, _M.FICTION, _M.PAST}
        elif cue.FIRST_PERSON.match(part.text):
            current = ""
        elif (found := _third_person(part, original)) is not None:
            current = found or named or "he"
            named = found or named
        elif not cue.CONTINUES.match(part.text):
            current = ""
        if current:
            part.modality.add(_M.OTHER_PERSON)
            part.subject = current
        before = part


def _third_person(part: Part, original: str) -> str | None:
    """The third person at the beginning of a clause, "" for he and she, None if there is none."""
    animate = cue.ANIMATE.match(part.text)
    if animate is not None and not is_stop_word(animate["name"]):
        return animate["name"]
    owner = cue.OF_A_RELATIVE.search(part.text)
    if owner is not None and owner["kin"] in cue.RELATIVES and not cue.PAST_VERB.search(part.text):
        return owner["kin"]
    match = cue.SUBJECT.match(part.text)
    if match is None or match["pronoun"] or match["title"]:
        return match and (match["title"] or "")
    after = part.text[match.end() :]
    if (kin := match["kin"]) is not None:
        name = re.match(r"\s+([a-z]+)\b", after)
        capital = original[part.start + match.end() :].lstrip()[:1].isupper()
        named = f"{kin} {name[1]}" if name and capital else kin
        return named if kin in cue.RELATIVES else None
    name = match["name"]
    is_name = not name.endswith("ly") and (
        original[part.start + match.start("name")].isupper() and not is_stop_word(name) and len(name) > 2
    )
    verb = cue.VERB.match(after)
    follows = verb is not None and not original[part.start + match.end() :].lstrip()[:1].isupper()
    return name if (is_name or name in cue.RELATIVES) and follows else None
