"""The stages of a cycle, in the order in which they run."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """A plan's steps are listed in this order, and each stage ends before the next begins."""

    CONTEXT_SELECT = "ContextSelect"
    PROMPT_ASSEMBLE = "PromptAssemble"
    LLM_CALL = "LLMCall"
    POST_PROCESS = "PostProcess"
    PERSIST = "Persist"


ORDER: tuple[Stage, ...] = tuple(Stage)
