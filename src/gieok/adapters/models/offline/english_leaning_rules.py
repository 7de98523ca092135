"""English clauses about what the user wants, does again and again, likes and thinks."""

from __future__ import annotations

from gieok.adapters.models.offline.english_rule import States, any_word, rule
from gieok.adapters.models.offline.english_who import TAIL
from gieok.memory.observations import Category

_GOAL, _HABIT, _LIKES, _OPINION = Category.GOAL, Category.HABIT, Category.PREFERENCE, Category.OPINION

_MEANS_TO = any_word("want plan hope am_planning am_going am_hoping decided am_trying have_decided am_aiming")
# Wanting to sleep or to eat pizza is no goal; these are.
_AIMS = any_word("""
    run learn write publish start open buy save lose pass get_into apply_to apply_for study visit travel_to
    move_to build quit climb finish win launch record adopt become join compete_in
""")
_JOURNEYS = any_word("trip vacation wedding honeymoon move holiday")
_PASTIMES = any_word("""
    running swimming yoga jogging journaling meditating pilates climbing knitting painting cycling boxing
    gardening baking dancing pottery cooking crochet sewing surfing hiking weightlifting photography chess
    tennis golf archery calligraphy drawing therapy meditation crossfit birdwatching bouldering karate judo
    (?:the_)?(?:guitar|piano|violin|drums|gym|cello|ukulele)
""")
_VICES = any_word("smoking drinking gaming sugar coffee alcohol vaping meat gambling weed soda")
_OFTEN = (
    r"(?P<often>every (?:single )?(?:day|morning|night|evening|week|weekend|\w+day)"
    r"|daily|on weekends|on \w+days|(?:once|twice|three times|\w+ times) a (?:week|month|day)"
    r"|most (?:mornings|days|nights))"
)
# Behind these, "every day" tells of a mood or of the past, not of a habit.
_NOT_A_HABIT = (
    r"(?!(?:work|am|have|feel|think|get|was|had|did|saw|went|will|do not|can|met|want|hope|plan)\b)"
)
_NOT_A_TASTE = r"(?!(?:you|your|his|her|their|the way|it|that|this|how|when|to)\b)"
_LIKED = rf"{_NOT_A_TASTE}(?P<x>[\w' -]{{2,40}})"
_FAN = r"(?:an? )?(?:big |huge |massive |real |such a )?fan of"
_JUDGES = any_word("""
    is are should_be should matters? beats? has have belongs? ruins? makes? needs? deserves? works? helps?
    hurts? sucks? kills? destroys?
""")
_ABOUT = r"(?P<x>(?!(?:i|you|so|about|it|we|he|she)\b)[\w' -]+?)"

WANTS = (
    rule(
        r"my (?:(?:new|main|biggest|big|new year['’]?s) )?(?:goal|dream|resolution|plan|aim)"
        r"(?: (?:this|for) [\w ]+?)? is to (?P<do>\w+) (?P<x>.+)",
        States(_GOAL, "{x}", "wants to {do} {x}"),
    ),
    rule(r"i want to (?:be|become) (?P<x>an? .+)", States(_GOAL, "{x}", "wants to become {x}")),
    rule(
        rf"i (?:{_MEANS_TO} to save|am saving) (?:up )?(?:money )?for (?P<x>.+)",
        States(_GOAL, "{x}", "is saving for {x}"),
    ),
    rule(rf"i {_MEANS_TO} to (?P<do>{_AIMS}) (?P<x>.+)", States(_GOAL, "{x}", "wants to {do} {x}")),
    rule(
        r"i (?:have )?decided (?:not to|against) (?:(?:apply|go|sit|train|study|try|applying|going)"
        r"(?: (?:for|to))?|pursue|pursuing|do|doing|get|getting|take|taking) (?P<x>.+)",
        States(_GOAL, "{x}", "decided not to go for {x}", retracts=True),
    ),
    rule(r"i am (?:training|preparing|studying) for (?P<x>.+)", States(_GOAL, "{x}", "is preparing for {x}")),
    rule(
        rf"(?:i am|we are) planning (?:an? |my |our |the )(?P<x>(?:\w+ )?{_JOURNEYS}\b.*)",
        States(_GOAL, "{x}", "is planning {x}"),
    ),
)

ENDS = (
    rule(
        r"i do not (?P<do>run|drink|smoke|eat|play|go to|do|watch|practice|swim|read|vape)(?: (?P<x>.+?))? "
        r"(?:anymore|any more|any longer|now)",
        States(_HABIT, "{activity}", "does not {do} {x} anymore", retracts=True),
    ),
    rule(
        r"i no longer (?P<do>\w+)(?: (?P<x>.+))?",
        States(_HABIT, "{activity}", "does not {do} {x} anymore", retracts=True),
    ),
    rule(
        rf"i (?:have )?(?:quit|stopped|gave up|cut out) (?P<x>{_VICES}){TAIL}",
        States(_HABIT, "{activity}", "quit {x}"),
        extra=1,
    ),
    rule(
        r"i (?:have )?(?:quit|cancell?ed) my (?P<x>[\w ]+?) (?:membership|lessons?|class(?:es)?)",
        States(_HABIT, "{activity}", "quit {x}", retracts=True),
    ),
    rule(
        r"i (?:have )?(?:quit|stopped|dropped) (?P<x>(?!(?:by|at|in|to|for|off)\b).+)",
        States(_HABIT, "{activity}", "stopped {x}", retracts=True),
    ),
)

DOES = (
    *ENDS,
    rule(
        rf"i am back (?:to|at|on|into) (?P<x>{_VICES}|{_PASTIMES}){TAIL}",
        States(_HABIT, "{activity}", "back to {x}"),
        extra=1,
    ),
    rule(
        rf"i (?P<do>smoke|drink|vape|gamble|run|swim|meditate) again{TAIL}",
        States(_HABIT, "{activity}", "{does} again"),
        extra=1,
    ),
    rule(
        rf"i have been (?P<x>\w+ing(?: [\w' ]+?)?) {_OFTEN}(?: .*)?",
        States(_HABIT, "{activity}", "{x} {often}"),
    ),
    rule(
        rf"i {_NOT_A_HABIT}(?P<do>[a-z]+(?<!ed))(?: (?P<x>.+?))? {_OFTEN}(?: .*)?",
        States(_HABIT, "{activity}", "{does} {x} {often}"),
    ),
    rule(
        r"i (?:have )?(?:started|took up|began|picked up|have been|been|am) (?:learning|taking|practicing) "
        r"(?P<x>[\w ]+?)(?: (?:lessons|classes))?",
        States(_HABIT, "{activity}", "is learning {x}"),
    ),
    rule(
        rf"i (?:have )?(?:started|took up|began|picked up|got into|have been) (?:back )?"
        rf"(?:doing |going to |playing |practicing )?(?P<x>{_PASTIMES})"
        r"(?! (?:late|out|away|into|around)\b)(?: .*)?",
        States(_HABIT, "{activity}", "started {x}"),
    ),
    rule(
        rf"i (?:have )?(?:started|began) (?P<x>{_VICES}) again{TAIL}",
        States(_HABIT, "{activity}", "started {x} again"),
        extra=1,
    ),
)

LIKES = (
    rule(
        rf"i (?:am not {_FAN}|am not into|hate|dislike|detest|loathe|despise|do not (?:like|enjoy)"
        rf"|can(?:not| not)? stand|ca not stand) {_LIKED}",
        States(_LIKES, "likes:{x}", "dislikes {x}"),
    ),
    rule(
        r"i prefer (?:to )?(?P<x>[\w' -]+?) (?:over|to|than|rather than) (?P<y>.+)",
        States(_LIKES, "likes:{x}", "prefers {x} to {y}"),
    ),
    rule(
        rf"i (?:love|like|enjoy|adore|am (?:into|obsessed with|{_FAN})) {_LIKED}",
        States(_LIKES, "likes:{x}", "likes {x}"),
    ),
    rule(r"my favou?rite (?P<kind>\w+) is (?P<x>.+)", States(_LIKES, "favorite:{kind}", "{x}")),
)

THINKS = (
    *LIKES,
    rule(
        rf"in my opinion,? (?P<x>[\w' -]+?) (?P<is>{_JUDGES}) (?P<y>.+)",
        States(_OPINION, "{x}", "thinks {x} {is} {y}"),
    ),
    rule(
        rf"i (?:think|believe|feel like|feel)(?: that)? {_ABOUT} (?P<is>{_JUDGES}) (?P<y>.+)",
        States(_OPINION, "{x}", "thinks {x} {is} {y}"),
    ),
    rule(r"i do not believe in (?P<x>[\w' -]+)", States(_OPINION, "{x}", "does not believe in {x}")),
    rule(
        r"i believe in (?P<x>(?!(?:you|him|her|them|it|us|myself)\b)[\w' -]+)",
        States(_OPINION, "{x}", "believes in {x}"),
    ),
    rule(
        r"i am (?P<how>against|all for|in favou?r of|opposed to) (?P<x>(?!(?:it|this|that)\b)[\w' -]+)",
        States(_OPINION, "{x}", "is {how} {x}"),
    ),
)
