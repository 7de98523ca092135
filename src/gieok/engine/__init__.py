"""The neutral engine: plans, stages, steps, outputs and the unit of work. It knows nothing else."""

from gieok.engine.cycle import CycleResult, Engine, utc_now
from gieok.engine.data import Data
from gieok.engine.limits import Limits
from gieok.engine.plan import ExecutionPlan, StepSpec, make_plan, parse_plan
from gieok.engine.plan_hash import plan_hash
from gieok.engine.record import CycleRecord, StepRecord
from gieok.engine.registry import CheckedPlan, CheckedStep, Registry
from gieok.engine.stages import ORDER, Stage
from gieok.engine.step import NoData, Step, StepContext, StepEvent
from gieok.engine.unit_of_work import Scope, UnitOfWork, Write

__all__ = [
    "ORDER",
    "CheckedPlan",
    "CheckedStep",
    "CycleRecord",
    "CycleResult",
    "Data",
    "Engine",
    "ExecutionPlan",
    "Limits",
    "NoData",
    "Registry",
    "Scope",
    "Stage",
    "Step",
    "StepContext",
    "StepEvent",
    "StepRecord",
    "StepSpec",
    "UnitOfWork",
    "Write",
    "make_plan",
    "parse_plan",
    "plan_hash",
    "utc_now",
]
