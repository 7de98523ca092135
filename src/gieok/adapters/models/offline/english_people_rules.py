"""English clauses about the user and other people: love, quarrels, promises, news of those close."""

from __future__ import annotations

from gieok.adapters.models.offline.english_rule import States, any_word, rule
from gieok.adapters.models.offline.english_who import KIN, NAME, SOMEONE, TAIL, WHO
from gieok.memory.observations import Category

_RELATION = Category.RELATIONSHIP
_AND_I = rf"{WHO.replace('who', 'and_i')} and i"
_BROKE_UP = r"(?:have )?(?:broken? up|split(?: up)?|parted ways|ended things|called it quits)"
_NEWS = any_word(r"""
    is_in_(?:the_)?(?:hospital|icu|rehab) is_(?:very_)?(?:sick|ill|pregnant|dying|expecting) died
    passed(?:_away)? (?:got|is_getting|are_getting)_(?:married|divorced|engaged|remarried)
    (?:got|was)_(?:promoted|fired|laid_off|arrested|deported|robbed)
    was_hospitalized had_(?:\w+_)?(?:surgery|a_baby(?:_boy|_girl)?|a_stroke|a_heart_attack|an_accident)
    got_into_an_accident (?:was|got|has_been)_diagnosed_with_[\w_]+ gave_birth split_up separated
    moved_(?:to|back_to)_[\w_]+ (?:enlisted|joined|dropped_out|graduated|retired|relapsed|recovered)
    lost_(?:his|her|their)_job broke_(?:his|her)_\w+ came_out
""")
# Of some friend without a name only grave news counts.
_NO_MERE_STEP = r"(?!friend (?:moved|joined|graduated|retired|dropped|came)\b)"
_PARTNER = "partner"

LOVE = (
    rule(
        rf"(?:i am|we are|i started|i have been) (?:dating|seeing) {WHO}{TAIL}",
        States(_RELATION, _PARTNER, "dating {who}"),
        extra=1,
    ),
    rule(
        rf"{WHO} and i (?:are|started|have been) (?:now )?(?:dating|together|a couple|seeing each other)"
        rf"{TAIL}",
        States(_RELATION, _PARTNER, "dating {who}"),
        extra=1,
    ),
    rule(
        r"i (?:have|got) a (?:new )?(?P<who>boyfriend|girlfriend)",
        States(_RELATION, _PARTNER, "has a {who}"),
        extra=1,
    ),
    rule(
        rf"i (?:have )?(?P<x>met (?:someone|a (?:guy|girl|man|woman))) "
        rf"(?:special|new|online|on (?:a dating app|{NAME}))\b.*",
        States(_RELATION, _PARTNER, "{x}"),
    ),
    rule(
        rf"(?:i|we) (?:have )?(?:broken? up|split(?: up)?) with {WHO}{TAIL}"
        rf"|{_AND_I} {_BROKE_UP}{TAIL}"
        rf"|{WHO.replace('who', 'by')} (?:dumped|left|broke up with) me{TAIL}",
        States(_RELATION, _PARTNER, "broke up with {who}{and_i}{by}"),
        extra=1,
    ),
    rule(
        rf"(?:she|he|they) (?P<how>dumped|left|broke up with) me{TAIL}|i (?:got|was) (?P<got>dumped){TAIL}",
        States(_RELATION, _PARTNER, "was {how}{got}"),
        extra=1,
    ),
    rule(r"i am (?P<x>(?:newly |still )?single)\b.*", States(_RELATION, _PARTNER, "{x}"), extra=1),
    rule(rf"we {_BROKE_UP}", States(_RELATION, "{bond}", "broke up"), extra=1),
    rule(r"we (?:have )?(?:got|gotten) back together", States(_RELATION, "{bond}", "back together"), extra=1),
    rule(
        rf"(?:i|we) (?:have )?(?:got|gotten|am|are) back (?:together )?with {WHO}"
        rf"|{_AND_I} (?:have )?(?:got|are|gotten) back together",
        States(_RELATION, _PARTNER, "back together with {who}{and_i}"),
        extra=1,
    ),
    rule(
        rf"(?:i|we) (?:am|are|got) engaged to {WHO}{TAIL}|{_AND_I} (?:are|got) engaged{TAIL}",
        States(_RELATION, _PARTNER, "engaged to {who}{and_i}"),
        extra=1,
    ),
    rule(rf"(?:i|we) (?:am|are|got) engaged{TAIL}", States(_RELATION, _PARTNER, "engaged"), extra=1),
    rule(
        rf"i proposed to {WHO}{TAIL}",
        States(_RELATION, _PARTNER, "proposed to {who}"),
        extra=1,
    ),
    rule(
        rf"(?:my )?{WHO} proposed(?: to me)?{TAIL}",
        States(_RELATION, _PARTNER, "{who} proposed"),
        extra=1,
    ),
    rule(rf"{WHO} and i are getting married.*", States(_RELATION, _PARTNER, "going to marry {who}"), extra=1),
    rule(r"(?:we are|i am) getting married.*", States(_RELATION, _PARTNER, "going to get married"), extra=1),
    rule(
        rf"(?:i|we) (?:got married to|married|am married to) {WHO}{TAIL}|{_AND_I} (?:are|got) married{TAIL}",
        States(_RELATION, _PARTNER, "married to {who}{and_i}"),
        extra=1,
    ),
    rule(rf"(?:i|we) (?:got|am|are) married{TAIL}", States(_RELATION, _PARTNER, "married"), extra=1),
    rule(
        rf"{_AND_I} (?:got|are|are getting) divorced{TAIL}",
        States(_RELATION, _PARTNER, "divorced from {and_i}"),
        extra=1,
    ),
    rule(
        rf"(?:i|we) (?:got|are|am|are getting|am getting) divorced{TAIL}"
        r"|(?:my|our) divorce (?:got|was|is|came) (?:finali[sz]ed|final|through)\b.*",
        States(_RELATION, _PARTNER, "divorced"),
        extra=1,
    ),
)

OTHERS = (
    rule(
        rf"(?:i|we) (?:have )?(?:made up|reconciled) with {SOMEONE}{TAIL}",
        States(_RELATION, "person:{who}", "made up with {who}"),
    ),
    rule(
        rf"i (?:had a (?:big |huge |bad )?(?:fight|argument|falling out)|fought|argued|fell out) with "
        rf"{SOMEONE}{TAIL}",
        States(_RELATION, "person:{who}", "fell out with {who}"),
    ),
    rule(
        rf"i (?:am not (?:talking|speaking) to|do not (?:talk|speak) to|stopped (?:talking|speaking) to"
        rf"|cut off) {SOMEONE}(?: anymore| any more| any longer)",
        States(_RELATION, "person:{who}", "not talking to {who} anymore"),
    ),
    rule(
        rf"(?:{SOMEONE} and i) are not (?:talking|speaking|friends)(?: anymore)?",
        States(_RELATION, "person:{who}", "not talking to {who} anymore"),
    ),
    rule(
        rf"i (?:made|met|have) an? (?:new )?friend\b.*?(?:named|called|(?:her|his|their) name is) "
        rf"(?P<who>{NAME}).*",
        States(_RELATION, "person:{who}", "has a friend {who}"),
    ),
    rule(
        rf"my (?:\w+ )?(?P<kin>{KIN}),? (?P<who>{NAME}),? (?P<news>{_NEWS}){TAIL}",
        States(_RELATION, "person:{who}", "their {kin} {who} {news}"),
        extra=-1,
    ),
    rule(
        rf"(?:my )?(?:(?:little|older|younger|big|baby|twin|late) )?(?P<kin>{_NO_MERE_STEP}{KIN}) "
        rf"(?P<news>{_NEWS}){TAIL}",
        States(_RELATION, "person:{kin}", "their {kin} {news}"),
        extra=-1,
    ),
    rule(
        r"(?:i (?:promise|swear)(?: you)?,?|you have my word,?)"
        r"(?: that i will| i will| to| that i wo not| i wo not) (?P<x>.+)",
        States(_RELATION, "promise:{x}", "promised to {x}"),
    ),
    rule(
        rf"i promised (?:(?P<who>my \w+|{NAME}|myself) )?(?:that )?(?:to|i would|i will) (?P<x>.+)",
        States(_RELATION, "promise:{x}", "promised {who} to {x}"),
    ),
)

WITH_OTHERS = (*LOVE, *OTHERS)
