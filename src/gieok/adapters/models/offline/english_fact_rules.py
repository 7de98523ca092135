"""The patterns of English facts, in the order in which they are tried."""

from __future__ import annotations

from gieok.adapters.models.offline.english_leaning_rules import DOES, THINKS, WANTS
from gieok.adapters.models.offline.english_life_rules import HAPPENED, WHO_THEY_ARE, WITH_OTHERS
from gieok.adapters.models.offline.english_rule import Rule

RULES: tuple[Rule, ...] = (*WHO_THEY_ARE, *WITH_OTHERS, *HAPPENED, *WANTS, *DOES, *THINKS)
"""The first that fits a clause is the one that holds."""
