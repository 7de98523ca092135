"""A companion that remembers: chat, close the session, and chat again the next day.

    python examples/companion.py

It needs no network and no API key. It writes to the database in your settings.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from gieok import ChatTurn, Gieok, PersonaDraft, User
from gieok.testing.clock import Clock

HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나, 다정한 친구다. 반말로 말한다.")
EVENING = ("나 부산으로 이사했어", "내일 IT 스타트업 면접이 있어서 떨려", "포트폴리오도 다시 봐야 해")


async def talk(user: User, persona_id: str, *lines: str) -> list[ChatTurn]:
    """Chat for one session and close it. Closing summarises it into a memory."""
    turns: list[ChatTurn] = []
    for line in lines:
        session = turns[0].session_ref if turns else None  # the first message starts a session
        turns.append(await user.chat.send(persona_id, line, session_ref=session))
        print(f"  나    {line}\n  하나  {turns[-1].reply}")
    await user.sessions.close(turns[0].session_ref, wait=True)  # `wait`: this program has no worker
    return turns


async def main() -> None:
    clock = Clock(datetime(2026, 3, 5, 11, 0, tzinfo=UTC))  # only for this example
    async with await Gieok.open(clock=clock) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)

        print("Day one")
        await talk(user, hana.id, *EVENING)
        clock.advance(days=1)

        print("\nDay two, in a new session")
        (turn,) = await talk(user, hana.id, "면접 얘기 기억나?")

        print("\nRecalled memories and reasons")
        for hit in turn.recalled:
            print(f"  {hit.text}\n    words: {', '.join(hit.why.matched_words)}")
        print("\nCurrent facts")
        for fact in turn.state:
            print(f"  {fact.category} {fact.key}: {fact.value}")


if __name__ == "__main__":
    asyncio.run(main())
