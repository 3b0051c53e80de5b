"""What a bot consists of: which files count, and which are refused."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from referee import bot_files
from referee.bot_files import BotError
from referee.bots import load
from tests.referee.bot_folders import TOML, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "bot")


def test_a_version_is_the_same_wherever_the_bot_is(tmp_path: Path) -> None:
    one = load(str(write(tmp_path / "one", z="1", a="2"))).version
    assert load(str(write(tmp_path / "two", a="2", z="1"))).version == one
    assert one == "6a1a1e52599cc0aa6c7a4e3b82c27901b8672c0d95e09afbd68cdf6e50dc26d5"


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "bot.py").write_text("print('other')\n"),
        lambda folder: (folder / "bot.py").rename(folder / "bot2.py"),
        lambda folder: (folder / "bot.py").chmod(0o755),
        lambda folder: (folder / "new").touch(),
        lambda folder: (folder / "link").symlink_to("bot.py"),
        lambda folder: write(folder, bot_toml=TOML + "max_tables = 1"),
    ],
)
def test_a_version_changes_with_the_contents(
    folder: Path, change: Callable[[Path], object]
) -> None:
    before = load(str(folder)).version
    change(folder)
    assert load(str(folder)).version != before


def test_what_is_left_out_does_not_count(folder: Path) -> None:
    write(folder, bot_toml=TOML + 'exclude = ["*.log", "models/old"]')
    (folder / "models").mkdir()
    before = load(str(folder)).version
    for left_out in (*bot_files.LEFT_OUT, "models/old", "models/.venv"):
        (folder / left_out).mkdir()
        (folder / left_out / "file").touch()
    (folder / "models" / "a.log").touch()
    assert load(str(folder)).version == before
    (folder / "old").touch()
    assert load(str(folder)).version != before


def test_a_single_file_and_its_requirements(tmp_path: Path) -> None:
    file = tmp_path / "carol.py"
    file.write_text("pass")
    alone = load(str(file)).version
    (tmp_path / "other.py").touch()
    assert load(str(file)).version == alone
    (tmp_path / "requirements.txt").touch()
    assert load(str(file)).version != alone


@pytest.mark.parametrize("target", ["../outside", "/etc/passwd", "sub/../../outside", "..", "link"])
def test_links_to_the_outside_are_refused(folder: Path, target: str) -> None:
    (folder.parent / "outside").touch()
    (folder / "link").symlink_to(target)
    with pytest.raises(BotError) as caught:
        load(str(folder))
    assert str(caught.value).startswith(
        f"{folder}/link: links to {target}; a link must be relative"
    )


def test_links_by_way_of_links_are_refused(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "up").symlink_to("..")
    load(str(folder))
    (folder / "link").symlink_to("sub/up/../secret")
    with pytest.raises(BotError, match=r"links to sub/up/../secret; a link must"):
        load(str(folder))


def test_a_fifo_is_refused(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(BotError, match="pipe: is neither a file nor a folder"):
        load(str(folder))


@pytest.mark.parametrize(("bound", "value"), [("MAX_FILES", 2), ("MAX_BYTES", 60)])
def test_a_bot_has_bounds(
    folder: Path, monkeypatch: pytest.MonkeyPatch, bound: str, value: int
) -> None:
    monkeypatch.setattr(bot_files, bound, value)
    load(str(folder))
    (folder / "more").write_text("x" * 10)
    with pytest.raises(BotError, match=f"^{folder}: holds more than .* exclude in bot.toml"):
        load(str(folder))
