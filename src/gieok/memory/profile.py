"""The profile of a user: what every persona may know of them, and whose days are meant."""

from __future__ import annotations

from typing import Annotated, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, StringConstraints

from gieok.engine import AnyStep, Data, NoData, StepContext, WriteStep
from gieok.errors import InputRefused
from gieok.memory.fields import Language, storable

MAX_NAME_CHARS = 128


def zone(timezone: str) -> ZoneInfo:
    """The timezone with this IANA name. InputRefused if there is none."""
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InputRefused(
            "is not a timezone; use an IANA name such as Asia/Seoul or Europe/Berlin", at="timezone"
        ) from None


def _check_timezone(name: str) -> str:
    zone(name)
    return name


Timezone = Annotated[str, StringConstraints(max_length=64), AfterValidator(_check_timezone)]
"""The IANA name of a timezone."""
DisplayName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME_CHARS),
    AfterValidator(storable),
]


class Profile(Data):
    """A user's profile. Every field may be unset."""

    display_name: DisplayName | None = None
    timezone: Timezone | None = None
    """Without it, days are those of GIEOK_TIMEZONE."""
    language: Language | None = None


class ProfileStore(Protocol):
    """The profile of one owner, inside one transaction."""

    def get(self) -> Profile:
        """The profile; an empty one if nothing was set."""
        ...

    def save(self, profile: Profile) -> None:
        """Replace the profile."""
        ...


class ProfileView(Protocol):
    """A transaction's view with the profile."""

    @property
    def profile(self) -> ProfileStore: ...


class ProfileInputs(Data):
    values: Profile
    given: tuple[str, ...]
    """The names of the fields to set; the others stay as they are."""


class SetProfile(WriteStep[NoData, ProfileInputs, Profile]):
    """Set fields of the profile and return the whole of it."""

    type = "SetProfile"

    def apply(
        self, view: ProfileView, metadata: NoData, inputs: ProfileInputs, context: StepContext
    ) -> Profile:
        before = view.profile.get()
        profile = before.model_copy(update={name: getattr(inputs.values, name) for name in inputs.given})
        if profile != before:
            view.profile.save(profile)
        return profile


STEPS: tuple[type[AnyStep], ...] = (SetProfile,)
