"""Two friendships in two languages, told in small turns, and what their people ask later.

A question names the turn that answers it. Each session is a day; turns of one follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from gieok.memory.companion.records import Memory
from gieok.testing.contracts.companion import memory

NOW = datetime(2026, 1, 14, 12, 0, tzinfo=UTC)
"""A Wednesday."""

_SESSIONS = {
    "2024-07-20": """
        harbour Mina: We rented a small boat and sailed around the harbour all afternoon.
        seasick Joon: I was seasick the whole time, so never again for me.
        photos Mina: The pictures came out lovely, the light was golden.
    """,
    "2025-05-10": """
        pottery Mina: I finished my first pottery course and brought home a crooked bowl.
        bowl_asks Joon: A bowl, really? What colour is the bowl?
        glaze Mina: Deep green, with a bit of blue running down the side.
        eat Joon: You should eat soup out of it every day.
    """,
    "2025-07-12": """
        lake Joon: My brother and I went camping by the lake, it rained for two days.
        tent Joon: The tent leaked and we slept in the car.
        smores Mina: At least tell me that you had marshmallows.
    """,
    "2025-09-03": """
        job Mina: The bookstore downtown hired me, I start on Monday.
        hours Mina: Four days a week, and the afternoons are free.
        glad Joon: That suits you so much better than the bank.
    """,
    "2025-11-21": """
        knee Joon: I hurt my knee at football practice and cannot run for a month.
        doctor_asks Mina: Did the doctor look at your knee?
        scan Joon: She did, nothing is torn, only rest and ice.
        swim Mina: Then come swimming with me instead.
    """,
    "2026-01-07": """
        guitar Joon: I sold my old guitar to pay for the dentist.
        piano Mina: I still practise the piano before breakfast.
        neighbours_complain Mina: The people downstairs complain about it, of course.
    """,
    "2026-01-13": """
        cake Mina: I burnt the lemon cake for my aunt's birthday.
        bakery Joon: There is a bakery by the station that saves lives.
    """,
    "2024-08-15": """
        제주 지영: 가족이랑 제주도에서 일주일 동안 지냈어.
        한라산 지영: 한라산 정상까지 올라갔는데 다리가 후들거렸어.
        귤 민수: 귤 농장에도 들렀다며, 부럽다.
    """,
    "2025-03-02": """
        이사 민수: 나 드디어 합정동으로 이사했어.
        집주인 민수: 집주인이 고양이를 키워도 된다고 했어.
        고양이_물음 지영: 고양이 이름은 뭐라고 지을 거야?
        두부 민수: 털이 하얘서 두부라고 부르려고.
    """,
    "2025-08-09": """
        영화 지영: 어두운 데서 영화 관람하는 게 제일 좋아.
        팝콘 민수: 나는 팝콘 먹으러 가는 거지.
        바다 지영: 여름휴가로 강릉 바다에 다녀왔어.
    """,
    "2025-10-18": """
        면접 지영: 판교에 있는 회사에서 면접을 봤어.
        떨림 지영: 목소리가 떨려서 준비한 말을 반도 못 했어.
        결과_물음 민수: 면접 결과는 언제 나온대?
        결과 지영: 다음 주 금요일에 전화로 알려 준대.
    """,
    "2025-12-05": """
        찌개 민수: 엄마가 끓여 준 김치찌개가 너무 그리워.
        요리법 지영: 돼지고기를 먼저 볶다가 묵은지를 넣어 봐.
        실패 민수: 해 봤는데 너무 짜서 버렸어.
    """,
    "2026-01-06": """
        감기 지영: 독감에 걸려서 사흘 동안 누워만 있었어.
        죽 민수: 전복죽 사다 줄게, 문 앞에 둘게.
    """,
    "2026-01-13 ko": """
        시계 민수: 할아버지가 주신 손목시계를 잃어버렸어.
        분실물 지영: 지하철 분실물 센터에 물어봤어?
        승진 지영: 나 팀장으로 승진했어!
    """,
    "2025-06-01": """
        park Mina: We walked the dog in the park.
        park_again Joon: A quiet day, nothing happened.
        산책 민수: 공원에서 산책만 했어.
        날씨 지영: 날씨가 흐려서 집에 있었어.
        coffee Joon: The coffee machine at work is broken.
        회의 지영: 회의가 길어져서 점심을 못 먹었어.
        laundry Mina: I did three loads of laundry.
        청소 민수: 주말 내내 청소를 했어.
    """,
}

QUESTIONS = {
    "Where did Mina sail?": "harbour",
    "Who got seasick?": "seasick",
    "Which course did Mina finish?": "pottery",
    "What colour is the bowl that Mina made?": "glaze",
    "Where did Joon go camping?": "lake",
    "What was wrong with the tent?": "tent",
    "Which shop hired Mina?": "job",
    "How many days does Mina work?": "hours",
    "What happened to Joon's knee?": "knee",
    "What did the doctor say about the knee?": "scan",
    "What did Joon sell?": "guitar",
    "When does Mina practise the piano?": "piano",
    "Who complains about the piano?": "neighbours_complain",
    "What did Mina burn?": "cake",
    "Where can I find a bakery?": "bakery",
    "지영이는 어디서 일주일을 지냈지?": "제주",
    "지영이가 올라간 산은?": "한라산",
    "민수는 어디로 이사했어?": "이사",
    "고양이를 뭐라고 부르지?": "두부",
    "집주인이 뭐라고 했더라": "집주인",
    "지영이 휴가는 어디로 갔지?": "바다",
    "지영이가 면접을 본 회사는 어디야?": "면접",
    "면접 결과는 어떻게 알려 준대?": "결과",
    "민수가 그리워하는 음식": "찌개",
    "묵은지는 언제 넣어?": "요리법",
    "지영이가 무슨 병에 걸렸지?": "감기",
    "민수가 잃어버린 것": "시계",
    "지영이는 무엇으로 승진했어?": "승진",
    "누가 전복죽을 사다 준대?": "죽",
    "귤 농장": "귤",
}
"""Asked with everything that recall knows, these are answered first or second."""


def memories() -> dict[str, Memory]:
    """Every turn by its name."""
    return dict(_turns())


def _turns() -> Iterator[tuple[str, Memory]]:
    for session, turns in sorted(_SESSIONS.items()):
        start = datetime.fromisoformat(session[:10]).replace(hour=9, tzinfo=UTC)
        for minute, line in enumerate(turns.strip().splitlines()):
            label, _, text = line.strip().partition(": ")
            name, _, speaker = label.partition(" ")
            at = start + timedelta(minutes=minute)
            session_ref = session.replace(" ", "-")
            yield (
                name,
                memory(
                    text,
                    session_ref=session_ref,
                    speaker=speaker,
                    created_at=at,
                    occurred_at=at,
                    importance=5,
                ),
            )
