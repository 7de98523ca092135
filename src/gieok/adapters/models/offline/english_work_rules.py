"""English clauses about the user's work and school."""

from __future__ import annotations

from gieok.adapters.models.offline.english_rule import States, rule
from gieok.adapters.models.offline.english_who import BUSINESS, NAME, PLACE, TAIL, WORK
from gieok.memory.observations import Category

_PERSON, _EVENT = Category.PERSONAL_INFO, Category.EVENT
_LEFT_WORK = States(_PERSON, "job", "quit the job", retracts=True)

WORKS = (
    rule(
        rf"i (?:am|work as|started working as|became|have been working as) an? {WORK} in {PLACE}",
        States(_PERSON, "job", "{job}"),
    ),
    rule(
        rf"i (?:am|work as|started working as|became|(?:have been|am) (?:working|freelancing) as"
        rf"|freelance as) an? {WORK}{TAIL}",
        States(_PERSON, "job", "{job}"),
    ),
    rule(r"i teach (?P<x>\w+)(?: (?:at|in|to) .+)?", States(_PERSON, "job", "teaches {x}")),
    rule(
        r"i (?:work|started working|am working) (?:at|for) (?P<x>an? [\w -]+|(?-i:[A-Z])[\w ]+?)",
        States(_PERSON, "job", "works at {x}"),
    ),
    rule(
        rf"(?:i|we) (?:run|own|co-own|manage) (?P<x>(?:an?|my own|our own) "
        rf"(?:[\w'-]+ ){{0,3}}{BUSINESS}){TAIL}",
        States(_PERSON, "job", "runs {x}"),
    ),
    rule(
        r"i am (?P<x>between jobs|unemployed|out of work|jobless|self-employed|job hunting)\b.*",
        States(_PERSON, "job", "{x}"),
    ),
    rule(
        r"i (?:am |have )?retired\b.*",
        States(_EVENT, "job", "retired"),
        States(_PERSON, "job", "retired"),
    ),
)

CHANGES = (
    rule(
        rf"i (?:got|started|landed|have|start|am starting) (?:a |my )?(?:new )?job (?:at|with) "
        rf"(?P<x>[\w' -]+?){TAIL}",
        States(_EVENT, "job", "got a job at {x}"),
        States(_PERSON, "job", "works at {x}"),
    ),
    rule(
        rf"i (?:got|started|landed) (?:a |my )?(?:new )?job as an? {WORK}.*",
        States(_EVENT, "job", "got a job as {job}"),
        States(_PERSON, "job", "{job}"),
    ),
    rule(
        rf"i (?:got|started|landed|start|am starting|accepted) (?:a |my |the )?(?:new )?job(?: offer)?{TAIL}",
        States(_EVENT, "job", "started a new job"),
    ),
    rule(
        r"i joined (?P<x>(?-i:[A-Z])\w+)(?: as .+)?",
        States(_EVENT, "job", "joined {x}"),
        States(_PERSON, "job", "works at {x}"),
    ),
    rule(
        rf"(?:i|we) (?:have )?(?:started|opened|launched|founded) (?P<x>(?:an?|my own|our own|my|our) "
        rf"(?:[\w'-]+ ){{0,3}}{BUSINESS}){TAIL}",
        States(_EVENT, "job", "opened {x}"),
    ),
    rule(
        r"i (?:have )?(?:quit|left|resigned from) (?:my|the) (?:\w+ )?(?:job|company|position)\b.*",
        States(_EVENT, "job", "quit the job"),
        _LEFT_WORK,
        extra=1,
    ),
    rule(
        rf"i (?:have )?(?P<how>(?:handed in|gave|put in|turned in) my (?:[\w-]+ )*?(?:notice|resignation)"
        rf"|resigned){TAIL}",
        States(_EVENT, "job", "{how}"),
        States(_PERSON, "job", "{how}", retracts=True),
        extra=1,
    ),
    rule(
        r"i (?:got|was|have been) (?P<how>fired|laid off|let go)\b.*",
        States(_EVENT, "job", "was {how}"),
        _LEFT_WORK,
        extra=1,
    ),
    rule(r"i (?:got|was|have been) promoted\b.*", States(_EVENT, "promotion", "was promoted"), extra=1),
)

SCHOOL = (
    rule(
        r"i am (?:an? )?(?P<x>(?:high school |college |uni )?(?:freshman|sophomore|junior|senior))"
        r"(?:,? (?:studying|majoring in) (?P<y>[\w ]+?))?(?: (?:at|in) .+)?",
        States(_PERSON, "school", "{x}"),
        States(_PERSON, "major", "{y}"),
    ),
    rule(
        rf"i (?:am (?:majoring|getting (?:a|my) degree) in|major(?:ed)? in|study|am studying) "
        rf"(?P<x>(?!for\b|hard\b|a lot\b)[\w ]+?)"
        rf"(?: (?:at|in) (?:{NAME}|college|uni|school|university)\b.*)?",
        States(_PERSON, "major", "{x}"),
    ),
    rule(
        rf"i (?:have )?(?P<how>dropped out)(?: of (?P<x>[\w ]+?))?{TAIL}",
        States(_EVENT, "school", "{how} of {x}"),
        extra=1,
    ),
    rule(
        rf"i (?:am taking|took|am on) (?P<x>a (?:gap year|leave of absence|semester off|sabbatical)){TAIL}",
        States(_EVENT, "school", "{x}"),
    ),
    rule(
        rf"i (?:have )?(?P<how>transferred to|enrolled (?:in|at)|got accepted to) (?P<x>[\w ]+?){TAIL}",
        States(_EVENT, "school", "{how} {x}"),
    ),
    rule(
        rf"i (?:have )?graduated(?: from [\w ]+?)?{TAIL}", States(_EVENT, "graduation", "graduated"), extra=2
    ),
)

WORK_AND_SCHOOL = (*WORKS, *CHANGES, *SCHOOL)
