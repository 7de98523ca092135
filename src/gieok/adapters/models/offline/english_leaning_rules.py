"""English clauses about what the user wants, does again and again, likes and thinks."""

from __future__ import annotations

from gieok.adapters.models.offline.english_rule import States, any_word, rule
from gieok.memory.canon.records import Category

_GOAL, _HABIT, _LIKES, _OPINION = Category.GOAL, Category.HABIT, Category.PREFERENCE, Category.OPINION

_MEANS_TO = any_word("want plan hope am_planning am_going am_hoping decided am_trying")
# Wanting to sleep or to eat pizza is no goal; these are.
_AIMS = any_word("""
    run learn write publish start open buy save lose pass get_into apply_to study visit travel_to move_to
    build quit climb finish win launch record adopt
""")
_PASTIMES = any_word("""
    running swimming yoga jogging journaling meditating pilates climbing knitting painting cycling boxing
    gardening baking dancing pottery cooking
""")
_VICES = any_word("smoking drinking gaming sugar coffee alcohol vaping meat")
_OFTEN = (
    r"(?P<often>every (?:day|morning|night|evening|week|weekend|sunday|saturday|monday)|daily|on weekends"
    r"|(?:once|twice|three times) a week)"
)
# Behind these, "every day" tells of a mood or of the past, not of a habit.
_NOT_A_HABIT = r"(?!(?:work|am|have|feel|think|get|was|had|did|saw|went|will|do not)\b)"
_NOT_A_TASTE = r"(?!(?:you|your|his|her|their|the way|it|that|this|how|when|to)\b)"
_LIKED = rf"{_NOT_A_TASTE}(?P<x>[\w' -]{{2,40}})"

WANTS = (
    rule(
        r"my (?:(?:new|main|biggest|big) )?(?:goal|dream)(?: (?:this|for) [\w ]+?)? is to "
        r"(?P<do>\w+) (?P<x>.+)",
        States(_GOAL, "{x}", "wants to {do} {x}"),
    ),
    rule(r"i want to (?:be|become) (?P<x>an? .+)", States(_GOAL, "{x}", "wants to become {x}")),
    rule(rf"i {_MEANS_TO} to (?P<do>{_AIMS}) (?P<x>.+)", States(_GOAL, "{x}", "wants to {do} {x}")),
    rule(r"i am (?:training|preparing|studying) for (?P<x>.+)", States(_GOAL, "{x}", "is preparing for {x}")),
    rule(r"i am saving (?:up )?for (?P<x>.+)", States(_GOAL, "{x}", "is saving for {x}")),
)

DOES = (
    rule(
        r"i do not (?P<do>run|drink|smoke|eat|play|go to|do|watch|practice|swim|read)(?: (?P<x>.+?))? "
        r"(?:anymore|any more|any longer|now)",
        States(_HABIT, "{activity}", "does not {do} {x} anymore", retracts=True),
    ),
    rule(
        r"i no longer (?P<do>\w+)(?: (?P<x>.+))?",
        States(_HABIT, "{activity}", "does not {do} {x} anymore", retracts=True),
    ),
    rule(
        rf"i (?:have )?(?:quit|stopped|gave up) (?P<x>{_VICES})",
        States(_HABIT, "{activity}", "quit {x}"),
        extra=1,
    ),
    rule(
        r"i (?:have )?(?:quit|stopped|dropped) (?P<x>(?!(?:by|at|in|to|for|off)\b).+)",
        States(_HABIT, "{activity}", "stopped {x}", retracts=True),
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
        rf"i (?:have )?(?:started|took up|began) (?P<x>{_PASTIMES})(?: .*)?",
        States(_HABIT, "{activity}", "started {x}"),
    ),
)

THINKS = (
    rule(
        rf"i (?:love|like|enjoy|adore|am (?:into|obsessed with|a (?:big |huge )?fan of)) {_LIKED}",
        States(_LIKES, "likes:{x}", "likes {x}"),
    ),
    rule(
        rf"i (?:hate|dislike|detest|do not like|can(?:not| not)? stand|ca not stand) {_LIKED}",
        States(_LIKES, "likes:{x}", "dislikes {x}"),
    ),
    rule(r"my favou?rite (?P<kind>\w+) is (?P<x>.+)", States(_LIKES, "favorite:{kind}", "{x}")),
    rule(
        r"in my opinion,? (?P<x>[\w' -]+?) (?P<is>is|are|belongs?|should|beats?|matters?) (?P<y>.+)",
        States(_OPINION, "{x}", "thinks {x} {is} {y}"),
    ),
    rule(
        r"i (?:think|believe|feel like|feel)(?: that)? "
        r"(?P<x>(?!(?:i|you|so|about|it|we|he|she)\b)[\w' -]+?) "
        r"(?P<is>is|are|should be|matters?|beats?|has|have) (?P<y>.+)",
        States(_OPINION, "{x}", "thinks {x} {is} {y}"),
    ),
)
