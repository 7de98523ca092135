"""Running a plan: order, inputs, failure, time, cancellation, events and the record."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from gieok.engine import CycleRecord, Data, Engine, Limits, Stage, StepContext, StepEvent
from gieok.errors import InputRefused, ModelUnavailable, StepFailed, StepTimedOut, StoreUnavailable
from tests.engine.steps import Call, MemoryScope, Said, Say, keep, plan, registry, say, step

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


async def run(made: Any, scope: MemoryScope, request: dict[str, Any] | None = None, **options: Any) -> Any:
    steps = registry(options.pop("error", None), options.pop("work", None))
    listen = options.pop("listen", None)
    engine = Engine(steps, clock=lambda: NOW, **options)
    return await engine.run(steps.check(made), scope, request or {}, listen)


@pytest.mark.req("ENG-1", "ENG-3")
async def test_what_is_in_the_plan_runs_in_stage_order_and_nothing_else_does() -> None:
    scope = MemoryScope()
    made = plan(*(say(stage.value, stage.value, stage) for stage in Stage))
    await run(made, scope)
    assert scope.ran == ["ContextSelect", "PromptAssemble", "LLMCall", "PostProcess", "Persist"]
    assert scope.stored == []


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
async def test_two_cycles_at_once_share_nothing() -> None:
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
    """While any step still runs, nothing of the cycle is visible."""
    scope = MemoryScope()
    seen: list[list[str]] = []

    def look(context: StepContext) -> Said:
        seen.append(list(scope.stored))
        return Said(text="", length=0)

    made = plan(say("a", "A"), keep("k1", first="a.text"), step("look", "Call", Stage.PERSIST), keep("k2"))
    result = await run(made, scope, work=look)
    assert seen == [[]]
    assert scope.stored == ["A", ""]
    assert result.committed == {"k1": [1], "k2": [2]}


@pytest.mark.req("ENG-6", "ENG-7")
@pytest.mark.parametrize("stage", list(Stage))
async def test_a_failing_step_in_any_stage_stores_nothing_and_is_named(stage: Stage) -> None:
    scope = MemoryScope()
    cause = ModelUnavailable("the model is away")
    others = [keep("k")] if stage is not Stage.PERSIST else []
    before = [keep("k")] if stage is Stage.PERSIST else []
    with pytest.raises(StepFailed, match=r"'bad'.*the model is away") as failed:
        await run(plan(*before, step("bad", "Break", stage), *others), scope, error=cause)
    assert (failed.value.step, failed.value.cause) == ("bad", cause)
    assert scope.stored == []


@pytest.mark.req("ENG-7")
async def test_a_failure_stops_its_neighbours_and_all_that_follows() -> None:
    """The neighbour would wait for ever; that the cycle ends at all shows that it was cancelled."""
    scope = MemoryScope()

    async def wait_for_ever(context: StepContext) -> Said:
        await asyncio.Event().wait()
        raise AssertionError

    made = plan(step("slow", "Call"), step("bad", "Break"), say("after", "after", Stage.PERSIST))
    with pytest.raises(StepFailed) as failed:
        await run(made, scope, work=wait_for_ever, error=ValueError("secret words"))
    assert failed.value.step == "bad"
    assert scope.ran == []
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

    others = [keep(f"k{number}") for number in range(neighbours)]
    with pytest.raises(StepFailed) as failed:
        await run(plan(*others, step("c", "Call", Stage.PERSIST)), scope, work=wait_for_a_cancelled_future)
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


async def test_events_are_told_as_they_happen_and_carry_no_right_to_store() -> None:
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
@pytest.mark.parametrize("stage", [stage for stage in Stage if stage is not Stage.PERSIST])
async def test_only_the_stage_persist_may_write(stage: Stage) -> None:
    scope = MemoryScope()

    def write(context: StepContext) -> Said:
        context.stage_write(lambda stored: stored.append("no"))
        return Said(text="", length=0)

    with pytest.raises(StepFailed) as failed:
        await run(plan(step("sly", "Call", stage)), scope, work=write)
    assert isinstance(failed.value.cause, PermissionError)
    assert scope.stored == []


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


async def test_an_output_that_cannot_be_too_large_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """But where a step may put out less than that, it is."""

    def largest(_call: Call, _metadata: Data, _inputs: Data) -> int:
        return 500

    monkeypatch.setattr(Call, "largest_output", largest)
    made, scope = plan(step("c", "Call")), MemoryScope()

    def answer(context: StepContext) -> Said:
        return Said(text="x" * 2_000, length=1)

    await run(made, scope, work=answer, limits=Limits(output_bytes=1_000))
    with pytest.raises(StepFailed):
        await run(made, scope, work=answer, limits=Limits(output_bytes=499))


async def test_too_many_writes_fail_the_cycle() -> None:
    scope = MemoryScope()

    def flood(context: StepContext) -> Said:
        for _ in range(4):
            context.stage_write(lambda stored: stored.append("x"))
        return Said(text="", length=0)

    with pytest.raises(StepFailed):
        await run(plan(step("c", "Call", Stage.PERSIST)), scope, work=flood, limits=Limits(staged_writes=3))
    assert scope.stored == []


async def test_the_record_tells_what_ran_and_holds_no_content() -> None:
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
    with pytest.raises(ValueError, match="'Say' is registered already"):
        steps.register(Say, Say)
