"""English clauses about who the user is: name, age, home, family, animals, body."""

from __future__ import annotations

from gieok.adapters.models.offline.english_rule import States, any_word, rule
from gieok.adapters.models.offline.english_who import CHILDREN, COUNT, NAME, PET, PLACE, TAIL
from gieok.memory.observations import Category

_PERSON, _EVENT = Category.PERSONAL_INFO, Category.EVENT
_NOT_A_NAME = r"(?<!an)(?<!ese)(?<!ish)(?<!ed)(?<!ing)"
_NATIONS = any_word("""
    american british english canadian australian brazilian mexican korean japanese chinese indian french
    german italian spanish portuguese dutch irish scottish welsh russian ukrainian polish turkish greek
    swedish norwegian danish finnish vietnamese thai filipino indonesian malaysian nigerian kenyan
    egyptian iranian israeli pakistani argentinian colombian chilean peruvian swiss austrian belgian czech
    hungarian taiwanese
""")
_SPAN = r"(?: (?:for|with|because|now|since|these|and|these days|last|in (?-i:[A-Z])?\w+)\b.*)?"
_US = r"(?:i|we|my \w+ and i)"

NAMES = (
    rule(r"my name is (?P<x>\w+(?: [A-Z]\w+)?)", States(_PERSON, "name", "{x}")),
    rule(
        r"(?:(?:you can|everyone|friends|people) )?calls? me (?P<x>(?-i:[A-Z])\w*|\w{2,})",
        States(_PERSON, "name", "{x}"),
    ),
    rule(
        rf"i am (?P<x>{NAME}{_NOT_A_NAME})(?:,? (?:and i am )?(?P<age>\d{{1,2}}))?(?:,? nice to meet you)?",
        States(_PERSON, "name", "{x}"),
        States(_PERSON, "age", "{age}"),
    ),
    rule(
        r"i (?:am|(?:have )?turned|am turning|turn) (?P<x>\d{1,2})"
        r"(?: years old)?(?: (?:next|this|in|on|tomorrow|soon)\b.*)?",
        States(_PERSON, "age", "{x}"),
    ),
    rule(r"my birthday is (?:on |in )?(?P<x>.{3,30})", States(_PERSON, "birthday", "{x}")),
    rule(r"i was born in (?P<x>(?:19|20)\d\d)", States(_PERSON, "birthyear", "born in {x}")),
    rule(rf"i was born (?:and raised )?in {PLACE}", States(_PERSON, "hometown", "{x}")),
    rule(r"my pronouns are (?P<x>[\w/ ]{2,20})", States(_PERSON, "pronouns", "{x}")),
    rule(rf"i am (?P<x>(?:half )?{_NATIONS})", States(_PERSON, "nationality", "{x}")),
    rule(r"i am (?P<x>(?:left|right)-? ?handed)", States(_PERSON, "handedness", "{x}")),
    rule(r"i am an? (?P<x>[ei][ns][ft][jp])", States(_PERSON, "mbti", "{x}")),
)

HOME = (
    rule(
        rf"{_US} (?:have )?(?:moved|relocated) (?:back |over |down |up )?(?:from [\w ]+ )?to {PLACE}{_SPAN}",
        States(_PERSON, "home", "{x}"),
        States(_EVENT, "move", "moved to {x}"),
    ),
    rule(
        rf"{_US} (?:have )?moved into (?:an?|my|our) (?:new )?(?:place|apartment|flat|house) "
        rf"in {PLACE}{_SPAN}",
        States(_PERSON, "home", "{x}"),
        States(_EVENT, "move", "moved to {x}"),
    ),
    rule(
        rf"{_US} (?:have )?moved (?:back )?in with (?P<x>my [\w ]+?|{NAME}){TAIL}"
        rf"|(?P<and_i>my [\w ]+?|{NAME}) and i (?:have )?moved in together{TAIL}",
        States(_PERSON, "home", "with {x}{and_i}"),
        States(_EVENT, "move", "moved in with {x}{and_i}"),
    ),
    rule(
        rf"{_US} (?:live|am living|are living|have been living|am based|are based|reside) in {PLACE}{_SPAN}",
        States(_PERSON, "home", "{x}"),
    ),
    rule(rf"(?:i am|we are) moving to {PLACE}{_SPAN}", States(_EVENT, "move", "is moving to {x}")),
    rule(rf"i (?:am (?:originally )?from|grew up in) {PLACE}", States(_PERSON, "hometown", "{x}")),
)

BODY = (
    rule(r"i am (?:deathly |very )?allergic to (?P<x>.+)", States(_PERSON, "allergy:{x}", "allergic to {x}")),
    rule(
        r"i have (?:an? )?(?:bad |severe )?(?P<x>[\w ]+?) (?:allergy|allergies)",
        States(_PERSON, "allergy:{x}", "{x} allergy"),
    ),
    rule(
        r"i am (?P<x>lactose|gluten|histamine)[ -]intolerant",
        States(_PERSON, "allergy:{x}", "{x} intolerant"),
    ),
    rule(r"i (?:am|went|became) (?:a )?(?P<x>vegan|vegetarian)\b.*", States(_PERSON, "diet", "{x}")),
    rule(
        r"i (?:adopted|started|am on|went on|switched to) an? (?P<x>[\w-]+(?: \w+)?) diet\b.*",
        States(Category.HABIT, "diet", "{x} diet"),
    ),
)

AT_HOME = (
    rule(
        rf"(?:i|we) (?:adopted|got|rescued|have|own) (?:{COUNT} |our |my )?(?:first )?(?:\w+ )?{PET}"
        r"(?: (?:named|called) .+|[,:] .+| from .+)?",
        States(_PERSON, "pet:{pet}", "has a {pet}"),
    ),
    rule(
        rf"(?:my|our) (?:\w+ )?{PET}(?:['’]s name is| is (?:named|called)) (?P<x>\w+)",
        States(_PERSON, "pet:{pet}", "has a {pet}, {x}"),
    ),
    rule(
        rf"(?:my|our) (?:\w+ )?{PET} (?:died|passed away|crossed the rainbow bridge){TAIL}",
        States(_EVENT, "{pet}", "their {pet} died"),
        States(_PERSON, "pet:{pet}", "their {pet} died", retracts=True),
        extra=3,
    ),
    rule(
        rf"(?:i|we) (?:put (?:my|our) (?:\w+ )?{PET} (?:down|to sleep)|lost (?:my|our) (?:\w+ )?"
        rf"{PET.replace('pet', 'lost')}){TAIL}",
        States(_EVENT, "{pet}{lost}", "lost their {pet}{lost}"),
        States(_PERSON, "pet:{pet}{lost}", "lost their {pet}{lost}", retracts=True),
        extra=3,
    ),
    rule(
        rf"i have {COUNT} (?:(?:younger|older|little|big|twin|beautiful) )?(?P<kin>{CHILDREN})",
        States(_PERSON, "family:{kin}", "has a {kin}"),
    ),
    rule(
        r"i am (?P<x>an only child|the (?:oldest|eldest|youngest|middle)(?: child| one)?"
        r"(?: of (?:the )?\w+)?)",
        States(_PERSON, "siblings", "{x}"),
    ),
)

WHO_THEY_ARE = (*NAMES, *HOME, *BODY, *AT_HOME)
