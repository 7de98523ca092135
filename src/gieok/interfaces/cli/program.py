"""Entry point of the program: errors become one line on standard error and an exit status.

0 success, 1 failure, 2 wrong usage, 130 interrupted by Ctrl-C.
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

from gieok.errors import GieokError, type_and_place

DEBUG = "GIEOK_DEBUG"
"""Environment variable. If it is set, errors are printed with their traceback."""

FAILED = 1
INTERRUPTED = 130
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Program(click.Group):
    """Group of all commands that turns exceptions into exit statuses."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run the command in `args` and exit. `standalone_mode` is part of click's signature and ignored."""
        _escape_unencodable()
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
            status = INTERRUPTED
        except BrokenPipeError:
            status = _drop_output()
        except GieokError as error:
            status = _fail(error, f"{error} [{error.code}]")
        except OSError as error:
            full = error.errno in NO_SPACE
            status = _fail(error, _output_failed(error) if full else _unexpected(error))
        except Exception as error:  # noqa: BLE001  the outermost handler: prints it and exits with 1
            status = _fail(error, _unexpected(error))
        sys.exit(status if isinstance(status, int) else 0)


def _fail(error: Exception, message: str) -> int:
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    print(f"error: {message}", file=sys.stderr)
    return FAILED


def _unexpected(error: Exception) -> str:
    """Message with the type and the place of an error, without its text: that may quote stored content."""
    return (
        f"unexpected {type_and_place(error)}; "
        f"run the command again with {DEBUG}=1 to see the traceback, and report it as a bug"
    )


def _escape_unencodable() -> None:
    """Print characters that the terminal's encoding lacks as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _output_failed(error: OSError) -> str:
    """Message for a full disk behind the standard output. A full disk of a database is a GieokError."""
    _drop_output()
    return f"the output cannot be written ({error.strerror}); free some space, or write it to another place"


def _drop_output() -> int:
    """Discard further output after a broken pipe. Otherwise Python fails when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED
