"""Tables of English: the words that show how a clause is meant. Written for normal form (lower case).

Chat leaves apostrophes out, so `don't` and `dont` both occur.
"""

# ruff: noqa: E501 - one rule of a table is one line

from __future__ import annotations

from gieok.text.modality.clause import cues, listed

RELATIVES = listed("""
    mom mum mam mama mother dad father papa parents sister brother sis bro sibling cousin aunt auntie uncle niece
    nephew grandma grandpa gramma grandmother grandfather granddad nan nana gran grandson granddaughter son
    daughter kid kids child husband wife hubby partner boyfriend girlfriend bf gf fiance fiancee ex friend friends
    bestie mate roommate roomate flatmate housemate neighbor neighbour neighbors neighbours coworker colleague
    boss manager gaffer teacher professor coach landlord landlady doctor dentist therapist treasurer chairwoman
    chairman stepdad stepmom stepmother stepfather stepsister stepbrother twin buddy classmate teammate baby
    toddler people everyone everybody somebody someone nurse surgeon lawyer guy girl woman man lady lad lass dude
    boy in-laws intern student client customer guest patient driver cat dog puppy kitten hamster parrot rabbit horse
""")
"""Nouns for a person who is not the speaker."""

AUTHORITIES = listed("""
    doctor dr consultant surgeon nurse vet dentist therapist gp specialist physio optician lawyer judge police
    hospital clinic boss manager hr teacher professor principal landlord landlady agent school university
    committee jury results test letter email mail report scan
""")
"""Who states a fact by saying it: the doctor says it is broken."""

STARTERS = (
    r"(?:(?:and|but|so|n|&|because|bc|cos|cuz|cause|then|plus|oh|ok|okay|well|also|anyway|yeah|yes|yep|no|lol"
    r"|haha+|hey|btw|now|actually|honestly|apparently|guess what|turns out|which|that|while|when|since|though"
    r"|tho|although|today|yesterday|tomorrow|last \w+|this \w+|next \w+|tbh|hi|hello|omg|wait|hmm+|um+|uh)[,!.]*\s+)*"
)
"""What may stand before the subject of a clause."""

BOUNDARY = cues(r"""
    [,;:!?](?=\s)\s*
    \.+(?=\s)\s*
    \s+[-–—]+\s+
    \s*[()]\s*
    \n+
    \s+(?=(?:and|but|because|bc|cos|cuz|though|tho|although|while|which|unless|plus|n|&)\s)
    \s+(?=so\s(?:i|i'm|im|i've|ive|we|it|its|it's|he|hes|she|shes|they|now|the|my|that|there|no|you|u)\b)
    (?<!what)(?<!and)(?<!but)(?<!so)(?<!because)(?<!bc)(?<!cos)(?<!which)(?<!\bn)(?<!even)(?<!as)\s+(?=if\s)
    \s+(?=what\sif\s)
    \s+(?=(?:and\s|n\s)?not\s(?!only|just))
""")
BEFORE_NOT = cues(r"""
    (?:\b(?:am|is|are|was|were|be|been|do|does|did|have|has|had|will|would|can|could|should|shall|may|might)$)
    (?:\b(?:must|im|its|hes|shes|theyre|youre|why|if|or|whether|i|we|you|he|she|they|absolutely|definitely)$)
    '(?:m|re|s|ve|ll|d)$
""")
"""Before `not` these belong to the same clause: I'm not …; otherwise it begins one: EUPL and not AGPL."""
SENTENCE_END = cues(r"[.!?;\n] / \s*[()]")
TURN = cues(r"(?:but|though|tho|although|anyway|so)\b")

CONDITION = cues(r"""
    (?:(?:and|but|so|n|because|bc|which|cos)\s+)?(?:if|supposing|provided|unless)\s(?!(?:you|u|not|anything|only|so|ever)\b)
""")
UNREAL = cues(r"""
    \b(?:what if|suppose|supposing|let's say|lets say|pretend|might|maybe|perhaps|hypothetically)\b
    \bimagine (?:if|that|i|me|we|being)\b
    \bin (?:another|my next|a past) life\b / \bin a perfect world\b / \bwhen (?:i|we) (?:win|get rich|am rich|hit)\b
    \b(?:could|would)(?:'ve| have)\b / \bcould see myself\b / ^(?:so )?say (?:i|we|you)\b
""")
WOULD = cues(r"""
    ^would\b(?! (?:you|u|it|he|she|they|we|i|love|like|rather|prefer|say)\b)
    \b\w+(?:'d|\swould)\b(?!n't\ssay)(?!\s(?:like|love|rather|prefer|appreciate|say|been|better|had|\w+ed)\b)
""")
WISH = cues(r"\b(?:i|we) wish\b / \bif only\b / \bwish (?:i|we)\b")

DENIAL = cues(r"""
    \b(?:not|never|no longer|nothing|nobody|none|neither|nor|without|cannot|nowt|hardly|no(?=\s+[a-z]))\b
    n't\b
    \b(?:do|does|did|is|was|are|were|wo|ca|have|has|had|could|would|should|ai)nt\b
    \b(?:say|said|saying|says) no\b / \bdecided against\b / \bruled out\b
    \bwas (?:going|gonna|about|planning|hoping) (?:to )? / \b(?:almost|nearly)\b / \bthought (?:i|we|it|that|he|she)\b
    \b(?:cancell?ed|called off|fell through|gave up|given up|backed out|turned (?:it|him|her|them) down|scrapped)\b
""")
NO_DENIAL = cues(r"""
    \bnot (?:only|just|to mention|gonna lie|sure|bad|until|one bit)\b / \bwhy not\b / \b(?:or|if) not\b
    \bno (?:problem|worries|wonder|doubt|idea|way\W*$|one else|matter|joke|kidding|less|later|lol|haha+|time)\b
    \b(?:can't|cant|cannot|couldn't|couldnt) (?:wait|believe|stop|help|get enough|complain|lie)\b
    \b(?:don't|dont|do not) (?:worry|forget|mind|get me wrong|you|tell|judge|ask)\b
    \b(?:won't|wont|will not|wouldn't|wouldnt) lie\b / \bnothing (?:but|else|beats)\b / \bnever ?mind\b
    \b(?:isn't|isnt|wasn't|wasnt) it\b / \b(?:aren't they|didn't i|don't you|won't you)\b
""")
"""Idioms that deny nothing."""

QUESTION = cues(rf"""
    {STARTERS}(?:do|does|did|is|are|am|was|were|can|could|will|would|should|shall|have|has|had|may|must|don't|didn't|isn't|aren't|won't|can't|shouldn't|wouldn't|d'you)\s+(?:i|you|u|we|he|she|it|they|there|this|that|the|my|your|ur|his|her|our|any|anyone|someone)\b
    {STARTERS}(?:what|which|when|where|who|whom|whose|why|how)(?:'s|'re|'d|s)?\s+(?:\w+\s+){{0,2}}(?:is|are|am|was|were|do|does|did|can|could|will|would|should|have|has|had|about|to)\s+(?:i|you|u|we|he|she|it|they|there|this|that|the|my|your|ur|his|her|our|do|for|people|anyone|anybody|everyone)\b
""")
"""A question by its word order, with or without a mark."""

_SAYING = (
    r"(?:(?:always|only|even|just|now|keeps?|kept|is|was|also|once|still)\s)?"
    r"(?:say|says|said|saying|reckons?|reckoned|thinks?|thought|claims?|claimed|insists?|insisted|believes?|swears?"
    r"|bets?|betting|predicts?|jokes?|joked|figures?|hopes?|suggests?|suggested|is convinced|is sure"
    r"|(?:tell|tells|told|telling|warn|warns|warned) (?:me|us))(?: that)?"
)
REPORT = cues(
    r"(?:^|(?<=\s))(?P<who>(?!(?:i|we|you|u|it|that|this|which|who|to|and|but|so|n)(?:'\w+)?\s)[\w'.-]+)\s"
    + _SAYING
    + r"\s+(?=\w)"
)
REPORT_WITHOUT_SUBJECT = cues(
    STARTERS + r"(?:says|said|reckons|thinks|claims|insists|swears|tells (?:me|us))\s+(?=\w)"
)
REPORT_COLON = cues(r"""
    \b(?:(?:in|out of) my head|on repeat|song|lyrics?|tune|chorus)$
    \b(?:said|says|wrote|writes|texted|texts|text|replied|answered|posted|yelled|shouted|sang|sings|singing|goes|went|reads|was like|lyrics)$
""")
"""Before a colon, words of somebody else follow."""
PROVERB = cues(r"(?:like|as) the (?:song|saying|poem|quote|proverb|bible|line) (?:says|goes)$")
TRAILING_REPORT = cues(
    r"(?:says|said|reckons|thinks|according to) (?P<who>(?!(?:i|we|it|that|the|he|she|they|you|my)\b)\w+)(?: \w+){0,3}$"
)
"""Behind what is reported: I'm difficult, says Karen."""
ACCORDING = cues(STARTERS + r"according to (?:my |our |the )?(?P<who>\w+)")
REPORT_WISH = cues(
    STARTERS + r"(?:my |our |me )?(?P<who>(?!(?:i|we|you|u)\s)[\w'.]+)(?:\s[\w']+)?\s"
    r"(?:wants|expects|begs|begged|is begging|keeps asking|asks|asked|is pushing|pushes|needs|would like)\s(?:me|us) to\b"
)
NO_REPORT = cues(r"^(?:so|it|no|hi|hello|goodbye|yes|thanks|sorry)\W*$")
OPINION = cues(r"\b(?:reckon|think|thought|believ|bet|predict|figure|suggest|hope|convinced|sure|jok)")
ADVICE = cues(r"""
    \b(?:should|shouldn't|ought|gonna|going to|will|won't|would|better|need to|needs to|must|could)\b / '(?:ll|d)\b
""")

FORMERLY = cues(r"""
    \bused to (?!it\b|that\b|this\b|the\b|being\b|\w+ing\b)
    \b(?:last time|back then|back in the day|in those days|once upon a time|formerly|in a past life)\b
    \bin my (?:early |late |mid )?(?:teens|twenties|thirties|20s|30s|youth|day|school days)\b / \bback when\b / \bgrowing up\b
    \bas a (?:kid|child|teen|teenager|boy|girl|student)\b
    \bwhen i was (?:an?|little|young|younger|small|in|at|\d+|\w+teen|ten|twelve|eleven|nine|eight|seven|six)\b
    \bi once (?:had|was|\w+ed)\b / \bbefore (?:the kids|kids|i had kids|covid|the pandemic|the accident|i got married)\b
    \bin the (?:sixties|seventies|eighties|nineties|60s|70s|80s|90s)\b
    \bback in (?:college|uni|school|high school|hs|\d{4})\b
""")
IN_A_YEAR = cues(r"\bin (?:19|20)\d\d\b / \b(?:years|decades|ages) ago\b")
LASTS = cues(r"""
    \b(?:moved|started|began|got|adopted|became|bought|joined|married|met|opened|founded|switched|converted|born|diagnosed|died|split)\b
""")
"""What happened then may hold since: moved to Austin in 2019."""
PAST_VERB = cues(r"""
    \b(?:was|were|had|did|made|went|got|took|lived|worked|studied|played|ran|wrote|built|bought|saw|came|kept|taught)\b
    \b\w{3,}ed\b
""")

SARCASM = cues(r"""
    \bliving the dream\b / \blucky me\b / \blove that for me\b / \bthanks for nothing\b / \bjust my luck\b / \bperfect timing\b
    \bwhat (?:a )?(?:bliss|joy|delight|treat)\b / \bhow (?:lovely|wonderful|delightful)\b / \bbig surprise\b
    \bexactly what i (?:needed|wanted)\b / \b(?:yeah|oh|sure|right),? (?:because|cuz|cause) i\b / \b(?:oh|yeah|yep),? (?:sure,? )?i (?:just )?(?:love|adore|enjoy)\b
    \bjust what i (?:needed|wanted|always wanted)\b
    \boh,? (?:great|brilliant|joy|wonderful|perfect|lovely|fantastic|good)\b
    \bjust (?:great|perfect|wonderful|brilliant|fantastic|lovely|peachy)\b
    \b(?:best|greatest) \w+ since\b / \b(?:totally|perfectly|completely) fine\b
    \bcouldn't be (?:happier|better)\b / \b(?:yeah|yea|sure),? right\b
    \b(?:brilliant|great|wonderful|excellent|fantastic|lovely) (?:use of|way to)\b
    \bi (?:just|do so|so|simply) (?:love|adore|enjoy) (?:it )?when\b / \bi do so (?:adore|love|enjoy)\b
""")
FIGURATIVE = cues(r"""
    (?:gonna|going to|will|'ll) (?:murder|kill|strangle|throttle|bury) (?:him|her|them|you|u|someone|somebody)\b
    \b(?:literally|actually) (?:dying|dead|died)\b
    \bthat'?s it,? (?:i'm|im|i am|i)\b / \b(?:i'm|im|i am) (?:dying|dead|starving)\b
    \bcould (?:eat a horse|sleep for|murder|kill)\b / \bdie of (?:embarrassment|boredom|shame)\b
""")
_JOKED = r"""
    [\s\W]*+(?:(?:lol|lmao|haha+|ok|okay|no|nah|nope|wait)[\s\W]++)*+(?:(?:i'm|im|i am|i was) )?(?:just |only |totally )?(?:kidding|joking|messing(?: with (?:you|u))?|jk|j/k)\b
    [\s\W]*+(?:(?:lol|lmao|haha+|no|nah|nope|wait|that was|it was)[\s\W]++)*+(?:just |only )?(?:a |an )?joke\b
    [\s\W]*+(?:(?:no|nah)[\s\W]++)?(?:scratch that|strike that|sike\b|psych\b)
"""
JOKED = cues(_JOKED)
"""What only takes back. The further cues of TAKEN_BACK also answer questions: not really."""
TAKEN_BACK = cues(rf"""
    {_JOKED.strip()}
    [\s\W]*+(?:(?:no|nah)[\s\W]++)?forget (?:it|that)\b
    [\s\W]*+(?:no|nah),? (?:stop|wait|scratch)\b / [\s\W]*+nah\b / [\s\W]*+(?:lol|lmao|haha+) no\b
    [\s\W]*+not really\b / [\s\W]*+i wish\W*$ / [\s\W]*+in my dreams\b / [\s\W]*+(?:yeah|yea) right\b
    [\s\W]*+(?:but )?seriously (?:though|tho)\b / [\s\W]*+in all seriousness\b
""")
MISSPOKE = cues(r"""
    [\s\W]*+(?:(?:no|nah|nope|oh|oops|whoops|ah|wait|sorry|actually|ok|okay|um|hmm)[\s\W]++)*+(?:i (?:just )?(?:misspoke|mistyped|got (?:that|it) wrong|(?:said|wrote|typed|put) (?:that|it) wrong)|my (?:mistake|bad)(?=\s*(?:[,.!:;-]|i\b|$))|that was (?:a )?(?:typo|slip|mistake|wrong)|typo\b)
    [\s\W]*+(?:(?:no|nah|nope|oh|oops|whoops|ah|wait|sorry|actually|um|hmm)[\s\W]++)++i meant\b
""")
"""What corrects a slip of the tongue."""

STORY = cues(r"""
    \b(?:in|from) (?:the|this|that|a|my) (?:\w+ ){0,3}(?:movie|film|series|novel|story|episode|dream|song|poem|comic|manga|anime)\b
    \bin (?:the|this|that|a|my) (?:\w+ ){0,2}(?:show|book|game|play)\b
    \b(?:main character|protagonist|heroine|the hero|the villain|once upon a time|my (?:character|sim|avatar))\b
    \b(?:dreamt|dreamed)\b / \bhad (?:a|this|the|another|such a) (?:\w+ )?(?:\w+ )?dream\b(?! (?:of|to|job))
    \b(?:playing|in) (?:the )?(?:sims|minecraft|stardew|skyrim|animal crossing|zelda|d&d|dnd)\b / \blyrics? (?:go|goes|say)\b
    \b(?:movie|film|book|novel|show|plot|story) (?:is )?(?:about|where|in which)\b
""")
ROLE = cues(r"""
    \b(?:let's|lets|can we|wanna|we could|want to)\s+(?:\w+\s)?(?:pretend|role-?play|rp|play pretend|act out)\b
    \b(?:do|play|perform|act out|resume|continue|start|run)\s+(?:the|our|that|a|this)\s+(?:\w+[\s-]){0,3}(?:one|scene|story|bit|skit|role-?play|campaign)\b
    \bpretend (?:that )?(?:i|you|u|we|to be)\b
    \b(?:you|u) be (?:the|my|a)\b[^.!?]*\b(?:i'm|im|i am|i'll be)\b / \bi(?:'ll| will) be (?:the|a) \w+ (?:and|n) (?:you|u)\b
    \b(?:you're|ur|youre|you are|u r) (?:the|my|a|an) [\w\s]{2,40} (?:and|n) (?:i'm|im|i am)\b
    \b(?:i'm|im|i am) (?:captain|lord|lady|sir|king|queen|prince|princess|agent|sheriff|count|baron|duke|emperor) \w
""")
MYTH = cues(r"""
    \b(?:unicorns?|dragons?|vampires?|werewol(?:f|ves)|mermaids?|wizards?|goblins?|orcs?|elves|zombies?|aliens?)\b
""")

FIRST_PERSON = cues(rf"""
    {STARTERS}(?:i|i'm|im|i've|ive|i'll|i'd|id|we|we're|we've|we'll|me|myself|gonna|gotta|wanna|trying|my own)\b
""")
FRAGMENT = cues(
    r"(?:to|in|on|at|from|with|w|for|by|over|due|near|since|until|till|somewhere|about|of|under|behind)\b"
)
"""A clause that continues the one before, although a full stop stands between."""
ANIMATE = cues(rf"""
    {STARTERS}(?!(?:i|im|i'm|we|you|u|it|got|get|getting|been|being|was|were|just|newly|recently|happily|not|never|that|this|there|who|what)\b)(?P<name>[a-z]{{3,}}?)(?:'s|s)? (?:(?:is|was|just|finally|got|is now|has been|been|also) )*(?:pregnant|engaged|married|divorced|dating|retired|expecting|vegan|vegetarian|allergic|diagnosed|promoted|fired|dumped|arrested|hired|hospitalized|proposed|graduated|drunk)\b
""")
"""A subject that must be a person."""
OF_A_RELATIVE = cues(r"\bof (?:my|our|his|her) (?P<kin>\w+)")
SUBJECT = cues(
    STARTERS + r"(?:(?P<pronoun>he|she|hes|shes|he's|she's|he'll|she'll|he'd|she'd|(?:his|her)(?= \w+ \w))\b"
    r"|(?:my|our|me|the|his|her)\s+(?:\w+\s+){0,2}?(?P<kin>\w+)(?:'s)?\b"
    r"|(?P<title>(?:mr|mrs|ms|dr|aunt|uncle|grandma|grandpa)\.?\s+\w+)"
    r"|(?P<name>[a-z][\w-]+?)(?:'s|s)?\b)"
)
VERB = cues(r"""
    \s*(?:,[^,]{2,40},\s*)?(?:\w+ly |just |still |also |already |finally |now |only |never |always )?(?:is|was|has|had|will|got|gets|does|did|isn't|wasn't|can|can't|cannot|would|went|goes|took|came|left|said|says|wants|needs|likes|loves|hates|lives|works|lost|won|broke|bought|told|made|moved|quit|keeps|kept|gave|met|found|thinks|pregnant|engaged|married|sick|\w{3,}ed|\w{2,}[^s\W]s)\b
""")
"""What follows a subject: a verb of the third person."""
CONTINUES = cues(r"""
    (?:(?:and|n|but|then|so)\s+)*(?:also |just |then |now |already |still |even |always )?(?:is|was|has|had|got|gets|went|took|came|left|wants|needs|keeps|lost|won|owns|runs|plays|teaches|studies|hates|loves|likes|thinks|speaks|drinks|smokes|eats|makes|takes|goes|plans|starts|leaves|bought|made|moved|quit|lives|works|drives|moves|\w{3,}ed)\b
""")
"""A clause that continues with the subject of the one before."""

PROMISE = cues(r"""
    \b(?:i'll|i will|i won't|i shall|i promise|promised?|i swear|swear|my word|you have my word|new rule|from now on|deal)\b
""")
AGREEMENT = cues(
    r"\b(?:agreed?|deal|let's|lets|settled|decided|it's a plan|from now on|we'll|we will|new rule)\b"
)
RECONCILED = cues(r"""
    \b(?:we're good|we are good|friends again|made up|make up|no hard feelings|forgiv\w+|mended|at peace|all good|squared)\b
""")
NAMED = cues(r"\b(?:call(?:ing)? you|your name|nickname|name you|call me)\b")
YES = cues(r"""
    (?:yes|yeah|yea|yep|yup|ye|aye|sure|right|exactly|correct|true|agreed?|ok|okay|deal|mhm|of course|definitely|totally|indeed|it is|i am|i do)\b
""")
NO = cues(r"(?:no|nope|nah|not really|not yet|never)\W*$")
