"""The talk, what came back of it, and what it changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

import click

from gieok.interfaces.cli.columns import pad, width
from gieok.interfaces.cli.demo.show.lines import INDENT, fields, indented, joined, note
from gieok.interfaces.cli.demo.story import Story
from gieok.interfaces.cli.demo.talking import CanonChange, Exchange, Talk
from gieok.interfaces.cli.wording import Say
from gieok.memory.canon.records import FactVersion, PersonaCard
from gieok.memory.companion.records import Memory, MemoryHit, Signal
from gieok.text import terms

_SHORT_HASH = 12
_PUNCTUATION = "!?.,"


def show_talks(story: Story, talks: Sequence[Talk], say: Say) -> Iterator[str]:
    for talk in talks:
        yield click.style(f"{INDENT}{talk.exchanges[0].turn.record.started_at:%Y-%m-%d}", dim=True)
        for exchange in talk.exchanges:
            yield from said(story, say, exchange.message, exchange.turn.reply)
        yield from _memory(story, say, talk.memory)


def said(story: Story, say: Say, message: str, reply: str) -> Iterator[str]:
    """What the user said and what the character answered."""
    yield from indented(message, _name(story, say, say("user")))
    yield from indented(reply, _name(story, say, story.character))


def _name(story: Story, say: Say, who: str) -> str:
    """Who speaks. Everybody's words begin in the same column."""
    wide = max(width(name) for name in (say("user"), story.character, say("memory")))
    return f"{pad(who, wide)}  "


def _memory(story: Story, say: Say, memory: Memory) -> Iterator[str]:
    about = say(
        "memory.about",
        topics=", ".join(memory.topics),
        emotion=memory.emotion.korean if say.lang == "ko" else memory.emotion,
        importance=memory.importance,
    )
    hanging = _name(story, say, say("memory"))
    for line in (*indented(memory.summary, hanging), *indented(about, " " * width(hanging))):
        yield click.style(line, fg="green")


def show_recall(story: Story, exchange: Exchange, say: Say) -> Iterator[str]:
    turn = exchange.turn
    yield from note(say("recall.lead", messages=len(turn.prompt.messages) - 1))
    yield from indented(exchange.message, _name(story, say, say("user")))
    for rank, hit in enumerate(turn.recalled, start=1):
        hanging = f"{say('recall.rank', rank=rank)}  "
        yield from (click.style(line, fg="green") for line in indented(hit.memory.summary, hanging))
        under = " " * width(hanging)
        yield from indented(_reason(exchange.message, hit, say), under)
        yield from joined(list(_signals(hit, say)), under + say("recall.score", score=hit.score), " + ")
    yield from note(say("recall.sum"))
    for line in indented(turn.reply, _name(story, say, story.character)):
        yield click.style(line, bold=True)


def _reason(question: str, hit: MemoryHit, say: Say) -> str:
    """The memory's age, and each word of the question with the term that they have in common."""
    if hit.why.filled:
        return say("recall.filled", days=hit.why.age_days)
    common = {term for word in hit.why.matched_words for term in terms(word)}
    led = (
        f"{word.strip(_PUNCTUATION)} → {term}"
        for word in question.split()
        for term in terms(word)
        if term in common
    )
    return say("recall.words", days=hit.why.age_days, words=", ".join(led))


def _signals(hit: MemoryHit, say: Say) -> Iterator[str]:
    """What each signal adds to the score, the most first."""

    def adds(signal: Signal) -> float:
        return signal.value * signal.weight

    for name, signal in sorted(hit.why.signals.items(), key=lambda each: adds(each[1]), reverse=True):
        yield f"{_plain(name, say)} {signal.value:.2g}×{signal.weight:g}"


def _plain(signal: str, say: Say) -> str:
    key = f"signal.{signal}"
    return say(key) if key in say.lines else signal


def show_canon(story: Story, change: CanonChange, say: Say) -> Iterator[str]:
    yield from said(story, say, change.exchange.message, change.exchange.turn.reply)
    before, after = _facts(change.before), _facts(change.after)
    yield from _block(say("canon.before"), before, others=after, color="red")
    yield from _block(say("canon.after"), after, others=before, color="green")
    old, new = change.persona_before, change.persona_after
    versions = " → ".join(_version(version, say) for version in change.versions)
    hashes = f"{_digest(old)} → {_digest(new)}"
    same = say("canon.same" if old.model_dump_json() == new.model_dump_json() else "canon.differs")
    yield from fields({say("canon.history"): versions, say("canon.persona"): f"{hashes} ({same})"})


def _facts(block: str) -> list[str]:
    """The facts of a state block, without what it tells the model about them."""
    return [line for line in block.splitlines() if line.startswith("- ")]


def _block(title: str, facts: Sequence[str], *, others: Sequence[str], color: str) -> Iterator[str]:
    """A block; what the other one does not have stands out."""
    yield f"{INDENT}{title}"
    for fact in facts:
        yield f"{INDENT}  {fact}" if fact in others else click.style(f"{INDENT}  {fact}", fg=color)


def _version(version: FactVersion, say: Say) -> str:
    key = "canon.active" if version.is_active else "canon.past"
    return say(key, version=version.version, value=version.value, at=version.valid_from)


def _digest(persona: PersonaCard) -> str:
    digest = sha256(persona.model_dump_json().encode()).hexdigest()
    return f"v{persona.version} sha256 {digest[:_SHORT_HASH]}"
