"""Whom the user talks with: the persona that was named, the only one there is, or a new small one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from gieok.app.canon import MAX_PAGE
from gieok.errors import InputRefused, NotFound
from gieok.interfaces.cli.wording.words import Lang
from gieok.memory.canon.records import PersonaCard, PersonaDraft

if TYPE_CHECKING:
    from gieok.app import User

_NAMED = 10
"""Personas that an error names."""

SMALL: Mapping[Lang, PersonaDraft] = {
    "ko": PersonaDraft(
        name="하루",
        language="ko",
        system_prompt="너는 하루, 사용자의 다정한 친구다. 짧고 편하게 말하고, 들은 일을 기억해 묻는다.",
    ),
    "en": PersonaDraft(
        name="Haru",
        language="en",
        system_prompt="You are Haru, a warm friend of the user. You speak briefly and plainly, remember what "
        "you are told, and ask how it went.",
    ),
}
"""Who is there when nobody was made yet."""


async def known(user: User) -> list[PersonaCard]:
    """Every persona of the user."""
    found: list[PersonaCard] = []
    while page := await user.personas.list(after=found[-1].id if found else None, limit=MAX_PAGE):
        found += page
    return found


async def named(user: User, name: str) -> PersonaCard:
    """The persona with this id or else with this name. NotFound; InputRefused where several have the name."""
    try:
        return await user.personas.get(name)
    except (NotFound, InputRefused):
        same = [card for card in await known(user) if card.name == name]
    if not same:
        raise NotFound(f"there is no persona '{name}'; leave out --persona to choose one")
    if len(same) > 1:
        ids = ", ".join(card.id for card in same[:_NAMED])
        raise InputRefused(f"{len(same)} personas have this name; name one by its id: {ids}", at="--persona")
    return same[0]


def only(cards: Sequence[PersonaCard], choose: Callable[[Sequence[PersonaCard]], int] | None) -> PersonaCard:
    """The one that there is, or the one that someone chooses. InputRefused where nobody can be asked."""
    if len(cards) == 1:
        return cards[0]
    if choose is None:
        ids = ", ".join(card.id for card in cards[:_NAMED])
        raise InputRefused(f"there are {len(cards)} personas; name one of them: {ids}", at="--persona")
    return cards[choose(cards)]
