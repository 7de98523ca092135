"""English statements in the third person: I moved to Busan becomes The user moved to Busan."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.reading import listed


def _pairs(table: str) -> dict[str, str]:
    """`go:went see:saw` as a dictionary."""
    return {base: past for base, _, past in (pair.partition(":") for pair in table.split())}


_PAST = _pairs("""
    be:was become:became begin:began break:broke bring:brought build:built buy:bought catch:caught
    choose:chose come:came cost:cost cut:cut do:did draw:drew drink:drank drive:drove eat:ate fall:fell
    feel:felt fight:fought find:found fly:flew forget:forgot get:got give:gave go:went grow:grew
    hang:hung have:had hear:heard hide:hid hit:hit hold:held hurt:hurt keep:kept know:knew lead:led
    leave:left lend:lent let:let lose:lost make:made mean:meant meet:met pay:paid put:put quit:quit
    read:read ride:rode ring:rang run:ran say:said see:saw sell:sold send:sent set:set shake:shook
    shut:shut sing:sang sit:sat sleep:slept speak:spoke spend:spent stand:stood steal:stole swim:swam
    take:took teach:taught tell:told think:thought throw:threw understand:understood wake:woke wear:wore
    win:won write:wrote
""")
_PAST_FORMS = frozenset(_PAST.values()) | {"were", "been", "gone", "done", "seen"}
BASE_FORMS = frozenset(_PAST) | listed("""
    want need like love hate live play watch hope feel try start stop use enjoy prefer look call help
    wait worry miss talk walk wish believe agree remember own care work study plan move visit cook
    travel practice dream
""")
_MODALS = listed("""
    can could will would shall should may might must can't cannot couldn't won't wouldn't shouldn't
""")
_IRREGULAR = {
    "am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "go": "goes",
    "don't": "doesn't", "haven't": "hasn't", "aren't": "isn't", "weren't": "wasn't", "ain't": "isn't",
}  # fmt: skip
_SIBILANT = ("s", "x", "z", "ch", "sh", "o")
ADVERBS = listed("""
    really just also always never usually still often finally even only already actually definitely
    probably sometimes recently currently mostly absolutely totally honestly sincerely secretly kinda
    rarely now today tomorrow lately nowadays yesterday tonight then later soon truly basically
    literally maybe
""")
_PAST_TIME = listed("yesterday last ago night week month year morning evening weekend monday sunday")
FUNCTION_WORDS = listed("""
    a an the this that these those it its there here he she they we you your his her their our my what
    when where why how who which if because although while since after before as in on at for with from
    to of about some any all many much most every each no not nothing everything something someone
    everyone nobody one two three today tomorrow yesterday tonight last next is are was were do does did
    can could will would should have has had been being going looking feeling thinking maybe perhaps
    just still even sometimes lately recently finally work school life people things weather traffic
    dinner lunch breakfast sorry sure please
""")
_FEELINGS = listed("""
    tired exhausted happy sad excited nervous anxious worried stressed bored sick hungry lonely angry
    upset sleepy busy scared proud grateful relieved depressed fine good great okay better worse alone
    ready done late home
""")
_OPENER = re.compile(
    r"^(?:(?:oh|ah|hey|hi|hello|yo|well|so|and|but|yeah|yes|yep|yup|nope?|ok|okay|wow|ugh|hmm+|um+|uh|haha+|lol"
    r"|omg|btw|anyway|honestly|actually|basically|guess what|you know(?: what)?|by the way"
    r"|good (?:morning|evening|night))(?:[,.!…]+\s*|\s+))+",
    re.IGNORECASE,
)
_EMOTICON = re.compile(r"(?:^|\s)[:;=]['-]?[()DPpO/\\|3]+(?=\s|$)")
_TAIL = re.compile(r"[^\w%+#)°$€£]+$")
_CONTRACTED = re.compile(r"\bI['’]?(m|['’]ve|['’]ll|['’]d)\b|\bi['’]?(m|ve|['’]ll|['’]d)\b")
_FULL = {"m": "am", "ve": "have", "ll": "will", "d": "would"}
_NEW_CLAUSE = listed("to i we they he she it you that because if when can will would could should")
_WORD = re.compile(r"[^\W_][\w'’+#-]*")
_NOTE_BREAK = re.compile(
    r"(?:\b(?:i(?:'m|'ve|'ll|'d)?|im|ive|my|we(?:'re|'ve|'ll)?|our|me|us|an?|the|am|is|are|was|were|be|been|being|have|has|had|do"
    r"|did|does|to|of|for|at|in|on|with|from|by|and|but|so|because|(?-i:it)|it's|that|this|there|just|really|very"
    r"|he's|she's|they're|you|your|will|would|like to)\b|[,.;:!()])+",
    re.IGNORECASE,
)
_TIME_LAST = re.compile(
    r"(?P<rest>The user (?!said)(?:(?!and |because |but |so |when )\S+ )+?)"
    r"(?P<time>tomorrow|tonight|someday|these days|(?:next|this) \w+|on \w+day)"
)
_JOINT = re.compile(r",? (?=(?:and|but|because|so|which|while|although|when|since|though) )|(?<=[,;]) ")

_PERSONS = {
    "i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves",
    "we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves",
    "you": "the assistant", "your": "the assistant's", "yours": "the assistant's", "yourself": "itself",
}  # fmt: skip
_PERSON = re.compile(rf"\b({'|'.join(_PERSONS)})\b(?!\.)", re.IGNORECASE)
_CLIPPED = re.compile(r"\b(we|you)'(re|ve|ll|d)\b", re.IGNORECASE)
_CLIPPED_FULL = {"re": "are", "ve": "have", "ll": "will", "d": "would"}
_AGREEMENT = re.compile(r"\b(they|the assistant) (am|are|was|were|have|do|don't|aren't|haven't|weren't)\b")
_AFTER = {
    "they": {"am": "are", "was": "were"},
    "the assistant": {
        "are": "is", "were": "was", "have": "has", "do": "does", "don't": "doesn't", "aren't": "isn't",
        "haven't": "hasn't", "weren't": "wasn't",
    },
}  # fmt: skip


def report_english(text: str, limit: int, *, front: bool = False) -> str | None:
    """The statement in the third person, in at most `limit` characters: clauses are left out from the end.

    `front` puts a time at the end of the sentence to its beginning. None for a
    question, or a text with nothing but opening words.
    """
    said = _OPENER.sub("", _EMOTICON.sub("", _lowered(text.replace("’", "'")))).strip()
    asks = said.rstrip("\"')” ").endswith("?")
    said = _TAIL.sub("", said).lstrip("\"'“(-*# ")
    if not said or asks:
        return None
    said = _CONTRACTED.sub(lambda match: f"I {_FULL[(match[1] or match[2]).strip(chr(39))]}", said)
    report = _statement(said)
    if front and (ahead := _TIME_LAST.fullmatch(report)):
        report = f"{ahead['time'][0].upper()}{ahead['time'][1:]} t{ahead['rest'][1:].rstrip(', ')}"
    if len(report) < limit:
        return f"{report}."
    ends = [joint.start() for joint in _JOINT.finditer(report) if joint.start() < limit]
    kept = report[: ends[-1]] if ends else report[:limit].rsplit(" ", 1)[0]
    return f"{kept.rstrip(',; ')[: limit - 1]}."


def note_english(text: str, limit: int) -> str | None:
    """The statement as a note without function words: The user: allergic, peanuts. None for a question."""
    said = _OPENER.sub("", _EMOTICON.sub("", _lowered(text.replace("’", "'")))).strip()
    if not said or said.endswith("?"):
        return None
    parts = [" ".join(_WORD.findall(part)) for part in _NOTE_BREAK.split(said)]
    note = f"The user: {', '.join(part for part in parts if part)}."
    return note if len(note) <= limit and any(parts) else None


def third_person(said: str) -> str:
    """`said` with I, we and you in the third person. US and IT in capitals are names."""
    opened = _CLIPPED.sub(lambda m: f"{m[1]} {_CLIPPED_FULL[m[2].lower()]}", said)
    report = _PERSON.sub(
        lambda m: m[0] if len(m[0]) > 1 and m[0].isupper() else _PERSONS[m[0].lower()], opened
    )
    return _AGREEMENT.sub(lambda m: f"{m[1]} {_AFTER[m[1]].get(m[2], m[2])}", report)


def is_past(verb: str) -> bool:
    return verb in _PAST_FORMS or (verb.endswith("ed") and verb not in ("need", "feed", "speed"))


def is_irregular_past(verb: str) -> bool:
    return verb in _PAST_FORMS


def _lowered(text: str) -> str:
    """A shouted sentence in ordinary letters; one word in capitals is a name."""
    if not text.isupper() or " " not in text.strip():
        return text
    return re.sub(r"\bi\b", "I", text.lower())


def _statement(said: str) -> str:  # noqa: PLR0911  one return per kind of opening
    words = said.split(" ")
    if together := re.match(r"my (\w+) and I\b", said, re.IGNORECASE):
        return f"The user and their {together[1]}{third_person(said[together.end() :])}"
    if words[0].lower() == "my":
        return f"The user's{third_person(said[2:])}"
    if words[0].lower() == "i":
        return f"The user {_after_subject(words[1:])}"
    for index, word in enumerate(words[1:5], start=1):
        # Yesterday I …, Last night, I …
        if word in ("I", "i") and all(w.strip(",").lower() in _PAST_TIME | ADVERBS for w in words[:index]):
            return f"{' '.join(words[:index])} the user {_after_subject(words[index + 1 :])}"
    plain = [word.lower() for word in words if word.lower() not in ADVERBS]
    if len(plain) > 1 and is_past(plain[0]) and plain[1] not in ("by", "is", "was", "are", "were"):
        return f"The user {_after_subject([words[0].lower(), *words[1:]])}"  # Went hiking yesterday
    felt = [word.strip(",") for word in plain if word not in ("very", "too", "pretty", "feeling", "so")]
    if felt and felt[0] in _FEELINGS:
        return f"The user is {third_person(said[0].lower() + said[1:])}"  # So tired today
    first = words[0].split("'")[0].lower()
    is_name = first not in FUNCTION_WORDS or (words[0].isupper() and len(words[0]) > 1)
    return f"The user said {third_person(said if is_name else said[0].lower() + said[1:])}"


def _after_subject(words: list[str]) -> str:
    """The words after "the user": the verb and what is joined to it by and/but in the third person."""
    in_past = bool({word.strip(".,!").lower() for word in words} & _PAST_TIME)
    changed = list(words)
    index = 0
    while index < len(changed) and changed[index].lower().strip(",") in ADVERBS:
        index += 1
    if index >= len(changed):
        return third_person(" ".join(words))
    verb = changed[index].lower()
    changed[index] = _inflected(verb, in_past=in_past) if verb.replace("'", "").isalpha() else verb
    if changed[index] != verb and changed[index].endswith("s"):
        for at in range(index + 1, len(changed) - 1):  # I cook and clean: cooks and cleans
            if changed[at].lower() in _NEW_CLAUSE:
                break
            if changed[at].lower() in ("and", "but", "or") and changed[at + 1].lower() in BASE_FORMS:
                changed[at + 1] = _inflected(changed[at + 1].lower(), in_past=in_past)
    return third_person(" ".join(changed))


def _inflected(verb: str, *, in_past: bool) -> str:
    """The form after he or she: have → has, study → studies. Past forms and modals stay."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _MODALS or verb.endswith("n't"):
        return verb
    is_ambiguous = _PAST.get(verb) == verb  # put, read
    if (is_past(verb) and not is_ambiguous) or (is_ambiguous and in_past):
        return verb
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(_SIBILANT) else f"{verb}s"
