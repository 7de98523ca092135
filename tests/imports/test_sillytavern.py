"""Cards that Gieok exports, read by SillyTavern's own code.

Install it with `npm install sillytavern`, and set GIEOK_SILLYTAVERN to `node_modules/sillytavern`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gieok import PersonaDraft
from gieok.adapters.imports.cards import ReadBook, ReadCard, card_bytes, read_file
from gieok.adapters.imports.files import write_png
from tests.imports.files import CARD, json_file

HOME = Path(os.environ.get("GIEOK_SILLYTAVERN", ""))
pytestmark = [
    pytest.mark.req("INT-4"),
    pytest.mark.skipif(
        "GIEOK_SILLYTAVERN" not in os.environ or shutil.which("node") is None,
        reason="needs Node and SillyTavern (GIEOK_SILLYTAVERN)",
    ),
]
_SCRIPT = """
import fs from 'node:fs';
const { read } = await import(process.argv[2] + '/src/character-card-parser.js');
const { TavernCardValidator } = await import(process.argv[2] + '/src/validator/TavernCardValidator.js');
const card = JSON.parse(read(fs.readFileSync(process.argv[3])));
const validator = new TavernCardValidator(card);
console.log(JSON.stringify({ spec: validator.validate(), error: validator.lastValidationError, card }));
"""


def read_by_sillytavern(png: bytes, folder: Path) -> dict[str, Any]:
    script, file = folder / "read.mjs", folder / "card.png"
    script.write_text(_SCRIPT, encoding="utf-8")
    file.write_bytes(png)
    command = ["node", str(script), str(HOME.resolve()), str(file)]
    ran = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr.decode()
    return json.loads(ran.stdout)


def test_an_exported_card_is_a_valid_v3_card(tmp_path: Path) -> None:
    persona = PersonaDraft(name="하나", system_prompt="너는 하나다.", lorebook=("부산에 산다.",))
    read = read_file(json_file(CARD))
    assert isinstance(read, ReadCard)
    for draft in (persona, read.draft):
        card = card_bytes(draft)
        seen = read_by_sillytavern(write_png(card), tmp_path)
        assert (seen["spec"], seen["card"]) == (3, json.loads(card))


def test_the_default_character_and_its_world_are_imported(tmp_path: Path) -> None:
    content = HOME / "default" / "content"
    picture = (content / "default_Seraphina.png").read_bytes()
    read = read_file(picture)
    assert isinstance(read, ReadCard)
    assert read.draft.name == "Seraphina"
    world = read_file((content / "Eldoria.json").read_bytes())
    assert isinstance(world, ReadBook)
    assert "eldoria" in world.book.entries[0].keys
    seen = read_by_sillytavern(write_png(card_bytes(read.draft), picture), tmp_path)
    assert (seen["spec"], seen["card"]["data"]["first_mes"][:1]) == (3, "*")
