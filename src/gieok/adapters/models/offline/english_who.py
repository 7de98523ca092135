"""Pieces that the patterns of English facts share: people, places, professions, and what may trail behind."""

from __future__ import annotations

from gieok.adapters.models.offline.english_rule import any_word

# A name is the one thing that case tells apart.
NAME = r"(?-i:(?!(?:He|She|They|We|You|It)\b)[A-Z][a-z]+)"
PLACE = r"(?P<x>(?-i:[A-Z])[\w .]{1,40}?)"
_LOVE = any_word("ex boyfriend girlfriend partner fiance fiancee fiancé fiancée husband wife")
WHO = rf"(?P<who>(?:my )?{_LOVE}|{NAME})"
SOMEONE = rf"(?P<who>my [\w ]+?|{NAME})"
KIN = any_word("""
    mom mum mother dad father sister brother grandma grandmother grandpa grandfather son daughter wife husband
    parents best_friend friend cousin aunt uncle niece nephew roommate boyfriend girlfriend fiance fiancee
    twin stepdad stepmom grandparents
""")
CHILDREN = any_word("(?:sister|brother|son|daughter|kid|cousin|niece|nephew|sibling)s? child children twins")
COUNT = any_word(r"an? one two three four five six \d")
PET = (
    rf"(?P<pet>{any_word('dog cat puppy kitten hamster rabbit parrot turtle goldfish bird lizard bunny pup')}"
    r"|horse|snake|guinea pig|ferret|gecko)s?"
)
BUSINESS = any_word("""
    shop store cafe café restaurant bakery business company studio salon farm startup bar gym agency firm
    practice bookstore brewery hotel hostel truck clinic label
""")
_PROFESSIONS = any_word("""
    nurse doctor teacher engineer developer designer student lawyer writer chef barista accountant programmer
    artist photographer manager researcher professor musician actor actress pilot pharmacist dentist vet
    journalist translator librarian firefighter electrician analyst freelancer consultant salesperson editor
    architect scientist therapist baker driver cashier intern illustrator plumber carpenter mechanic waiter
    waitress bartender receptionist paramedic cop police_officer soldier farmer realtor recruiter marketer
    animator tutor nanny janitor hairdresser tailor surgeon physicist chemist biologist economist
    psychologist social_worker flight_attendant stay-at-home_(?:mom|dad) author welder
""")
WORK = rf"(?P<job>(?:[a-z-]+ ){{0,2}}{_PROFESSIONS})"
# The circumstances that may follow, and that a note leaves out.
TAIL = (
    r"(?:,? (?:after|because|over|last|this|next|in|on|at|when|since|for|two|three|a few|about|again|anymore"
    r"|with|from|before|now|years|months|by|as|and|while|\w+ing)\b.*)?"
)
SOON = r"(?:tomorrow|next \w+|this \w+|on \w+|coming up|in \w+ \w+|tonight|soon)"
