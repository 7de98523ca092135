"""The neutral engine: plans, stages, steps, outputs and the unit of work. It knows nothing else."""

from gieok.engine.cycle import CycleResult, Engine, utc_now
from gieok.engine.data import Data
from gieok.engine.limits import Limits
from gieok.engine.plan import ExecutionPlan, StepSpec, make_plan, parse_plan
from gieok.engine.plan_hash import plan_hash
from gieok.engine.record import CycleRecord, StepRecord
from gieok.engine.registry import CheckedPlan, CheckedStep, Registry
from gieok.engine.scope import Scope
from gieok.engine.stages import ORDER, Stage
from gieok.engine.step import ActStep, AnyStep, Ask, NoData, ReadStep, Step, StepContext, StepEvent, WriteStep

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
    "make_plan",
    "parse_plan",
    "plan_hash",
    "utc_now",
]
