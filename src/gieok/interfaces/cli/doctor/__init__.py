"""`gieok doctor`: show the settings, check that everything works, and say how to fix what does not."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.options import json_option, lang_option
from gieok.interfaces.cli.output import can_show, format_table, print_json
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.interfaces.cli.doctor.checks import Report

MARKS = {"ok": "✓", "warning": "!", "failed": "✗"}
ASCII_MARKS = {"ok": "ok", "warning": "!", "failed": "x"}


@click.command()
@json_option
@lang_option
@click.pass_context
def doctor(context: click.Context, as_json: bool, t: Translator) -> None:
    """Check settings, database, keys and models. Changes nothing.

    The exit status is 1 if a check fails.
    """
    from gieok.interfaces.cli.doctor.checks import run_checks

    report = run_checks(t)
    if as_json:
        print_json({"ok": report.ok, **asdict(report)})
    else:
        print("\n".join(_lines(report, t)))
    if not report.ok:
        context.exit(1)


def _lines(report: Report, t: Translator) -> list[str]:
    lines = [", ".join(f"{name} {version}" for name, version in report.versions.items())]
    if report.settings:
        lines += ["", t("doctor.settings")]
        lines += _indented(
            [
                [each.name, each.value, t("doctor.default") if each.origin == "default" else each.origin]
                for each in report.settings
            ]
        )
    marks = MARKS if can_show("✓✗") else ASCII_MARKS
    lines += ["", t("doctor.checks")]
    lines += _indented(
        [
            [
                marks[each.level],
                t(f"check.{each.name}"),
                each.text + (f"\n-> {each.remedy}" if each.remedy else ""),
            ]
            for each in report.checks
        ]
    )
    return [*lines, "", t(_conclusion(report))]


def _indented(rows: list[list[str]]) -> list[str]:
    return [f"  {line}" for line in format_table(rows)]


def _conclusion(report: Report) -> str:
    levels = {each.level for each in report.checks}
    if "failed" in levels:
        return "doctor.failures"
    return "doctor.warnings" if "warning" in levels else "doctor.all_ok"
