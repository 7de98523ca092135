"""How the program ends: one line for a mistake, an exit status for scripts, never a traceback by surprise.

0 fine, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from gieok.errors import GieokError

DEBUG = "GIEOK_DEBUG"
"""Set to anything, it shows the traceback of whatever went wrong."""

FAILED = 1
STOPPED = 130
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Program(click.Group):
    """The group of all commands, with Gieok's manner of failing."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run the command that `args` name, and exit. `standalone_mode` is click's, and always on here."""
        _never_fail_to_encode()
        try:
            status = super().main(
                args,
                prog_name,
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
            sys.stdout.flush()
        except click.ClickException as error:
            error.show()
            status = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            status = STOPPED
        except BrokenPipeError:
            status = _drop_output()
        except GieokError as error:
            status = _fail(error, f"{error} [{error.code}]")
        except OSError as error:
            full = error.errno in NO_SPACE
            status = _fail(error, _unwritten(error) if full else _unexpected(error))
        except Exception as error:  # noqa: BLE001  the last place: it is told, and the status says so
            status = _fail(error, _unexpected(error))
        sys.exit(status if isinstance(status, int) else 0)


def _fail(error: Exception, sentence: str) -> int:
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    print(f"error: {sentence}", file=sys.stderr)
    return FAILED


def _unexpected(error: Exception) -> str:
    """Only the kind and the place: the text of a foreign error may quote what was being stored."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return (
        f"Gieok did not expect this: {type(error).__name__}{place}; "
        f"run the command again with {DEBUG}=1 to see the traceback, and report it"
    )


def _never_fail_to_encode() -> None:
    """A character that the terminal does not have is written as an escape instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _unwritten(error: OSError) -> str:
    """The disk that our output goes to is full; a full one of a store is a GieokError."""
    _drop_output()
    return f"the output cannot be written ({error.strerror}); free some space, or send it elsewhere"


def _drop_output() -> int:
    """Nobody takes our output: `head` has left, say. Python would complain when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED
