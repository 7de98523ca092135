"""Results of the acts as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import click

from gieok.engine import CycleRecord, ExecutionPlan
from gieok.interfaces.cli.decision.impact import labels, tree
from gieok.interfaces.cli.demo.acts import (
    DecisionImpact,
    Exchange,
    FactChange,
    FileSearch,
    MemoryRow,
    Talk,
)
from gieok.interfaces.cli.demo.kill import KilledTurn
from gieok.interfaces.cli.demo.story import Story
from gieok.interfaces.cli.output import pad, width, wrap
from gieok.interfaces.cli.texts import Translator
from gieok.memory.canon.records import FactVersion, PersonaCard
from gieok.memory.companion.hits import Hit
from gieok.memory.companion.steps.recall import RecallMemories
from gieok.memory.signals import Signal
from gieok.text import terms

COLUMNS = 90
INDENT = "   "
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHORT_HASH = 12
_SHOWN_BYTES = 20
_SHOWN_TOKENS = 2
_PUNCTUATION = "!?.,"


def show_title(t: Translator) -> Iterator[str]:
    yield click.style(f"── {t('demo.title')} " + "─" * 24, bold=True)
    yield from _note(t("demo.lead"))


def heading(number: int | None, text: str) -> Iterator[str]:
    yield ""
    yield click.style(f"{number}  {text}" if number else text, fg="cyan", bold=True)


def show_talks(story: Story, talks: Sequence[Talk], t: Translator) -> Iterator[str]:
    """Act 1: the conversations and the memory of each."""
    for talk in talks:
        yield click.style(f"{INDENT}{talk.exchanges[0].turn.record.started_at:%Y-%m-%d}", dim=True)
        for exchange in talk.exchanges:
            yield from _messages(story, t, exchange.message, exchange.turn.reply)
        memory = talk.memory
        about = t(
            "demo.memory.about",
            topics=", ".join(memory.topics),
            emotion=memory.emotion.korean if t.lang == "ko" else memory.emotion,
            importance=memory.importance,
        )
        name = _speaker(story, t, t("demo.memory"))
        for line in (*_indented(memory.summary, name), *_indented(about, " " * width(name))):
            yield click.style(line, fg="green")


def show_disk(row: MemoryRow, search: FileSearch, t: Translator) -> Iterator[str]:
    """Act 2: the encrypted row of a memory, and the search for plain text in all files."""
    yield from _note(t("demo.disk.lead"))
    at = _EPOCH + timedelta(microseconds=row.occurred_at)
    tokens = " ".join(f"{token & (2**64 - 1):016x}" for token in row.tokens[:_SHOWN_TOKENS])
    values = {
        "id": str(row.id),
        "plain": f"owner {row.owner} · persona {row.persona_id} · importance {row.importance} · "
        f"occurred_at {at:%Y-%m-%d %H:%M} UTC",
        "content": t("demo.disk.sealed", hex=row.content[:_SHOWN_BYTES].hex(), size=len(row.content)),
        "index": t("demo.disk.tokens", tokens=tokens, count=len(row.tokens)),
    }
    yield from (click.style(line, fg="yellow") for line in _fields(values))
    yield from _note(t("demo.disk.scan", files=search.files, size=search.size))
    yield from joined([f"{text} {times}" for text, times in search.matches.items()], "  ")
    yield from _note(t("demo.disk.control"))


def show_recall(story: Story, exchange: Exchange, t: Translator) -> Iterator[str]:
    """Act 3: the best recalled hit of each kind with its score, the signals of the first, and the reply."""
    turn = exchange.turn
    yield from _note(t("demo.recall.lead", messages=len(turn.prompt.messages) - 1))
    yield from _indented(exchange.message, _speaker(story, t, t("demo.user")))
    shown = _best_of_each_kind(turn.recalled)
    for place, (rank, hit) in enumerate(shown.items()):
        prefix = f"{t('demo.recall.rank', rank=rank)}  "
        yield from (click.style(line, fg="green") for line in _indented(hit.text, prefix))
        below = " " * width(prefix)
        yield from _indented(_matched_words(exchange.message, hit, t), below)
        score = t("demo.recall.score", score=hit.score)
        yield from (
            _indented(score, below) if place else joined(list(_signals(hit, t)), f"{below}{score} = ", " + ")
        )
    yield from _note(t("demo.recall.sum", more=len(turn.recalled) - len(shown)))
    for line in _indented(turn.reply, _speaker(story, t, story.character)):
        yield click.style(line, bold=True)


def _best_of_each_kind(hits: Sequence[Hit]) -> Mapping[int, Hit]:
    """The first hit of each kind, by its rank among all hits."""
    first: dict[str, tuple[int, Hit]] = {}
    for rank, hit in enumerate(hits, start=1):
        first.setdefault(hit.kind, (rank, hit))
    return dict(first.values())


def _matched_words(question: str, hit: Hit, t: Translator) -> str:
    """Kind and age of the hit, and each matching word of the question with its index term."""
    kind = t(f"demo.kind.{hit.kind}")
    if hit.why.filled:
        return t("demo.recall.filled", kind=kind, days=hit.why.age_days)
    common = {term for word in hit.why.matched_words for term in terms(word)}
    matches = (
        f"{word.strip(_PUNCTUATION)} → {term}"
        for word in question.split()
        for term in terms(word)
        if term in common
    )
    return t("demo.recall.words", kind=kind, days=hit.why.age_days, words=", ".join(matches))


def _signals(hit: Hit, t: Translator) -> Iterator[str]:
    """Value and weight of each signal, highest contribution first."""

    def contribution(signal: Signal) -> float:
        return signal.value * signal.weight

    for name, signal in sorted(hit.why.signals.items(), key=lambda each: contribution(each[1]), reverse=True):
        yield f"{t(f'demo.signal.{name}')} {signal.value:.2g}×{signal.weight:g}"


def show_canon(story: Story, change: FactChange, t: Translator) -> Iterator[str]:
    """Act 4: the state before and after, the versions of the fact, and the unchanged persona."""
    yield from _messages(story, t, change.exchange.message, change.exchange.turn.reply)
    before, after = _facts(change.before), _facts(change.after)
    yield from _state(t("demo.canon.before"), before, others=after, color="red")
    yield from _state(t("demo.canon.after"), after, others=before, color="green")
    old, new = change.persona_before, change.persona_after
    same = t("demo.canon.same" if old.model_dump_json() == new.model_dump_json() else "demo.canon.differs")
    yield from _fields(
        {
            t("demo.canon.history"): " → ".join(_version(version, t) for version in change.versions),
            t("demo.canon.persona"): f"{_digest(old)} → {_digest(new)} ({same})",
        }
    )


def _facts(block: str) -> list[str]:
    """The lines of a state block that are facts, without the instructions for the model."""
    return [line for line in block.splitlines() if line.startswith("- ")]


def _state(title: str, facts: Sequence[str], *, others: Sequence[str], color: str) -> Iterator[str]:
    """The facts of a state block. Those that the other block lacks are coloured."""
    yield f"{INDENT}{title}"
    for fact in facts:
        yield f"{INDENT}  {fact}" if fact in others else click.style(f"{INDENT}  {fact}", fg=color)


def _version(version: FactVersion, t: Translator) -> str:
    key = "demo.canon.active" if version.is_active else "demo.canon.past"
    return t(key, version=version.version, value=version.value, at=version.valid_from)


def _digest(persona: PersonaCard) -> str:
    digest = sha256(persona.model_dump_json().encode()).hexdigest()
    return f"v{persona.version} sha256 {digest[:_SHORT_HASH]}"


def show_impact(result: DecisionImpact, t: Translator) -> Iterator[str]:
    """Act 5: the decisions that a change of the first one affects, as a tree."""
    yield from _note(t("demo.decide.lead"))
    for line in tree(result.impact, labels(result.decisions)):
        without_id, _, _ = line.rpartition("  ")
        yield f"{INDENT}{without_id}"
    reached = result.impact.nodes
    far = max((node.distance for node in reached), default=0)
    others = len(result.decisions) - 1
    yield from _note(t("demo.decide.reached", reached=len(reached), others=others, far=far))


def show_killed_turn(story: Story, killed: KilledTurn, t: Translator) -> Iterator[str]:
    """Act 6: the killed turn, and the row counts that show that nothing of it was stored."""
    process = killed.process
    yield from _note(t("demo.kill.lead"))
    yield from _messages(story, t, killed.message, process.reply)
    for line in _indented(t("demo.kill.dead", ended_by=process.ended_by, messages=process.messages)):
        yield click.style(line, fg="red", bold=True)
    changed = sum(killed.before[table] != killed.after.get(table) for table in killed.before)
    yield from _note(t("demo.kill.changed", changed=changed, tables=len(killed.before)))
    counts = [
        f"{table} {killed.before[table]} → {killed.after[table]} → {rows}"
        for table, rows in killed.again.items()
        if rows != killed.after[table]
    ]
    yield from joined(counts, "  ")


def show_plan(plan: ExecutionPlan, record: CycleRecord, t: Translator) -> Iterator[str]:
    """Act 7: the steps of each stage with their times, and the numbers of the recall step."""
    lead = t(
        "demo.plan.lead",
        name=plan.name,
        version=plan.version,
        hash=plan.hash[:_SHORT_HASH],
        commit=record.commit_ms,
        total=record.duration_ms,
    )
    yield from _note(lead)
    times = {step.id: f"{step.duration_ms:.1f}" for step in record.steps}
    stages: dict[str, list[str]] = {}
    for step in plan.steps:
        stages.setdefault(step.stage, []).append(f"{step.type} {times[step.id]}")
    wide = max(map(len, stages))
    for stage, steps in stages.items():
        yield from joined(steps, f"{pad(stage, wide)}  ")
    recall = next(step for step in plan.steps if step.type == RecallMemories.type)
    numbers = (
        f"{name} {value:g}"
        for name, value in recall.metadata.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
    yield from _indented(", ".join(numbers), f"{pad(recall.type, wide)}  ")


def columns(values: Mapping[str, str]) -> Iterator[str]:
    """A name and a value on each line, in two columns."""
    wide = max(map(width, values))
    for name, value in values.items():
        yield f"{INDENT}{pad(name, wide)}  {value}"


def joined(parts: Sequence[str], prefix: str = "", separator: str = " · ") -> Iterator[str]:
    """Join parts into as few lines as possible without breaking a part. Later lines are indented."""
    room = COLUMNS - len(INDENT) - width(prefix + separator.rstrip())
    line = ""
    start = prefix
    for part in parts:
        longer = f"{line}{separator}{part}" if line else part
        if line and width(longer) > room:
            yield f"{INDENT}{start}{line}{separator}".rstrip()
            line, start = part, " " * width(prefix)
        else:
            line = longer
    yield f"{INDENT}{start}{line}"


def _messages(story: Story, t: Translator, message: str, reply: str) -> Iterator[str]:
    yield from _indented(message, _speaker(story, t, t("demo.user")))
    yield from _indented(reply, _speaker(story, t, story.character))


def _speaker(story: Story, t: Translator, name: str) -> str:
    """A name, padded so that all texts begin in the same column."""
    wide = max(width(each) for each in (t("demo.user"), story.character, t("demo.memory")))
    return f"{pad(name, wide)}  "


def _indented(text: str, prefix: str = "") -> Iterator[str]:
    """Wrap a text. The first line begins with `prefix`; later lines are indented by its width."""
    indent = " " * width(prefix)
    for number, line in enumerate(wrap(text, COLUMNS - len(INDENT) - len(indent))):
        yield f"{INDENT}{indent if number else prefix}{line}"


def _note(text: str) -> Iterator[str]:
    """An explanation, dimmed."""
    return (click.style(line, dim=True) for line in _indented(text))


def _fields(values: Mapping[str, str]) -> Iterator[str]:
    """A name and a wrapped value on each line."""
    wide = max(map(width, values))
    for name, value in values.items():
        yield from _indented(value, f"  {pad(name, wide)}  ")
