"""The engine: plans, stages, steps and the unit of work. It knows no room and no store."""

from gieok.engine.cycle import CycleResult, Engine, Limits, Scope, utc_now
from gieok.engine.data import Data
from gieok.engine.plan import ORDER, ExecutionPlan, Stage, StepSpec, make_plan, parse_plan, plan_hash
from gieok.engine.record import CycleRecord, StepRecord
from gieok.engine.registry import CheckedPlan, CheckedStep, Registry
from gieok.engine.step import (
    ActStep,
    AnyStep,
    Ask,
    NoData,
    ReadStep,
    Step,
    StepContext,
    StepEvent,
    WriteStep,
    analyse,
)

__all__ = [
    "ORDER",
    "ActStep",
    "AnyStep",
    "Ask",
    "CheckedPlan",
    "CheckedStep",
    "CycleRecord",
    "CycleResult",
    "Data",
    "Engine",
    "ExecutionPlan",
    "Limits",
    "NoData",
    "ReadStep",
    "Registry",
    "Scope",
    "Stage",
    "Step",
    "StepContext",
    "StepEvent",
    "StepRecord",
    "StepSpec",
    "WriteStep",
    "analyse",
    "make_plan",
    "parse_plan",
    "plan_hash",
    "utc_now",
]
