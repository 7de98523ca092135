"""The facade of a user's profile: `user.profile`."""

from __future__ import annotations

from typing import Any

from gieok.app.cycles import Cycles, validated
from gieok.memory.profile import Profile, SetProfile


class UserProfile:
    """What every persona may know of the user: display name, timezone and language."""

    def __init__(self, cycles: Cycles) -> None:
        self._cycles = cycles

    async def get(self) -> Profile:
        """The profile; an empty one if nothing was set."""
        return await self._cycles.scope.read(lambda view: view.profile.get())

    async def set(self, **fields: Any) -> Profile:
        """Set `display_name`, `timezone` (an IANA name) and `language` (ko or en), and return the profile.

        Fields that are not given stay; None unsets one. InputRefused for a value that is not valid.
        """
        values = validated(Profile, **fields)
        request = {"values": values, "given": tuple(fields)}
        return await self._cycles.output("set_profile", SetProfile, request)
