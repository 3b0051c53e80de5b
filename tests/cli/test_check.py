"""`knavery check` as a user runs it: what it prints, and how it ends."""

import json
import re
import shutil
from pathlib import Path

import pytest

from referee.check import BUILD, STEPS
from tests.cli.conftest import ROOT, Knavery

NAMES = [BUILD, *(step.name for step in STEPS)]
BROKEN = "import sys\nsys.exit('\\x1b[31mno card\\x07 today')\n"


def test_a_single_file_passes_as_json(knavery: Knavery, tmp_path: Path) -> None:
    shutil.copy(ROOT / "sample_bots/python/lowest/bot.py", tmp_path / "mine.py")
    done = knavery("check", "mine.py", "--json", "--limit", "20")
    report = json.loads(done.stdout)
    assert done.returncode == 0, report
    assert (report["format"], report["bot"], report["passed"]) == ("knavery.check/1", "mine", True)
    assert [step["name"] for step in report["steps"]] == NAMES
    assert {step["verdict"] for step in report["steps"]} == {"passed"}
    assert report["limits"] == {"limit": 20.0, "bank": 10.0, "startup": 15.0}
    figures = report["figures"]
    assert figures["decisions"] > 300
    assert 0 < figures["median"] <= figures["percentile_99"] <= figures["worst"]
    assert 0 < figures["start"] < report["seconds"]
    assert figures["memory"] > 1_000_000


def test_a_bot_that_fails_is_told_what_to_mend(knavery: Knavery, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(BROKEN)
    done = knavery("check", "mine.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert re.search(r"^FAILED    start ", done.stdout, re.MULTILINE)
    for title in ("expected", "came", "mend", "its log"):
        assert re.search(rf"^  {title}", done.stdout, re.MULTILINE)
    assert "no card\ufffd today" in done.stdout
    assert "\x1b" not in done.stdout
    lines = [line.split()[:3] for line in done.stdout.splitlines() if line.startswith("not tried")]
    assert [line[2] for line in lines] == NAMES[2:]
    assert re.search(rf"^1 passed, 1 failed, {len(NAMES) - 2} not tried, in ", done.stdout, re.M)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "no such file or folder"),
        (("random", "--limit", "0"), "--limit must be from 0.05 to 3600 seconds, not 0"),
        (("random", "--bank", "nan"), "--bank must be from 0 to 3600 seconds, not nan"),
        (("folder",), "bot.toml: is missing"),
    ],
)
def test_what_cannot_be_tried_is_said_in_one_line(
    knavery: Knavery, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "folder").mkdir()
    done = knavery("check", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_every_step_is_documented() -> None:
    page = (ROOT / "docs" / "checking-a-bot.md").read_text()
    rows = re.findall(r"^\| (`.*?`) \|", page, re.MULTILINE)
    documented = [name for row in rows for name in re.findall(r"`([\w-]+)`", row)]
    assert documented == NAMES
    for link in ("README.md", "docs/writing-a-bot.md", "docs/protocol.md"):
        assert "checking-a-bot.md" in (ROOT / link).read_text()
