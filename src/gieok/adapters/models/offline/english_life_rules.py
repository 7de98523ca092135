"""English clauses about who the user is, those around them, and what happens to them."""

from __future__ import annotations

from gieok.adapters.models.offline.english_rule import States, any_word, rule
from gieok.memory.canon.records import Category

_PERSON, _EVENT, _RELATION = Category.PERSONAL_INFO, Category.EVENT, Category.RELATIONSHIP

# A name is the one thing that case tells apart.
_NAME = r"(?-i:[A-Z][a-z]+)"
_PLACE = r"(?P<x>(?-i:[A-Z])[\w .]{1,40}?)"
_LOVE = any_word("ex boyfriend girlfriend partner fiance fiancee fiancé fiancée husband wife")
_WHO = rf"(?P<who>(?:my )?{_LOVE}|{_NAME})"
_SOMEONE = rf"(?P<who>my [\w ]+?|{_NAME})"
_FAMILY = any_word("""
    mom mother dad father sister brother grandma grandmother grandpa grandfather son daughter wife husband
    parents best_friend friend cousin aunt uncle
""")
_SIBLINGS = any_word("sister brother son daughter kid cousin niece nephew")
_PET = rf"(?P<pet>{any_word('dog cat puppy kitten hamster rabbit parrot turtle goldfish bird lizard')})s?"
_PROFESSIONS = any_word("""
    nurse doctor teacher engineer developer designer student lawyer writer chef barista accountant programmer
    artist photographer manager researcher professor musician actor actress pilot pharmacist dentist vet
    journalist translator librarian firefighter electrician analyst freelancer consultant salesperson editor
    architect scientist therapist baker driver cashier intern
""")
_INJURED = any_word("broke sprained hurt injured twisted tore pulled fractured dislocated")
_WORK = rf"(?P<job>(?:[a-z-]+ ){{0,2}}{_PROFESSIONS})"
_TEST = rf"(?P<test>(?:[\w'-]+ ){{0,3}}{any_word('exams? tests? interview finals midterms? audition bar')})"
_ILLNESS = any_word("""
    (?:the_)?flu a_cold covid pneumonia food_poisoning a_migraine migraines depression insomnia cancer
    diabetes asthma a_fever
""")
_NEWS = any_word(r"""
    is_in_(?:the_)?hospital is_sick is_pregnant died passed_away got_married was_hospitalized
    had_(?:\w+_)?(?:surgery|a_baby|a_stroke|a_heart_attack|an_accident) got_into_an_accident
""")
_SOON = r"(?:tomorrow|next \w+|this \w+|on \w+|coming up|in \w+ \w+)"
_NOT_A_NAME = r"(?<!an)(?<!ese)(?<!ish)(?<!ed)(?<!ing)"

_LEFT_WORK = States(_PERSON, "job", "quit the job", retracts=True)

WHO_THEY_ARE = (
    rule(r"my name is (?P<x>\w+(?: [A-Z]\w+)?)", States(_PERSON, "name", "{x}")),
    rule(r"(?:(?:you can|everyone|friends) )?calls? me (?P<x>\w+)", States(_PERSON, "name", "{x}")),
    rule(rf"i am (?P<x>{_NAME}{_NOT_A_NAME})", States(_PERSON, "name", "{x}")),
    rule(r"i (?:am|(?:have )?turned) (?P<x>\d{1,2})(?: years old)?", States(_PERSON, "age", "{x}")),
    rule(r"my birthday is (?:on |in )?(?P<x>.{3,30})", States(_PERSON, "birthday", "{x}")),
    rule(
        rf"(?:i|we) (?:have )?moved (?:back )?(?:from [\w ]+ )?to {_PLACE}(?: (?:for|with|because)\b.*)?",
        States(_PERSON, "home", "{x}"),
        States(_EVENT, "move", "moved to {x}"),
    ),
    rule(
        rf"(?:i|we) (?:live|am living|are living|have been living) in {_PLACE}(?: with\b.*)?",
        States(_PERSON, "home", "{x}"),
    ),
    rule(rf"(?:i am|we are) moving to {_PLACE}", States(_EVENT, "move", "is moving to {x}")),
    rule(rf"i (?:am (?:originally )?from|grew up in) {_PLACE}", States(_PERSON, "hometown", "{x}")),
    rule(r"i am allergic to (?P<x>.+)", States(_PERSON, "allergy:{x}", "allergic to {x}")),
    rule(r"i (?:am|went|became) (?:a )?(?P<x>vegan|vegetarian)\b.*", States(_PERSON, "diet", "{x}")),
    rule(
        rf"i (?:am|work as|started working as|became) an? {_WORK}(?: (?:at|for|in) .+)?",
        States(_PERSON, "job", "{job}"),
    ),
    rule(r"i teach (?P<x>\w+)(?: (?:at|in|to) .+)?", States(_PERSON, "job", "teaches {x}")),
    rule(
        r"i (?:work|started working|am working) (?:at|for) (?P<x>an? [\w -]+|(?-i:[A-Z])[\w ]+?)",
        States(_PERSON, "job", "works at {x}"),
    ),
    rule(
        r"i (?:got|started|landed|have) (?:a |my )?(?:new )?job (?:at|with) (?P<x>.+)",
        States(_EVENT, "job", "got a job at {x}"),
        States(_PERSON, "job", "works at {x}"),
    ),
    rule(
        rf"i (?:got|started|landed) (?:a |my )?(?:new )?job as an? {_WORK}.*",
        States(_EVENT, "job", "got a job as {job}"),
        States(_PERSON, "job", "{job}"),
    ),
    rule(r"i (?:got|started|landed) (?:a |my )?new job", States(_EVENT, "job", "started a new job")),
    rule(
        r"i joined (?P<x>(?-i:[A-Z])\w+)(?: as .+)?",
        States(_EVENT, "job", "joined {x}"),
        States(_PERSON, "job", "works at {x}"),
    ),
    rule(
        r"i (?:have )?(?:quit|left|resigned from) (?:my|the) (?:job|company|position)\b.*",
        States(_EVENT, "job", "quit the job"),
        _LEFT_WORK,
        extra=1,
    ),
    rule(
        r"i (?:got|was|have been) (?P<how>fired|laid off|let go)\b.*",
        States(_EVENT, "job", "was {how}"),
        _LEFT_WORK,
        extra=1,
    ),
    rule(
        rf"(?:i|we) (?:adopted|got|rescued|have) (?:an? |two |three |our )?(?:\w+ )?{_PET}"
        r"(?: (?:named|called) \w+)?",
        States(_PERSON, "pet:{pet}", "has a {pet}"),
    ),
    rule(
        rf"my {_PET} (?:died|passed away)",
        States(_EVENT, "{pet}", "their {pet} died"),
        States(_PERSON, "pet:{pet}", "their {pet} died", retracts=True),
        extra=3,
    ),
    rule(
        rf"i have (?:an?|one|two|three|four) (?:(?:younger|older|little|big|twin) )?(?P<kin>{_SIBLINGS})s?",
        States(_PERSON, "family:{kin}", "has a {kin}"),
    ),
)

WITH_OTHERS = (
    rule(
        rf"(?:i am|we are|i started|i have been) (?:dating|seeing) {_WHO}",
        States(_RELATION, "partner", "dating {who}"),
        extra=1,
    ),
    rule(
        r"i (?:have|got) a (?:new )?(?P<who>boyfriend|girlfriend)",
        States(_RELATION, "partner", "has a {who}"),
        extra=1,
    ),
    rule(
        rf"(?:i|we) (?:have )?broken? up with {_WHO}"
        rf"|{_WHO.replace('who', 'and_i')} and i (?:have )?broken? up"
        rf"|{_WHO.replace('who', 'by')} (?:dumped|left) me",
        States(_RELATION, "partner", "broke up with {who}{and_i}{by}"),
        extra=1,
    ),
    rule(r"we (?:have )?broken? up", States(_RELATION, "{bond}", "broke up"), extra=1),
    rule(r"we (?:have )?(?:got|gotten) back together", States(_RELATION, "{bond}", "back together"), extra=1),
    rule(
        rf"(?:i|we) (?:have )?(?:got|gotten|am|are) back together with {_WHO}"
        rf"|{_WHO.replace('who', 'and_i')} and i (?:have )?(?:got|are|gotten) back together",
        States(_RELATION, "partner", "back together with {who}{and_i}"),
        extra=1,
    ),
    rule(
        rf"(?:i|we) (?:am|are|got) engaged to {_WHO}",
        States(_RELATION, "partner", "engaged to {who}"),
        extra=1,
    ),
    rule(r"(?:i|we) (?:am|are|got) engaged", States(_RELATION, "partner", "engaged"), extra=1),
    rule(
        rf"{_WHO} and i are getting married.*", States(_RELATION, "partner", "going to marry {who}"), extra=1
    ),
    rule(r"we are getting married.*", States(_RELATION, "partner", "going to marry"), extra=1),
    rule(
        rf"(?:i|we) (?:got married to|married) {_WHO}",
        States(_RELATION, "partner", "married to {who}"),
        extra=1,
    ),
    rule(r"(?:i|we) got married", States(_RELATION, "partner", "married"), extra=1),
    rule(r"(?:i|we) (?:got|are|am) divorced", States(_RELATION, "partner", "divorced"), extra=1),
    rule(
        rf"i (?:made up|reconciled) with {_SOMEONE}", States(_RELATION, "person:{who}", "made up with {who}")
    ),
    rule(
        rf"i (?:had a (?:big |huge )?fight|fought|argued|fell out) with {_SOMEONE}",
        States(_RELATION, "person:{who}", "fell out with {who}"),
    ),
    rule(
        rf"my (?P<kin>{_FAMILY}) (?P<news>{_NEWS})",
        States(_RELATION, "person:{kin}", "their {kin} {news}"),
        extra=-1,
    ),
    rule(
        r"i promise(?: you)?(?: that i will| i will| to) (?P<x>.+)",
        States(_RELATION, "promise:{x}", "promised to {x}"),
    ),
)

HAPPENED = (
    rule(r"i (?:got|was|have been) promoted\b.*", States(_EVENT, "promotion", "was promoted"), extra=1),
    rule(rf"i (?:have )?(?:passed|aced) {_TEST}", States(_EVENT, "{test}", "passed {test}"), extra=1),
    rule(
        rf"i (?:have )?(?:failed|bombed|flunked) {_TEST}", States(_EVENT, "{test}", "failed {test}"), extra=1
    ),
    rule(
        rf"i have (?:an? |my )?(?:big |important )?{_TEST} {_SOON}",
        States(_EVENT, "{test}", "has {test} ahead"),
    ),
    rule(
        rf"i (?:have|caught|got|came down with|have got|was diagnosed with) (?P<ill>{_ILLNESS})",
        States(_EVENT, "health", "has {ill}"),
        extra=1,
    ),
    rule(
        rf"i {_INJURED} my (?P<part>\w+)",
        States(_EVENT, "health", "hurt their {part}"),
        extra=1,
    ),
    rule(r"i am (?P<how>sick|ill|in the hospital)\b.*", States(_EVENT, "health", "is {how}"), extra=1),
    rule(
        r"i (?:have )?(?:fully )?recovered(?: from .+)?|i got (?:over (?:the |my )?\w+|better)"
        r"|i am (?:all |fully )?(?:better|recovered)",
        States(_EVENT, "health", "has recovered"),
        extra=1,
    ),
    rule(r"i had (?P<x>(?:\w+ )?surgery)\b.*", States(_EVENT, "health", "had {x}"), extra=1),
    rule(
        r"i (?:have )?(?:finished|completed|submitted|defended|published) my "
        r"(?P<x>(?:\w+ )?(?:thesis|dissertation|degree|book|novel|album|phd|master's))",
        States(_EVENT, "{x}", "finished their {x}"),
        extra=1,
    ),
    rule(r"i (?:have )?graduated(?: from [\w ]+)?", States(_EVENT, "graduation", "graduated"), extra=2),
    rule(
        r"(?:i am|we are) (?:pregnant|expecting a baby|having a baby)",
        States(_EVENT, "pregnancy", "is expecting a baby"),
        extra=2,
    ),
    rule(r"(?:i|we) had a baby(?: boy| girl)?", States(_EVENT, "baby", "had a baby"), extra=2),
    rule(
        r"i (?:got into|was accepted (?:to|into)) (?P<x>.+)",
        States(_EVENT, "{x}", "was accepted to {x}"),
        extra=2,
    ),
)
