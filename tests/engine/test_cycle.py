"""Running a plan: order, inputs, failure, time, cancellation, events and the record."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from gieok.engine import ActStep, CycleRecord, Engine, Limits, NoData, Registry, Stage, StepContext, StepEvent
from gieok.engine.step import LONG_TEXT
from gieok.errors import InputRefused, ModelUnavailable, StepFailed, StepTimedOut, StoreUnavailable
from tests.engine.steps import (
    BEFORE_PERSIST,
    Keep,
    MemoryScope,
    Said,
    Say,
    Texts,
    keep,
    plan,
    registry,
    say,
    step,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


async def run(made: Any, scope: MemoryScope, request: dict[str, Any] | None = None, **options: Any) -> Any:
    steps = registry(scope, options.pop("error", None), options.pop("work", None))
    listen = options.pop("listen", None)
    engine = Engine(steps, clock=lambda: NOW, **options)
    return await engine.run(steps.check(made), scope, request or {}, listen)


@pytest.mark.req("ENG-1", "ENG-3")
async def test_what_is_in_the_plan_runs_in_stage_order_and_nothing_else_does() -> None:
    scope = MemoryScope()
    acts = [say(stage.value, stage.value, stage) for stage in Stage if stage is not Stage.PERSIST]
    result = await run(plan(*acts, keep("k", first="PostProcess.text")), scope)
    assert scope.ran == ["ContextSelect", "PromptAssemble", "LLMCall", "PostProcess"]
    assert scope.stored == ["PostProcess"]
    assert [ran.id for ran in result.record.steps] == [*scope.ran, "k"]


@pytest.mark.req("ENG-4")
async def test_an_output_reaches_only_the_step_that_declares_it() -> None:
    scope = MemoryScope()
    made = plan(
        say("a", "A", first="request.word"),
        say("b", "B", Stage.LLM_CALL),
        say("c", "C", Stage.POST_PROCESS, first="a.text", second="b.text"),
        request=["word"],
    )
    result = await run(made, scope, {"word": "w"})
    assert {name: output.text for name, output in result.outputs.items()} == {
        "a": "wA",
        "b": "B",
        "c": "wABC",
    }


@pytest.mark.req("ENG-4")
async def test_two_concurrent_cycles_share_nothing() -> None:
    scope = MemoryScope()
    made = plan(say("a", "A", first="request.word"), keep("k", first="a.text"), request=["word"])
    results = await asyncio.gather(*(run(made, scope, {"word": str(number)}) for number in range(20)))
    assert [result.outputs["a"].text for result in results] == [f"{number}A" for number in range(20)]
    assert sorted(scope.stored) == sorted(f"{number}A" for number in range(20))


async def test_independent_steps_of_a_stage_run_together() -> None:
    """Two steps that wait for each other finish only when both are running."""
    meeting = asyncio.Barrier(2)

    async def meet(context: StepContext) -> Said:
        await meeting.wait()
        return Said(text="met", length=3)

    made = plan(step("a", "Call"), step("b", "Call"))
    result = await run(made, MemoryScope(), work=meet, limits=Limits(step_seconds=5))
    assert result.outputs["a"].text == result.outputs["b"].text == "met"


async def test_a_step_of_the_same_stage_waits_for_its_input() -> None:
    scope = MemoryScope()
    made = plan(say("a", "A"), say("b", "B", first="a.text"), say("c", "C", first="b.text"))
    result = await run(made, scope)
    assert result.outputs["c"].text == "ABC"


async def test_a_step_does_not_wait_for_a_neighbour_that_it_does_not_read() -> None:
    """Of three that begin as a chain, the last two wait for each other."""
    meeting = asyncio.Barrier(2)

    async def meet(context: StepContext) -> Said:
        await meeting.wait()
        return Said(text="met", length=3)

    made = plan(
        say("a", "A", Stage.POST_PROCESS),
        step("b", "Call", first="a.text"),
        step("c", "Call", first="a.text"),
    )
    result = await run(made, MemoryScope(), work=meet, limits=Limits(step_seconds=5))
    assert result.outputs["b"].text == result.outputs["c"].text == "met"


@pytest.mark.req("ENG-6")
async def test_writes_wait_for_the_end_of_the_cycle() -> None:
    """Writes run in plan order in one transaction, after every other step; a write may read one before it."""
    scope = MemoryScope()
    made = plan(say("a", "A"), keep("k1", first="a.text"), keep("k2", first="k1.text"))
    result = await run(made, scope)
    assert scope.stored == ["A", "A"]
    assert scope.writes == 1
    assert (result.outputs["k1"].length, result.outputs["k2"].length) == (1, 2)


async def test_a_write_may_return_nothing() -> None:
    scope = MemoryScope()
    scope.stored = ["old"]
    result = await run(plan(step("f", "Forget", Stage.PERSIST)), scope)
    assert scope.stored == []
    assert result.outputs["f"] == NoData()


async def test_a_plan_without_writes_opens_no_write_transaction() -> None:
    scope = MemoryScope()
    await run(plan(say("a"), step("look", "Look", Stage.CONTEXT_SELECT)), scope)
    assert (len(scope.reads), scope.writes) == (1, 0)


async def test_all_reads_of_a_stage_share_one_transaction() -> None:
    """Also where one read feeds another, and an act of the same stage takes what both found."""
    scope = MemoryScope()
    scope.stored = ["S"]
    made = plan(
        step("one", "Look", Stage.CONTEXT_SELECT),
        say("act", "A", first="one.text"),
        step("two", "Look", Stage.CONTEXT_SELECT, first="one.text"),
        say("last", "L", first="two.text", second="act.text"),
    )
    result = await run(made, scope)
    assert result.outputs["last"].text == "SSSAL"
    assert len(scope.reads) == 1


async def test_a_read_after_an_act_of_its_stage_opens_a_second_transaction() -> None:
    scope = MemoryScope()
    scope.stored = ["S"]
    made = plan(
        step("one", "Look", Stage.CONTEXT_SELECT),
        say("act", "A", first="one.text"),
        step("two", "Look", Stage.CONTEXT_SELECT, first="act.text"),
    )
    assert (await run(made, scope)).outputs["two"].text == "SAS"
    assert len(scope.reads) == 2


async def test_a_read_that_asks_finishes_in_a_second_transaction() -> None:
    """It sees what was stored while it asked; its notes from before and after are one record."""
    scope = MemoryScope()

    async def answer(context: StepContext) -> Said:
        await asyncio.sleep(0)
        scope.stored.append("new")
        return Said(text="!", length=1)

    made = plan(
        step("ask", "Enquire", Stage.CONTEXT_SELECT, first="request.word"),
        step("other", "Look", Stage.CONTEXT_SELECT),
        step("after", "Look", Stage.CONTEXT_SELECT, first="ask.text"),
        request=["word"],
    )
    result = await run(made, scope, {"word": "w"}, work=answer)
    assert result.outputs["other"].text == ""
    assert result.outputs["ask"].text == "w!new"
    assert result.outputs["after"].text == "w!newnew"
    assert len(scope.reads) == 2
    notes = {ran.id: ran.notes for ran in result.record.steps}
    assert notes["ask"] == {"before": 0, "after": 1}


@pytest.mark.req("ENG-7")
async def test_a_question_that_fails_or_takes_too_long_is_the_failure_of_its_step() -> None:
    made = plan(step("ask", "Enquire", Stage.CONTEXT_SELECT))

    async def wait_for_ever(context: StepContext) -> Said:
        await asyncio.Event().wait()
        raise AssertionError

    async def fail(context: StepContext) -> Said:
        raise ModelUnavailable("away")

    with pytest.raises(StepTimedOut) as late:
        await run(made, MemoryScope(), work=wait_for_ever, limits=Limits(step_seconds=0.01))
    with pytest.raises(StepFailed, match="away") as failed:
        await run(made, MemoryScope(), work=fail)
    assert late.value.step == failed.value.step == "ask"


@pytest.mark.parametrize(("kind", "heavy"), [("Look", False), ("Scan", True)])
async def test_a_heavy_read_makes_its_transaction_heavy(kind: str, *, heavy: bool) -> None:
    scope = MemoryScope()
    made = plan(step("a", "Look", Stage.CONTEXT_SELECT), step("b", kind, Stage.CONTEXT_SELECT))
    await run(made, scope)
    assert scope.reads == [heavy]


async def test_a_long_text_in_the_request_makes_reads_heavy() -> None:
    """They may analyse it, which takes too long for the event loop."""
    scope = MemoryScope()
    for text in ("x" * LONG_TEXT, "x" * (LONG_TEXT + 1)):
        await run(
            plan(step("a", "Look", Stage.CONTEXT_SELECT), request=("text",)), scope, request={"text": text}
        )
    assert scope.reads == [False, True]


async def test_a_transaction_that_cannot_be_opened_is_no_step_s_failure() -> None:
    scope = MemoryScope()
    scope.fail_read = StoreUnavailable("the database is away")
    with pytest.raises(StoreUnavailable):
        await run(plan(step("a", "Look", Stage.CONTEXT_SELECT)), scope)


@pytest.mark.req("ENG-6", "ENG-7")
@pytest.mark.parametrize(
    ("stage", "kind"),
    [
        *((stage, kind) for stage in Stage if stage is not Stage.PERSIST for kind in ("Break", "BreakRead")),
        (Stage.PERSIST, "BreakWrite"),
    ],
)
async def test_a_failing_step_in_any_stage_stores_nothing_and_is_named(stage: Stage, kind: str) -> None:
    scope = MemoryScope()
    cause = ModelUnavailable("the model is away")
    others = [keep("k")] if stage is not Stage.PERSIST else []
    before = [keep("k")] if stage is Stage.PERSIST else []
    with pytest.raises(StepFailed, match=r"'bad'.*the model is away") as failed:
        await run(plan(*before, step("bad", kind, stage), *others), scope, error=cause)
    assert (failed.value.step, failed.value.cause) == ("bad", cause)
    assert scope.stored == []


@pytest.mark.req("ENG-7")
async def test_a_failure_stops_its_neighbours_and_all_that_follows() -> None:
    """The neighbour would wait for ever; that the cycle ends at all shows that it was cancelled."""
    scope = MemoryScope()

    async def wait_for_ever(context: StepContext) -> Said:
        await asyncio.Event().wait()
        raise AssertionError

    made = plan(step("slow", "Call"), step("bad", "Break"), keep("after"))
    with pytest.raises(StepFailed) as failed:
        await run(made, scope, work=wait_for_ever, error=ValueError("secret words"))
    assert failed.value.step == "bad"
    assert scope.stored == []
    assert "secret words" not in str(failed.value)


@pytest.mark.req("ENG-6")
async def test_a_failing_commit_stores_nothing_and_reaches_the_caller() -> None:
    scope = MemoryScope()
    scope.fail_commit = StoreUnavailable("the disk is full")
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await run(plan(keep("k")), scope)
    assert scope.stored == []


@pytest.mark.req("ENG-6")
async def test_a_step_that_takes_too_long_fails_the_cycle() -> None:
    scope = MemoryScope()
    limits = Limits(step_seconds=0.01)

    async def wait_for_ever(context: StepContext) -> Said:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(StepTimedOut, match=r"'slow' ran longer than 0\.01 s") as failed:
        await run(plan(step("slow", "Call"), keep("k")), scope, work=wait_for_ever, limits=limits)
    assert failed.value.step == "slow"
    assert scope.stored == []


async def test_a_timeout_inside_a_step_is_its_own_failure() -> None:
    """A model that times out is not a step that ran too long."""
    with pytest.raises(StepFailed) as failed:
        await run(plan(step("bad", "Break")), MemoryScope(), error=TimeoutError())
    assert not isinstance(failed.value, StepTimedOut)


@pytest.mark.req("ENG-6")
async def test_a_cancelled_cycle_stores_nothing() -> None:
    scope = MemoryScope()
    started = asyncio.Event()

    async def wait_for_ever(context: StepContext) -> Said:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    records: list[CycleRecord] = []
    made = plan(say("a"), step("slow", "Call"), keep("k", first="a.text"))
    task = asyncio.create_task(run(made, scope, work=wait_for_ever, observe=records.append))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert scope.stored == []
    assert [record.outcome for record in records] == ["cancelled"]


@pytest.mark.req("ENG-6", "ENG-7")
@pytest.mark.parametrize("neighbours", [0, 1])
async def test_a_step_whose_own_wait_was_cancelled_fails_the_cycle(neighbours: int) -> None:
    """A client that cancels its request is not a cancelled cycle: nothing may vanish quietly."""
    scope = MemoryScope()

    async def wait_for_a_cancelled_future(context: StepContext) -> Said:
        future: asyncio.Future[Said] = asyncio.get_running_loop().create_future()
        future.cancel()
        return await future

    others = [say(f"s{number}", stage=Stage.POST_PROCESS) for number in range(neighbours)]
    with pytest.raises(StepFailed) as failed:
        await run(plan(*others, step("c", "Call"), keep("k")), scope, work=wait_for_a_cancelled_future)
    assert failed.value.step == "c"
    assert scope.stored == []


async def test_an_observer_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def observe(record: CycleRecord) -> None:
        raise RuntimeError("observer")

    scope = MemoryScope()
    await run(plan(keep("k")), scope, observe=observe)
    assert scope.stored == [""]
    with pytest.raises(StepFailed):
        await run(plan(step("bad", "Break")), scope, observe=observe)
    assert "an observer of cycle" in caplog.text


async def test_events_are_emitted_as_they_happen_and_store_nothing() -> None:
    scope = MemoryScope()
    heard: list[StepEvent] = []

    def speak(context: StepContext) -> Said:
        for piece in ("안", "녕"):
            context.emit("token", piece)
            assert heard[-1] == StepEvent("talk", "token", piece)
        return Said(text="안녕", length=2)

    made = plan(step("talk", "Call", Stage.LLM_CALL))
    await run(made, scope, work=speak, listen=heard.append)
    assert "".join(event.data for event in heard) == "안녕"
    assert scope.stored == []


@pytest.mark.req("ENG-6")
def test_only_a_write_may_stand_in_persist_and_nowhere_else() -> None:
    class Sly(ActStep[NoData, Texts, Said]):
        type = "Sly"
        stages = frozenset(Stage)

        async def run(self, metadata: NoData, inputs: Texts, context: StepContext) -> Said:
            return Said(text="", length=0)

    class Early(Keep):
        type = "Early"
        stages = BEFORE_PERSIST

    with pytest.raises(ValueError, match="'Sly' is a read or an act, so it may not stand in Persist"):
        Registry([Sly()])
    with pytest.raises(ValueError, match="'Early' is a write, so it may not stand in ContextSelect"):
        Registry([Early()])


@pytest.mark.parametrize(
    ("request_", "at"), [({}, "request.word"), ({"word": "a", "extra": 1}, "request.extra")]
)
async def test_a_request_must_be_what_the_plan_lists(request_: dict[str, Any], at: str) -> None:
    scope = MemoryScope()
    with pytest.raises(InputRefused) as refused:
        await run(plan(say("a", first="request.word"), request=["word"]), scope, request_)
    assert refused.value.at == at
    assert scope.ran == []


@pytest.mark.req("ENG-7")
async def test_an_input_of_the_wrong_type_fails_its_step() -> None:
    with pytest.raises(StepFailed, match=r"'a'.*inputs\.first") as failed:
        await run(plan(say("a", first="request.word"), request=["word"]), MemoryScope(), {"word": 5})
    assert isinstance(failed.value.cause, InputRefused)


async def test_an_output_of_the_wrong_type_or_size_fails_its_step() -> None:
    for output in ("text", None, Said(text="x" * 2_000, length=1)):

        def answer(context: StepContext, output: Any = output) -> Any:
            return output

        with pytest.raises(StepFailed):
            await run(
                plan(step("c", "Call")),
                MemoryScope(),
                work=answer,
                limits=Limits(output_bytes=1_000),
            )


async def test_the_record_lists_the_steps_and_has_no_content() -> None:
    records: list[CycleRecord] = []

    def note(context: StepContext) -> Said:
        context.note("recalled", ["id-1", "id-2"])
        context.note("tokens", 12)
        return Said(text="SECRET", length=6)

    made = plan(say("a", "SECRET"), step("n", "Call"))
    result = await run(made, MemoryScope(), work=note, observe=records.append)
    assert records == [result.record]
    assert result.record.plan_hash == made.hash
    assert result.record.started_at == NOW
    assert [(ran.id, ran.type, ran.stage) for ran in result.record.steps] == [
        ("a", "Say", "ContextSelect"),
        ("n", "Call", "PostProcess"),
    ]
    assert result.record.steps[1].notes == {"recalled": ("id-1", "id-2"), "tokens": 12}
    assert "SECRET" not in repr(result.record)


@pytest.mark.parametrize("text", ["two words", "면접", "", "line\nbreak", "id\n", "x" * 200])
@pytest.mark.parametrize("as_name", [False, True])
async def test_content_cannot_be_noted(text: str, *, as_name: bool) -> None:
    def note(context: StepContext) -> None:
        context.note(text if as_name else "said", 1 if as_name else text)

    with pytest.raises(StepFailed) as failed:
        await run(plan(step("n", "Call")), MemoryScope(), work=note)
    assert isinstance(failed.value.cause, ValueError)


async def test_the_record_of_a_failed_cycle_names_the_step() -> None:
    records: list[CycleRecord] = []
    with pytest.raises(StepFailed):
        await run(plan(say("a"), step("bad", "Break")), MemoryScope(), observe=records.append)
    assert [(record.outcome, record.failed_step) for record in records] == [("failed", "bad")]


async def test_output_of_finds_a_step_by_its_type() -> None:
    result = await run(plan(say("any-name", "A")), MemoryScope())
    assert result.output_of(Say) == Said(text="A", length=1)


def test_a_step_type_is_registered_once() -> None:
    steps = registry()
    with pytest.raises(ValueError, match="'Keep' is registered already"):
        steps.add(Keep())
