"""`gieok usage`, on both databases."""

from __future__ import annotations

import asyncio
import json

from gieok import Gieok, PersonaDraft
from tests.cli.conftest import Run


def talk(owner: str, *messages: str) -> None:
    """Run turns of an owner, with the settings of the environment."""

    async def turns() -> None:
        async with await Gieok.open() as gieok:
            user = gieok.user(owner)
            await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
            for message in messages:
                await user.chat.send("hana", message)

    asyncio.run(turns())


def test_usage_shows_calls_and_tokens_per_day(run: Run, url: str) -> None:
    talk("kim", "안녕", "오늘 면접 봤어")
    (day,) = json.loads(run("usage", "--user", "kim", "--json").stdout)["days"]
    assert day["calls"] == 2
    heading, shown = run("usage", "--user", "kim", "--days", "1").stdout.splitlines()
    assert heading.split()[:2] == ["DAY", "(UTC)"]
    tokens = day["inputTokens"] + day["outputTokens"]
    assert shown.split() == [
        day["day"],
        "2",
        f"{day['inputTokens']:,}",
        f"{day['outputTokens']:,}",
        f"{tokens:,}",
    ]
    assert run("usage", "--user", "kim", "--lang", "ko").stdout.startswith("날짜(UTC)")
    assert run("usage", "--user", "lee").stdout == "no language model was used\n"


def test_an_invalid_number_of_days_is_refused(run: Run, url: str) -> None:
    for days in ("0", "367"):
        refused = run("usage", "--user", "kim", "--days", days)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "must be 1 to 366" in refused.stderr
