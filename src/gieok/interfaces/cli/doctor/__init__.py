"""`gieok doctor`: what is configured, whether it works, and what to do about what does not."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.output import can_show, json_option, lang_option, print_json, table_lines
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from gieok.interfaces.cli.doctor.configured import Setting
    from gieok.interfaces.cli.doctor.examine import Report

MARKS = {"ok": "✓", "warning": "!", "failed": "✗"}
PLAIN_MARKS = {"ok": "ok", "warning": "!", "failed": "x"}


@click.command()
@json_option
@lang_option
@click.pass_context
def doctor(context: click.Context, as_json: bool, say: Say) -> None:
    """Look at everything and say what to do. Nothing is made or changed.

    The exit status is 1 when something does not work.
    """
    from gieok.interfaces.cli.doctor.examine import examine

    report = examine(say)
    if as_json:
        print_json({"ok": report.ok, **asdict(report)})
    else:
        print("\n".join(_lines(report, say)))
    if not report.ok:
        context.exit(1)


def _lines(report: Report, say: Say) -> list[str]:
    marks = MARKS if can_show("✓✗") else PLAIN_MARKS
    lines = [", ".join(f"{name} {version}" for name, version in report.versions.items())]
    if report.settings:
        lines += ["", say("doctor.settings")]
        lines += _indented([[each.name, each.value, _origin(each, say)] for each in report.settings])
    lines += ["", say("doctor.checks")]
    rows = [
        [
            marks[each.level],
            say(f"name.{each.name}"),
            each.text + (f"\n-> {each.remedy}" if each.remedy else ""),
        ]
        for each in report.checks
    ]
    return [*lines, *_indented(rows), "", say(_verdict(report))]


def _origin(setting: Setting, say: Say) -> str:
    return say("doctor.default") if setting.origin == "default" else setting.origin


def _indented(rows: list[list[str]]) -> list[str]:
    return [f"  {line}" for line in table_lines(rows)]


def _verdict(report: Report) -> str:
    levels = {each.level for each in report.checks}
    if "failed" in levels:
        return "doctor.ill"
    return "doctor.attention" if "warning" in levels else "doctor.well"
