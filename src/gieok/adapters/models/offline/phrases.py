"""What the offline model can say: three voices, each with a few ways to say the same.

`{topic:은/는}` puts the particle behind the topic that its last sound asks for.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from gieok.adapters.models.offline.emotion import Emotion
from gieok.adapters.models.offline.smalltalk import SmallTalk
from gieok.text.hangul import particle


class Noun(str):
    """A word that takes its Korean particle from the format: f"{Noun('면접'):이/가}" is 면접이.

    In English `the` puts the article before it, unless it is a name.
    """

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        if spec == "the":
            return f"the {self}" if self[:1].islower() else str(self)
        return f"{self!s}{particle(self, spec)}" if spec else str(self)


@dataclass(frozen=True, slots=True)
class Phrases:
    """One voice. Each value is a set of ways to say the same; `one` chooses among them."""

    emotions: dict[Emotion, tuple[str, ...]]
    small_talk: dict[SmallTalk, tuple[str, ...]]
    past: tuple[str, ...]
    plan: tuple[str, ...]
    liking: tuple[str, ...]
    topic: tuple[str, ...]
    burden: tuple[str, ...]
    unsure: tuple[str, ...]
    listening: tuple[str, ...]
    how_was: str
    how_was_aside: str
    is_coming: str
    how_now: str
    of_course: str
    name: str
    fact: str
    slots: Mapping[str, str]
    """What a fact is called whose key is one of the slots."""


def one(choices: tuple[str, ...], said: str) -> str:
    """One of `choices`, always the same for the same words."""
    return choices[zlib.crc32(said.encode("utf-8", "replace")) % len(choices)]


_KOREAN_SLOTS = {"name": "이름", "home": "사는 곳", "job": "하는 일", "birthday": "생일", "age": "나이"}

CASUAL = Phrases(
    emotions={
        Emotion.JOY: ("와, 정말 잘됐다!", "듣는 나도 기분 좋다!", "우와, 너무 좋다!"),
        Emotion.SADNESS: ("많이 속상했겠다…", "마음이 아프네…", "그랬구나… 많이 힘들었지."),
        Emotion.STRESS: ("많이 힘들었겠다…", "고생이 많네…", "에고, 마음고생 많았겠다."),
        Emotion.CALM: ("편안해 보여서 좋다.", "그래, 다행이다.", "듣기만 해도 마음이 놓인다."),
        Emotion.EXCITEMENT: ("와, 나까지 설렌다!", "우와, 진짜 두근거리겠다!", "오, 기대된다!"),
    },
    small_talk={
        SmallTalk.GREETING: (
            "안녕! 오늘은 어떻게 지냈어?",
            "왔구나! 오늘 하루 어땠어?",
            "안녕! 보고 싶었어. 별일 없었어?",
        ),
        SmallTalk.FAREWELL: (
            "응, 푹 쉬어! 또 얘기하자.",
            "그래, 잘 들어가! 다음에 또 봐.",
            "오늘도 고생했어. 잘 자!",
        ),
        SmallTalk.THANKS: (
            "에이, 별거 아니야. 언제든 말해 줘!",
            "나야말로 얘기해 줘서 고마워.",
            "도움이 됐다니 다행이다!",
        ),
        SmallTalk.APOLOGY: (
            "괜찮아, 신경 쓰지 마.",
            "에이, 괜찮아! 그럴 수도 있지.",
            "아니야, 마음 쓰지 마.",
        ),
        SmallTalk.ASSENT: ("응응, 더 얘기해 줘.", "그치? 그래서 어떻게 됐어?", "응, 듣고 있어."),
    },
    past=("{topic:은/는} 어땠어?", "{topic} 얘기 더 들려줘.", "{topic:은/는} 마음에 들었어?"),
    plan=(
        "{topic} 준비는 잘 돼 가?",
        "{topic}, 어떤 마음으로 기다리고 있어?",
        "{topic:이/가} 잘됐으면 좋겠다. 언제야?",
    ),
    liking=("{topic:은/는} 어떤 점이 제일 좋아?", "{topic:을/를} 언제부터 좋아했어?"),
    topic=("{topic} 얘기 더 들려줘.", "{topic} 얘기 좀 더 해 줄래?", "{topic} 얘기, 자세히 듣고 싶어."),
    burden=(
        "{topic} 때문에 마음이 많이 무거워?",
        "{topic} 얘기, 편하게 털어놔도 돼.",
        "{topic} 얘기, 내가 다 들어줄게.",
    ),
    unsure=(
        "음, {topic:은/는} 나도 잘 모르겠어. 너는 어떻게 생각해?",
        "{topic:은/는} 아직 잘 모르겠네. 네 얘기를 더 듣고 싶어.",
    ),
    listening=("응, 더 얘기해 줘.", "그랬구나. 그래서 어떻게 됐어?", "응, 듣고 있어. 편하게 말해 줘."),
    how_was="{when} {event} 어땠어?! 정말 궁금하다!",
    how_was_aside="참, {when} {event:은/는} 어땠어?",
    is_coming="{when} {event:이지/지}? 준비는 잘 돼 가?",
    how_now="요즘은 좀 어때? 지난번에 많이 힘들어 보였는데…",
    of_course="그럼, 기억하지!",
    name="나는 {name:이야/야}!",
    fact="{key:은/는} {value:이잖아/잖아}.",
    slots=_KOREAN_SLOTS,
)

POLITE = Phrases(
    emotions={
        Emotion.JOY: ("와, 정말 잘됐네요!", "듣는 저도 기분이 좋아요!", "우와, 너무 좋네요!"),
        Emotion.SADNESS: ("많이 속상하셨겠어요…", "마음이 아프네요…", "그러셨군요… 많이 힘드셨죠."),
        Emotion.STRESS: ("많이 힘드셨겠어요…", "고생이 많으세요…", "마음고생이 많으셨겠어요."),
        Emotion.CALM: ("편안해 보여서 좋아요.", "그러시다니 다행이에요.", "듣기만 해도 마음이 놓여요."),
        Emotion.EXCITEMENT: ("와, 저까지 설레네요!", "정말 두근거리시겠어요!", "오, 기대되네요!"),
    },
    small_talk={
        SmallTalk.GREETING: ("안녕하세요! 오늘은 어떻게 지내셨어요?", "반가워요! 오늘 하루 어떠셨어요?"),
        SmallTalk.FAREWELL: ("네, 푹 쉬세요! 또 이야기해요.", "오늘도 고생하셨어요. 다음에 또 봬요!"),
        SmallTalk.THANKS: ("별말씀을요. 언제든 말씀해 주세요!", "저야말로 이야기해 주셔서 고마워요."),
        SmallTalk.APOLOGY: ("괜찮아요, 신경 쓰지 마세요.", "아니에요, 그럴 수도 있죠."),
        SmallTalk.ASSENT: ("네, 더 이야기해 주세요.", "그렇죠? 그래서 어떻게 되셨어요?"),
    },
    past=("{topic:은/는} 어떠셨어요?", "{topic} 이야기 더 들려주세요.", "{topic:은/는} 마음에 드셨어요?"),
    plan=("{topic:은/는} 준비 잘 되고 있어요?", "{topic:이/가} 잘되면 좋겠어요. 언제예요?"),
    liking=("{topic:은/는} 어떤 점이 제일 좋으세요?", "{topic:을/를} 언제부터 좋아하셨어요?"),
    topic=(
        "{topic} 이야기 더 들려주세요.",
        "{topic} 이야기 좀 더 해 주실래요?",
        "{topic} 이야기, 자세히 듣고 싶어요.",
    ),
    burden=("{topic} 때문에 마음이 많이 무거우세요?", "{topic} 이야기, 편하게 털어놓으셔도 돼요."),
    unsure=(
        "음, {topic:은/는} 저도 잘 모르겠어요. 어떻게 생각하세요?",
        "{topic:은/는} 아직 잘 모르겠네요. 이야기를 더 듣고 싶어요.",
    ),
    listening=(
        "네, 더 이야기해 주세요.",
        "그러셨군요. 그래서 어떻게 되셨어요?",
        "네, 듣고 있어요. 편하게 말씀해 주세요.",
    ),
    how_was="{when} {event} 어떠셨어요?! 정말 궁금했어요!",
    how_was_aside="참, {when} {event:은/는} 어떠셨어요?",
    is_coming="{when} {event:이죠/죠}? 준비는 잘 되고 있어요?",
    how_now="요즘은 좀 어떠세요? 지난번에 많이 힘들어 보이셨는데…",
    of_course="그럼요, 기억하죠!",
    name="저는 {name:이에요/예요}!",
    fact="{key:은/는} {value:이잖아요/잖아요}.",
    slots=_KOREAN_SLOTS,
)

ENGLISH = Phrases(
    emotions={
        Emotion.JOY: ("That's wonderful!", "I'm so happy for you!", "That makes me smile!"),
        Emotion.SADNESS: ("I'm so sorry…", "That sounds really painful…", "Oh no, that must hurt."),
        Emotion.STRESS: (
            "That sounds really hard…",
            "You've had a lot on your plate.",
            "No wonder you feel that way.",
        ),
        Emotion.CALM: (
            "That sounds peaceful.",
            "I'm glad you can breathe a little.",
            "Moments like that are precious.",
        ),
        Emotion.EXCITEMENT: (
            "Wow, how exciting!",
            "I can feel your excitement!",
            "Oh, I can't wait to hear more!",
        ),
    },
    small_talk={
        SmallTalk.GREETING: ("Hi! How has your day been?", "Hey, good to see you! How are you today?"),
        SmallTalk.FAREWELL: ("Take care! Talk to you soon.", "Rest well! I'll be here."),
        SmallTalk.THANKS: ("Any time! I'm glad it helped.", "Of course! Thank you for telling me."),
        SmallTalk.APOLOGY: ("It's all right, don't worry about it.", "No harm done, really."),
        SmallTalk.ASSENT: ("Mm-hm, tell me more.", "Right? So what happened next?"),
    },
    past=("How did you like {topic:the}?", "Tell me more about {topic:the}."),
    plan=("How are you feeling about {topic:the}?", "Is there anything left to prepare for {topic:the}?"),
    liking=("What do you like most about {topic}?", "When did you first get into {topic}?"),
    topic=("Tell me more about {topic:the}.", "I'd love to hear more about {topic:the}."),
    burden=("Do you want to talk about {topic:the}?", "Has {topic:the} been weighing on you?"),
    unsure=(
        "I'm not sure about {topic:the}, to be honest. What do you think?",
        "I can't say much about {topic:the} yet. Can you?",
    ),
    listening=("I'm listening. Tell me more.", "I see. What happened then?", "Go on, I'm all ears."),
    how_was="How did the {event} go {when}?! I've been dying to hear!",
    how_was_aside="Oh, and how did the {event} go {when}?",
    is_coming="The {event} is {when}, right? How are you feeling about it?",
    how_now="How have you been lately? You seemed to be having a hard time…",
    of_course="Of course!",
    name="I'm {name}!",
    fact="Your {key} is {value}.",
    slots={slot: slot for slot in _KOREAN_SLOTS},
)
