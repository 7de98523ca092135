"""The profile of a user: what every persona may know of them, and whose days are meant."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, StringConstraints

from gieok.engine import AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep
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


def local(at: datetime, timezone: str) -> datetime:
    """The same moment on the clock of this timezone. The last hours of the year 9999 stay as they are."""
    try:
        return at.astimezone(zone(timezone))
    except OverflowError:
        return at


def day_of(at: datetime, timezone: str) -> date:
    """The calendar day of a moment in a timezone."""
    return local(at, timezone).date()


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


class ProfileServices(Protocol):
    """What the steps of the profile need from the application."""

    @property
    def timezone(self) -> str:
        """The timezone of users whose profile has none."""
        ...


class LoadProfileInputs(Data):
    language: Language = "ko"
    """For a user whose profile has none: the language of the persona."""


class LoadedProfile(Data):
    user_name: str | None
    timezone: Timezone
    """Whose days are meant: the profile's, else that of GIEOK_TIMEZONE."""
    language: Language


class LoadProfile(ReadStep[NoData, LoadProfileInputs, LoadedProfile]):
    """Load who the user is: name, timezone and language. A plan without this step knows UTC only."""

    type = "LoadProfile"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, services: ProfileServices) -> None:
        self._timezone = services.timezone

    def read(
        self, view: ProfileView, metadata: NoData, inputs: LoadProfileInputs, context: StepContext
    ) -> LoadedProfile:
        profile = view.profile.get()
        return LoadedProfile(
            user_name=profile.display_name,
            timezone=profile.timezone or self._timezone,
            language=profile.language or inputs.language,
        )


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


STEPS: tuple[type[AnyStep], ...] = (LoadProfile, SetProfile)
