"""The facade of a user's profile: `user.profile`."""

from __future__ import annotations

from typing import Any

from gieok.app.cycles import Cycles, validated
from gieok.memory.profile import Profile
from gieok.memory.requests import RequestKey


class UserProfile:
    """What every persona may know of the user: display name, timezone and language."""

    def __init__(self, cycles: Cycles) -> None:
        self._cycles = cycles

    async def get(self) -> Profile:
        """The profile; an empty one if nothing was set."""
        return await self._cycles.scope.read(lambda view: view.profile.get())

    async def set(self, *, once: RequestKey | None = None, **fields: Any) -> Profile:
        """Set `display_name`, `timezone` (an IANA name) and `language` (ko or en), and return the profile.

        Fields that are not given stay; None unsets one. InputRefused for a value that is not valid.
        `once` is an idempotency key: a repeated request changes nothing and returns the profile as it is now.
        """
        values = validated(Profile, **fields)
        request = {"values": values, "given": tuple(fields)}
        await self._cycles.answer_once(once, "set_profile", request, lambda _: None, type(None))
        return await self.get()
