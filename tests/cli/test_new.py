"""`knavery new`: what it writes for each language, and what it refuses."""

import re
import shutil
from pathlib import Path

import pytest

from referee.bot_files import bot_files
from referee.bots import load, shipped
from tests.cli.conftest import Knavery
from tournaments.starters import starters, write


@pytest.mark.parametrize("language", sorted(starters()))
def test_a_folder_of_each_language(language: str, tmp_path: Path) -> None:
    starter = write("mine", language, tmp_path)
    made = load(str(tmp_path / "mine"))
    assert (made.name, made.run, made.build) == ("mine", starter.bot.run, starter.bot.build)
    assert (tmp_path / "mine" / starter.yours).is_file()
    assert starter.yours != "README.md", "its README says which file is the author's"
    mine, theirs = (
        {file.name: (file.executable, file.path.read_bytes()) for file in bot_files(folder)}
        for folder in (tmp_path / "mine", starter.bot.source)
    )
    toml = mine.pop("bot.toml")[1].decode()
    assert (
        re.sub('^name = "mine"', f'name = "starter-{language}"', toml)
        == theirs.pop("bot.toml")[1].decode()
    )
    assert mine.items() <= theirs.items()


def test_there_are_python_and_those_that_read_lines() -> None:
    assert {"python", "awk", "perl"} <= starters().keys()


def test_the_next_commands_work(knavery: Knavery, tmp_path: Path) -> None:
    done = knavery("new", "mine")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "mine: a bot in python; yours is mine/bot.py"
    assert second == "Next: cd mine && knavery build . && knavery check . && knavery play ."
    assert knavery("build", tmp_path / "mine").stdout.startswith("mine: built in ")
    played = knavery("play", tmp_path / "mine")
    assert played.returncode == 0, played.stderr
    assert "exception" not in played.stdout


def test_nothing_that_a_build_left_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    shutil.copytree(starters()["awk"].bot.source, shelf / "awk")
    for left in ("target", "node_modules", "__pycache__"):
        (shelf / "awk" / left).mkdir()
        (shelf / "awk" / left / "rubbish").touch()
    monkeypatch.setattr("tournaments.starters.files", lambda _: shelf)
    write("mine", "awk", tmp_path)
    assert not [*(tmp_path / "mine").rglob("rubbish")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("new", "there"), "there: exists already: take another name, or remove it"),
        (("new", "dangling"), "dangling: exists already"),
        (("new", "mine", "--lang", "cobol"), "--lang cobol: there is awk, "),
        (("new", "../mine"), "'../mine': a new bot's name is a letter, then letters, digits"),
        (("new", "1st"), "'1st': a new bot's name is a letter"),
        (("new", "a\nb"), "a new bot's name is a letter"),
        (("new", ""), "'': a new bot's name is a letter"),
        (("new", "x" * 41), "a new bot's name is a letter"),
        (("new", "node_modules"), "node_modules: is a name that Knavery uses itself"),
        *((("new", name), f"{name}: is a name that Knavery uses itself") for name in shipped()[:1]),
    ],
)
def test_what_is_refused(
    knavery: Knavery, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    done = knavery(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "there"]
