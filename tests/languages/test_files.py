"""What each template consists of. Needs no toolchain."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.bots import load
from tests.languages.templates import ROOT, TEMPLATES, Template

PROTOS = sorted((ROOT / "protos").rglob("*.proto"))
LOCKS = {
    "go": "go.sum",
    "rust": "Cargo.lock",
    "typescript": "package-lock.json",
    "java": "pom.xml",
}
"""Where exact versions stand; C++ takes what the system has."""


def test_every_folder_that_is_built_is_a_template() -> None:
    folders = {path.parent for path in (ROOT / "sample_bots").glob("*/bot.toml")}
    built = {path.name for path in folders if load(str(path)).build}
    assert built == {each.language for each in TEMPLATES}


def test_it_can_be_entered(template: Template) -> None:
    bot = load(str(template.folder))
    assert bot.name == f"starter-{template.language}"
    assert bot.build
    assert bot.run


@pytest.mark.parametrize("proto", PROTOS, ids=lambda path: path.name)
def test_its_protos_are_fresh(template: Template, proto: Path) -> None:
    copy = template.folder / "protos" / proto.relative_to(ROOT / "protos")
    assert copy.read_bytes() == proto.read_bytes(), "make protos"


def test_its_readme_has_the_three_commands_and_names_every_file(template: Template) -> None:
    assert template.blocks()[0] == ["knavery build .", "knavery check .", "knavery play ."]
    assert template.sources()
    for path in template.sources():
        named = path.name if "generated" not in path.read_text()[:2000] else path.parent.name
        assert f"{named}" in template.readme, path


def test_its_versions_are_locked(template: Template) -> None:
    lock = LOCKS.get(template.language)
    assert lock is None or (template.folder / lock).is_file()


def test_its_sources_are_short(template: Template) -> None:
    for path in template.sources():
        text = path.read_text()
        assert "Code generated" in text or len(text.splitlines()) <= 300, path
