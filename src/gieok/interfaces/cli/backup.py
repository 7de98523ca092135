"""`gieok backup` and `gieok restore`: copies of the database and its keystore."""

from __future__ import annotations

from pathlib import Path

import click

from gieok.interfaces.cli.options import json_option, lang_option
from gieok.interfaces.cli.output import dataclass_json, model_json, print_fields, print_json, progress_bar
from gieok.interfaces.cli.texts import Translator


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
@lang_option
def backup(folder: Path, as_json: bool, t: Translator) -> None:
    """Copy the database and its keystore to a new FOLDER.

    The copies are a consistent snapshot, and Gieok may run meanwhile. The root key is not included: keep a
    copy of it somewhere else. SQLite only; see docs/howto/backup.md.
    """
    from gieok.app.backup import back_up
    from gieok.settings import load_settings

    with progress_bar(t("backup.copying")) as report:
        manifest = back_up(load_settings(), folder, report)
    if as_json:
        print_json({"path": str(folder), **model_json(manifest)})
    else:
        print(t("backup.created", path=folder, root=manifest.root_id))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--to", metavar="FILE", type=click.Path(path_type=Path), help="Restore the database to FILE.")
@click.option("--replace", "replace_it", is_flag=True, help="Rename an existing database and replace it.")
@json_option
@lang_option
def restore(folder: Path, to: Path | None, replace_it: bool, as_json: bool, t: Translator) -> None:
    """Restore the database from the backup in FOLDER. Stop all processes that use it first.

    Users who were erased after the backup are erased from it again. An existing keystore is kept, so that
    destroyed keys do not come back.
    """
    from gieok.app import restore as restoring
    from gieok.settings import load_settings

    done = restoring.restore(load_settings(), folder, to=to, replace_it=replace_it)
    if as_json:
        print_json(dataclass_json(done))
        return
    keystore = "backup.keystore_kept" if done.keystore_kept else "backup.keystore_copied"
    shown = [
        (t("backup.database"), done.database),
        (t("backup.keystore"), t(keystore, path=done.keystore)),
        (t("backup.keys_added"), str(done.keys_added)),
        (t("backup.erased_again"), str(done.erased_again)),
    ]
    if done.before:
        shown.append((t("backup.previous"), done.before))
    print_fields(shown)
