"""English clauses about what happens to the user: tests, health, the great days and the bad ones."""

from __future__ import annotations

from gieok.adapters.models.offline.english_rule import States, any_word, rule
from gieok.adapters.models.offline.english_who import SOON, TAIL
from gieok.memory.observations import Category

_EVENT = Category.EVENT
_INJURED = any_word("broke sprained hurt injured twisted tore pulled fractured dislocated")
_BODY = any_word("""
    ankle wrist arm leg knee back shoulder foot toe finger hand neck ribs? nose elbow hip hamstring acl
    achilles thumb collarbone jaw head eye groin calf
""")
_TEST = (
    r"(?P<test>(?:[\w'-]+ ){0,3}"
    rf"{any_word('exams? tests? interview finals? midterms? audition bar quiz boards class certification')})"
)
_OCCASION = any_word("""
    exams? tests? interview finals? midterms? audition surgery presentation recital appointment date wedding
    flight competition tournament performance defen[cs]e reunion concert operation
""")
_HELD_ONCE = any_word("""
    exams? tests? interviews? finals? midterms? audition presentation recital defen[cs]e surgery
""")
_HELD = rf"(?P<test>(?:[\w'-]+ ){{0,3}}{_HELD_ONCE})"
_ILLNESS = any_word(r"""
    (?:the_)?flu a_cold covid pneumonia food_poisoning a_migraine migraines depression insomnia cancer
    (?:type_\w+_)?diabetes asthma a_fever anxiety strep(?:_throat)? bronchitis shingles mono adhd autism
    epilepsy arthritis celiac(?:_disease)? lupus endometriosis ptsd ocd a_concussion
""")
_SCHOOLS = any_word("school college university uni program academy team band grad_school conservatory")
_PRIZES = any_word(
    "place prize award medal competition contest tournament championship scholarship grant race"
)
_BELONGINGS = any_word("wallet phone keys passport bag purse laptop car bike ring luggage glasses")
_GREAT_BUYS = any_word("house home apartment flat condo car truck motorcycle van boat place")
_AWAITED = rf"(?:an? |my )?(?:big |important )?(?P<test>(?:[\w'-]+ ){{0,3}}{_OCCASION})"

TESTED = (
    rule(rf"i (?:have )?(?:passed|aced) {_TEST}{TAIL}", States(_EVENT, "{test}", "passed {test}"), extra=1),
    rule(
        rf"i (?:have )?(?:failed|bombed|flunked) {_TEST}{TAIL}",
        States(_EVENT, "{test}", "failed {test}"),
        extra=1,
    ),
    rule(rf"i have {_AWAITED} {SOON}.*", States(_EVENT, "{test}", "{test} ahead")),
    rule(rf"{SOON},? i have {_AWAITED}{TAIL}", States(_EVENT, "{test}", "{test} ahead")),
    rule(
        r"i (?:have )?(?:had|took|sat|finished|did|gave|survived|got through|(?:just )?(?:came|got) "
        rf"(?:out of|back from)) (?:my|the|an?) {_HELD}{TAIL}"
        rf"|(?:my|the) {_HELD.replace('test', 'over')} "
        r"(?:(?:is|was|are|were) (?:over|done|behind me)|went\b.*)",
        States(_EVENT, "{test}{over}", "had {test}{over}"),
    ),
    rule(
        rf"(?:i|we) (?:have )?won (?P<x>(?:[\w'-]+ ){{0,4}}{_PRIZES})(?: (?:at|in) (?P<y>.+))?",
        States(_EVENT, "{x}", "won {x} {y}"),
        extra=1,
    ),
    rule(
        r"i (?:got into|(?:was|got) accepted (?:to|into)) "
        rf"(?P<x>(?:[\w']+ ){{0,3}}{_SCHOOLS}\b.*|(?-i:[A-Z])[\w ]+)",
        States(_EVENT, "{x}", "was accepted to {x}"),
        extra=2,
    ),
    rule(
        r"i (?:have )?(?:finished|completed|submitted|defended|published) my "
        r"(?P<x>(?:\w+ )?(?:thesis|dissertation|degree|book|novel|album|phd|master's))",
        States(_EVENT, "{x}", "finished their {x}"),
        extra=1,
    ),
)

HEALTH = (
    rule(
        rf"i (?:have|caught|got|came down with|have got|tested positive for) (?P<ill>{_ILLNESS}){TAIL}",
        States(_EVENT, "health", "has {ill}"),
        extra=1,
    ),
    rule(
        rf"i (?:was|got|have been|am) diagnosed with (?P<ill>[\w -]+?){TAIL}",
        States(_EVENT, "health", "was diagnosed with {ill}"),
        extra=1,
    ),
    rule(
        rf"i (?:have )?{_INJURED} my (?P<part>(?:left |right )?{_BODY}){TAIL}",
        States(_EVENT, "health", "hurt their {part}"),
        extra=1,
    ),
    rule(r"i am (?P<how>sick|ill|in the hospital)\b.*", States(_EVENT, "health", "is {how}"), extra=1),
    rule(
        r"i (?:have )?recovered(?: from (?P<x>[\w ]+?))?(?:,? (?:now|thank god|after|and)\b.*)?"
        r"|i got (?:over (?:the |my )?\w+|better)|i am (?:all )?(?:better|recovered)(?: now)?",
        States(_EVENT, "health", "has recovered from {x}"),
        extra=1,
    ),
    rule(
        rf"i (?:had|am having|am getting|need|have) (?P<x>(?:[\w]+ )?(?:surgery|an operation)){TAIL}",
        States(_EVENT, "health", "{x}"),
        extra=1,
    ),
)

DAYS = (
    rule(
        r"(?:i am|we are) (?P<x>pregnant|expecting(?: a baby| twins)?|having (?:a baby|twins))"
        r"(?: (?!a\b).*)?",
        States(_EVENT, "pregnancy", "is {x}"),
        extra=2,
    ),
    rule(r"(?:i|we) had (?P<x>a baby(?: boy| girl)?|twins)\b.*", States(_EVENT, "baby", "had {x}"), extra=2),
    rule(
        rf"(?:i|we) (?:have )?bought (?P<x>(?:an?|our|my) (?:[\w-]+ ){{0,2}}{_GREAT_BUYS}){TAIL}",
        States(_EVENT, "{x}", "bought {x}"),
        extra=1,
    ),
    rule(rf"i got my first (?P<x>[\w -]+?){TAIL}", States(_EVENT, "{x}", "got their first {x}")),
    rule(
        rf"(?:someone|somebody|a thief|they) (?P<how>stole|broke into|took|keyed) my (?P<x>[\w ]+?){TAIL}",
        States(_EVENT, "{x}", "{how} their {x}"),
    ),
    rule(
        rf"my (?P<x>{_BELONGINGS}) (?:got|was) (?P<how>stolen|hacked|totaled|towed){TAIL}",
        States(_EVENT, "{x}", "their {x} was {how}"),
    ),
    rule(
        rf"i (?:have )?(?P<how>lost|misplaced|crashed|totaled|wrecked) my (?P<x>{_BELONGINGS}){TAIL}",
        States(_EVENT, "{x}", "{how} their {x}"),
    ),
    rule(
        rf"(?:i|we) (?:got (?:into|in)|had|was in) (?P<x>an? (?:\w+ )?(?:accident|crash)){TAIL}",
        States(_EVENT, "accident", "{x}"),
        extra=1,
    ),
)

HAPPENED = (*TESTED, *HEALTH, *DAYS)
