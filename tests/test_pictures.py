"""The pictures of README.md and docs/, which `make screenshots` takes."""

import re
from pathlib import Path

import docs.screenshots as screenshots

ROOT = Path(__file__).resolve().parent.parent


def shown() -> set[Path]:
    """Every picture that a page shows."""
    found = set()
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for name in re.findall(r'(?:!\[[^\]]*\]\(|<img src=")([^)"]+)', page.read_text()):
            found.add((page.parent / name).resolve())
    return found


def test_every_picture_is_there_and_shown_and_small() -> None:
    taken = set((ROOT / "docs" / "images").iterdir())
    assert shown() == taken
    assert {f"{picture.name}.png" for picture in screenshots.PICTURES} <= {p.name for p in taken}
    assert all(path.stat().st_size < screenshots.LARGEST for path in taken)
