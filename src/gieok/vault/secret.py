"""What every object that holds key bytes has in common: it does not show them and cannot be written out."""

from __future__ import annotations

from typing import NoReturn


class Secret:
    """Refuses to be pickled or copied, so that no key lands in a cache file, a queue or a crash report."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} holds keys and is never pickled or copied")
