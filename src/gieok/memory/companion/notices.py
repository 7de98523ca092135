"""What a user is told about their memories: at once, or in the next turn with that persona."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from gieok.memory.companion.records import Notice
from gieok.memory.fields import AccountPlan

FULL = Notice(
    kind="full",
    korean="메모리가 가득 찼습니다. 중요도가 낮은 이전 대화는 아카이브됩니다.",
    english="Memory is full. Earlier conversations of lower importance are archived.",
)
MORE = Notice(
    kind="more",
    korean="더 많은 메모리를 원하시면 Knock Plus를 이용하세요",
    english="For more memory, use Knock Plus",
)
EXCERPT = Notice(
    kind="excerpt",
    korean="대화를 요약하지 못해 대화의 앞부분을 그대로 저장했습니다.",
    english="A conversation could not be summarised, so its beginning was kept as it was said.",
)
NOTICES = (FULL, MORE, EXCERPT)
"""Every notice, in the order in which they are told."""


def notices_of(account: AccountPlan, *, made_room: bool, is_excerpt: bool) -> tuple[Notice, ...]:
    """What to tell of a memory that was kept."""
    full = (FULL, MORE) if account == "free" else (FULL,)
    return (*(full if made_room else ()), *((EXCERPT,) if is_excerpt else ()))


class NoticeStore(Protocol):
    """What waits to be told. Only the kind of a notice is kept: its text is here."""

    def leave(self, persona_id: str, notices: Collection[Notice], at: datetime) -> None:
        """Keep notices for the next turn with a persona. One that waits already is told once."""
        ...

    def take(self, persona_id: str) -> Sequence[Notice]:
        """The notices that wait, which from now on count as told."""
        ...


class NoticeView(Protocol):
    """Whatever holds notices among its rooms."""

    @property
    def notices(self) -> NoticeStore:
        """The notices of the owner at hand."""
        ...
