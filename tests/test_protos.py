"""The generated code is that of the protos, and the protos keep their promises."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROTOS = sorted((ROOT / "protos/knavery/v1").glob("*.proto"))


def test_generated_code_is_fresh(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "protos/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.generate(tmp_path)
    made = sorted(path.name for path in (tmp_path / "knavery/v1").iterdir())
    assert made, "protoc made nothing"
    for name in made:
        committed = (ROOT / "knavery/v1" / name).read_text()
        assert committed == (tmp_path / "knavery/v1" / name).read_text(), f"{name}: make protos"


@pytest.mark.parametrize("path", PROTOS, ids=lambda path: path.name)
def test_every_field_and_message_is_documented(path: Path) -> None:
    previous = ""
    for line in path.read_text().splitlines():
        text = line.strip()
        declares = re.match(
            r"(message|enum) \w+|(optional |repeated )?[\w.]+ (?!TRUMP_)\w+ = \d+;", text
        )
        if declares:
            assert previous.startswith("//"), f"{path.name}: undocumented: {text}"
        previous = text


@pytest.mark.parametrize("path", PROTOS, ids=lambda path: path.name)
def test_the_guide_says_what_every_message_is_for(path: Path) -> None:
    guide = (ROOT / "docs/protocol.md").read_text()
    for name in re.findall(r"^message (\w+)", path.read_text(), re.MULTILINE):
        assert f"\n| `{name}` | " in guide, name


@pytest.mark.parametrize("path", PROTOS, ids=lambda path: path.name)
def test_enums_start_with_unspecified(path: Path) -> None:
    for name, zero in re.findall(r"enum (\w+) \{[^}]*?(\w+) = 0;", path.read_text()):
        assert zero.endswith("_UNSPECIFIED"), name
