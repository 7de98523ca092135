"""`gieok backup` and `gieok restore`: the database with its keystore."""

from __future__ import annotations

from pathlib import Path

import click

from gieok.interfaces.cli.output import json_option, lang_option, print_facts, print_json, wire
from gieok.interfaces.cli.watching import watched
from gieok.interfaces.cli.wording import Say


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
@lang_option
def backup(folder: Path, as_json: bool, say: Say) -> None:
    """Copy the database and its keystore to a new FOLDER. Both are of one moment; Gieok may run meanwhile.

    The root key is not in it: keep a copy of that somewhere else. SQLite only; docs/howto/backup.md has more.
    """
    from gieok.app.backup import back_up
    from gieok.settings import load_settings

    with watched(say("backup.copying")) as report:
        manifest = back_up(load_settings(), folder, report)
    if as_json:
        print_json({"path": str(folder), **manifest.model_dump(mode="json", by_alias=True)})
    else:
        print(say("backup.made", path=folder, root=manifest.root_id))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--to", metavar="FILE", type=click.Path(path_type=Path), help="Put the database here instead.")
@click.option("--replace", "replace_it", is_flag=True, help="Move the database that is there aside.")
@json_option
@lang_option
def restore(folder: Path, to: Path | None, replace_it: bool, as_json: bool, say: Say) -> None:
    """Put the backup in FOLDER in the place of the database. Stop every Gieok that uses it first.

    Users who were erased since the backup are erased from it again. A keystore that is in use is kept, so
    that no destroyed key comes back.
    """
    from gieok.app import restore as restoring
    from gieok.settings import load_settings

    done = restoring.restore(load_settings(), folder, to=to, replace_it=replace_it)
    if as_json:
        print_json(wire(done))
        return
    facts = [
        (say("backup.database"), done.database),
        (
            say("backup.keystore"),
            say("backup.kept" if done.keystore_kept else "backup.copied", path=done.keystore),
        ),
        (say("backup.keys_added"), str(done.keys_added)),
        (say("backup.erased_again"), str(done.erased_again)),
    ]
    print_facts([*facts, (say("backup.before"), done.before)] if done.before else facts)
