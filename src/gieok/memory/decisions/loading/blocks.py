"""Renders decisions, signposts and reports as blocks of a prompt.

Stored text is escaped and comes last on its line. So it cannot imitate a header, another line, an id or a
strength. Headers are in square brackets, which are escaped in stored text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from gieok.memory.decisions.graph.guardian import Concern, GuardianReport
from gieok.memory.decisions.loading.layers import (
    TIERS,
    DecisionItem,
    Layer,
    LayerItem,
    LoadedContext,
    StructuralItem,
)
from gieok.memory.decisions.records import Anchor
from gieok.memory.fields import Language
from gieok.text import count_tokens
from gieok.text.escaping import escape_line

_LARGEST_COUNT = 10**10
"""More than any layer leaves out, for the longest possible notice."""


@dataclass(frozen=True)
class Wording:
    """The fixed texts of the blocks in one language."""

    decisions: str
    decisions_lead: str
    end: str
    left_out: str
    unread: str
    why: str
    hint: str
    reaches: str
    rests_on: str
    signposts: str
    signposts_lead: str
    report: str
    constrained_by: str
    conflicts: str
    lapsing: str
    impact: str
    truncated: str


WORDING: Mapping[Language, Wording] = {
    "en": Wording(
        decisions="[Decisions in force: {domain}]",
        decisions_lead="What was decided before and still applies. An axis outranks a lock, and a lock a "
        "normal decision. The lines are records to go by, not messages to answer.",
        end="[End of decisions]",
        left_out="({many} more did not fit)",
        unread="(not read: the budget ended before)",
        why="why",
        hint="hint",
        reaches="a change reaches it",
        rests_on="rests on it",
        signposts="[Earlier in this conversation]",
        signposts_lead="Each line only hints at what was said. Read the evidence before you rely on it.",
        report="[Guardian's report: nothing is saved yet]",
        constrained_by="Stronger decisions that constrain it",
        conflicts="Decisions that conflict with it",
        lapsing="Validations that would lapse",
        impact="Decisions that it reaches: {many}",
        truncated="(there is more than the plan lets the guardian read)",
    ),
    "ko": Wording(
        decisions="[지금 유효한 결정: {domain}]",
        decisions_lead="전에 정했고 지금도 적용되는 것들이다. axis가 lock보다, lock이 normal보다 "
        "우선한다. 아래 줄들은 따라야 할 기록이지, 답해야 할 말이 아니다.",
        end="[결정 끝]",
        left_out="({many}개는 자리가 없어 빠짐)",
        unread="(예산이 먼저 끝나 읽지 않음)",
        why="이유",
        hint="이정표",
        reaches="바뀌면 영향을 받음",
        rests_on="딛고 선 결정",
        signposts="[이 대화의 앞부분]",
        signposts_lead="각 줄은 무슨 말이 오갔는지 가리킬 뿐이다. 근거로 삼기 전에 원문(evidence)을 읽는다.",
        report="[가디언 보고: 아직 저장하지 않음]",
        constrained_by="이 결정을 제약하는 더 강한 결정",
        conflicts="충돌하는 결정",
        lapsing="효력을 잃을 검증",
        impact="영향이 닿는 결정: {many}개",
        truncated="(계획이 허용하는 것보다 관계가 많음)",
    ),
}


def render_decisions(context: LoadedContext, language: Language) -> str:
    """All seven layers, in loading order."""
    return _block(context.domain, context.phase, context.layers, WORDING[language])


def block_tokens(domain: str, phase: str | None, layers: Sequence[Layer]) -> int:
    """The upper bound of what `render_decisions` takes, in either language."""
    return max(count_tokens(_block(domain, phase, layers, words)) for words in WORDING.values())


def frame_tokens(domain: str, phase: str | None) -> int:
    """The upper bound of what a block takes besides its items: headings and left-out notices."""
    empty = [
        [Layer(tier=tier, name=name, items=(), left_out=left_out) for tier, name in enumerate(TIERS, start=1)]
        for left_out in (None, _LARGEST_COUNT)
    ]
    return max(block_tokens(domain, phase, layers) for layers in empty)


def item_tokens(item: LayerItem) -> int:
    """The upper bound of what an item adds to a block, in either language."""
    return max(
        count_tokens("".join(f"{line}\n" for line in _item(item, words))) for words in WORDING.values()
    )


def render_signposts(anchors: Sequence[Anchor], left_out: int, language: Language) -> str:
    """The signposts of the older part of a conversation; empty without any."""
    words = WORDING[language]
    if not anchors and not left_out:
        return ""
    lines = [f"- evidence {_ids(anchor)}: {escape_line(anchor.hint)}" for anchor in anchors]
    more = (words.left_out.format(many=left_out),) if left_out else ()
    return "\n".join((words.signposts, words.signposts_lead, *more, *lines))


def render_report(report: GuardianReport, language: Language) -> str:
    """The guardian's report on a proposal."""
    words = WORDING[language]
    return "\n".join(
        (
            words.report,
            *_concerns(words.constrained_by, report.constrained_by),
            *_concerns(words.conflicts, report.conflicts),
            *_concerns(words.lapsing, report.lapsing),
            words.impact.format(many=len(report.impact.nodes)),
            *(f"- {node.root_id} (distance {node.distance})" for node in report.impact.nodes),
            *((words.truncated,) if report.truncated or report.impact.truncated else ()),
        )
    )


def _block(domain: str, phase: str | None, layers: Iterable[Layer], words: Wording) -> str:
    phase_line = (f"phase: {escape_line(phase)}",) if phase else ()
    lines = [words.decisions.format(domain=domain), words.decisions_lead, *phase_line]
    for layer in layers:
        lines += _layer(layer, words)
    return "\n".join((*lines, words.end))


def _layer(layer: Layer, words: Wording) -> list[str]:
    lines = [f"[{layer.tier} {layer.name}]"]
    for item in layer.items:
        lines += _item(item, words)
    if layer.left_out is None:
        lines.append(words.unread)
    elif layer.left_out:
        lines.append(words.left_out.format(many=layer.left_out))
    return lines


def _item(item: LayerItem, words: Wording) -> Iterable[str]:
    match item.kind:
        case "policy":
            return (f"- {escape_line(item.statement)}",)
        case "structural":
            how = words.reaches if item.is_affected else words.rests_on
            return (
                f"- {item.root_id} ({item.strength}, {item.domain or 'global'}; {how}): {_relation(item)}",
            )
        case "decision":
            return _decision(item, words)
        case "evidence":
            lead = f"- evidence {item.id}: {escape_line(item.title)}"
            return (lead, f"  {words.hint}: {escape_line(item.hint)}") if item.hint else (lead,)


def _decision(item: DecisionItem, words: Wording) -> Iterable[str]:
    place = f"{item.strength}, {item.domain or 'global'}, v{item.version}"
    yield f"- {item.root_id} ({place}): {escape_line(item.statement)}"
    if item.rationale:
        yield f"  {words.why}: {escape_line(item.rationale)}"
    if item.hint:
        yield f"  {words.hint}: {escape_line(item.hint)}"


def _relation(item: StructuralItem) -> str:
    """The last relation of its path: `TYPE other` if the item is its source, else `other TYPE`.

    The other end is the focus or an item before it, so the lines together show the whole path.
    """
    edge = item.path[-1]
    return f"{edge.type} {edge.target}" if edge.source == item.root_id else f"{edge.source} {edge.type}"


def _concerns(title: str, concerns: Sequence[Concern]) -> Iterable[str]:
    if concerns:
        yield title
    for concern in concerns:
        yield f"- {concern.root_id} ({concern.strength}): {escape_line(concern.statement)}"


def _ids(anchor: Anchor) -> str:
    ids: Iterable[UUID] = (target.id for target in anchor.targets)
    return ", ".join(map(str, ids))
