"""The signals that explain a search hit, shared by all rooms that rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from gieok.engine import Data


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason why something was found: its value, its weight, and its rank by this signal alone."""

    __pydantic_config__: ClassVar[ConfigDict] = Data.model_config

    value: float
    weight: float
    rank: int
