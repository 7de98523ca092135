"""A plan's identity: SHA-256 over its canonical JSON (RFC 8785), metadata included."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785

from gieok.errors import PlanInvalid


def plan_hash(document: dict[str, Any]) -> str:
    """The hash of the whole plan as it was written. Any change of policy changes it."""
    try:
        canonical = rfc8785.dumps(document)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise PlanInvalid(f"the plan has no canonical JSON form: {error}", at="plan") from error
    return hashlib.sha256(canonical).hexdigest()
