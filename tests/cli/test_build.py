"""`knavery build`: what it says, and that what it made is used."""

import json
from pathlib import Path

from tests.cli.conftest import Knavery

COUNTING = """
import pathlib
count = pathlib.Path.home() / {count!r}
count.write_text(count.read_text() + "x" if count.exists() else "x")
pathlib.Path("made.py").write_text(pathlib.Path("source.py").read_text())
"""
BOT = """
from knavery import Bot, serve

class Mine(Bot):
    def play(self, view):
        return view.legal[0]

if __name__ == "__main__":
    serve(Mine)
"""


def count_of(folder: Path) -> str:
    """The name of the file in which it counts."""
    return f"{folder.parent.name}-{folder.name}.count"


def write(folder: Path) -> Path:
    """A bot that has to be built, and counts how often it is, in the home that builds have."""
    folder.mkdir()
    (folder / "bot.toml").write_text('run = ["python", "made.py"]\nbuild = ["python", "build.py"]')
    (folder / "build.py").write_text(COUNTING.format(count=count_of(folder)))
    (folder / "source.py").write_text(BOT)
    return folder


def test_what_was_built_is_used(knavery: Knavery, bot_cache: Path, tmp_path: Path) -> None:
    mine = write(tmp_path / "mine")
    done = knavery("build", "mine", "lowest")
    assert done.returncode == 0, done.stderr
    first, place, second, _ = done.stdout.splitlines()
    assert first.startswith("mine: built in ")
    assert "lowest: " in second
    assert (Path(place.split(maxsplit=1)[1]) / "made.py").exists()
    assert "mine: was built already, version" in knavery("build", "mine").stdout
    played = json.loads(knavery("play", "mine", "--json").stdout)
    assert played["matches"][0]["bots"][0] == "mine"
    faults = played["matches"][0]["faults"]
    assert {fault["kind"] for fault in faults} <= {"late"}, "a slow machine is no fault of a build"
    (count,) = (bot_cache / "homes").glob(f"*/{count_of(mine)}")
    assert count.read_text() == "x"


def test_as_json(knavery: Knavery, tmp_path: Path) -> None:
    write(tmp_path / "mine")
    data = json.loads(knavery("build", "mine", "--json").stdout)
    assert data["format"] == "knavery.build/1"
    (row,) = data["bots"]
    assert (row["name"], row["environment"]) == ("mine", None)
    assert row["command"][1:] == ["made.py"]
    assert row["seconds"] > 0
    assert json.loads(knavery("build", "mine", "--json").stdout)["bots"][0]["seconds"] == 0


def test_one_that_fails_does_not_keep_the_others_from_being_built(
    knavery: Knavery, tmp_path: Path
) -> None:
    (write(tmp_path / "bad") / "build.py").write_text("raise SystemExit('no compiler here')")
    (write(tmp_path / "silent") / "build.py").write_text("raise SystemExit(3)")
    write(tmp_path / "good")
    done = knavery("build", "bad", "nobody", "silent", "good")
    assert done.returncode == 2
    assert "bad: its build exited with status 1" in done.stderr
    assert "no compiler here" in done.stderr
    assert "silent: its build exited with status 3; it printed nothing\n" in done.stderr
    assert "'nobody': no such file or folder" in done.stderr
    assert "Traceback" not in done.stderr
    assert "good: built in " in done.stdout
