"""The patterns of English facts, in the order in which they are tried."""

from __future__ import annotations

from gieok.adapters.models.offline.english_leaning_rules import DOES, THINKS, WANTS
from gieok.adapters.models.offline.english_life_rules import HAPPENED
from gieok.adapters.models.offline.english_people_rules import WITH_OTHERS
from gieok.adapters.models.offline.english_rule import Rule
from gieok.adapters.models.offline.english_self_rules import WHO_THEY_ARE
from gieok.adapters.models.offline.english_work_rules import WORK_AND_SCHOOL

RULES: tuple[Rule, ...] = (
    *WHO_THEY_ARE,
    *WORK_AND_SCHOOL,
    *WITH_OTHERS,
    *HAPPENED,
    *WANTS,
    *DOES,
    *THINKS,
)
"""The first that fits a clause is the one that holds."""
