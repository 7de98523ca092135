"""The files in `deploy/` name settings, commands and each other correctly. No container runs here."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from gieok.interfaces.cli import main
from gieok.settings import VARIABLES

DEPLOY = Path(__file__).parents[1] / "deploy"
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
KUBERNETES: list[dict[str, Any]] = yaml.safe_load((DEPLOY / "kubernetes" / "gieok.yaml").read_text("utf-8"))[
    "items"
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_setting_exists(file: Path) -> None:
    assert set(re.findall(r"GIEOK_[A-Z_]+", file.read_text("utf-8"))) <= {*VARIABLES}


def pods() -> Iterator[dict[str, Any]]:
    for item in KUBERNETES:
        if item["kind"] in ("Deployment", "Job"):
            yield item["spec"]["template"]["spec"]


def gieok_arguments() -> list[list[str]]:
    """The arguments of `gieok` in every container that runs its image."""
    composed = [service["command"] for service in COMPOSE["services"].values() if "build" in service]
    containers = [container for pod in pods() for container in pod["containers"]]
    return composed + [each["args"] for each in containers if each["image"].startswith("gieok:")]


@pytest.mark.parametrize("arguments", gieok_arguments(), ids=" ".join)
def test_every_command_exists(arguments: list[str]) -> None:
    """The options are parsed; nothing is run."""
    command: click.Command = main
    context, rest = click.Context(main), arguments
    while isinstance(command, click.Group):
        name, found, rest = command.resolve_command(context, rest)
        assert found is not None, name
        command = found
    command.make_context("gieok", list(rest))


def test_compose_names_only_what_it_defines() -> None:
    for service in COMPOSE["services"].values():
        assert {*service.get("depends_on", ())} <= {*COMPOSE["services"]}
        for kind in ("secrets", "configs"):
            used = {use if isinstance(use, str) else use["source"] for use in service.get(kind, ())}
            assert used <= {*COMPOSE[kind]}
        volumes = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        assert volumes <= {*COMPOSE["volumes"]}


def test_kubernetes_names_only_what_it_defines() -> None:
    """Config maps, pods of services and budgets; the two secrets are those of the comment at the top."""
    labels = [
        item["spec"]["template"]["metadata"]["labels"] for item in KUBERNETES if item["kind"] == "Deployment"
    ]
    for item in KUBERNETES:
        selector = item.get("spec", {}).get("selector")
        if selector:
            assert selector.get("matchLabels", selector) in labels, item
    maps = {item["metadata"]["name"] for item in KUBERNETES if item["kind"] == "ConfigMap"}
    for pod in pods():
        mounted = {mount["name"] for each in pod["containers"] for mount in each.get("volumeMounts", ())}
        assert mounted == {volume["name"] for volume in pod.get("volumes", ())}
        for source in (source for each in pod["containers"] for source in each.get("envFrom", ())):
            assert source.get("configMapRef", {"name": "gieok-settings"})["name"] in maps


def test_the_image_installs_extras_that_exist() -> None:
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text("utf-8"))["project"]
    (extras,) = re.findall(r"'\.\[([\w,]+)\]'", (DEPLOY / "Dockerfile").read_text("utf-8"))
    assert {*extras.split(",")} <= {*project["optional-dependencies"]}
