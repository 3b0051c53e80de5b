"""`knavery run` on a file that exists, and `knavery resume` when bots are not what they were."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Knavery, command

BOTS = ("ann", "ben", "cat")
NEWER = "\n# newer\n"


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """The folder of a finished tournament of three, with two more bots beside. Only copied."""
    folder = tmp_path_factory.mktemp("cup")
    source = ROOT / "sample_bots/python/lowest/bot.py"
    for name in (*BOTS, "dan", "eve"):
        shutil.copy(source, folder / f"{name}.py")
    configure(folder, *BOTS)
    done = command(folder, environment, "run", "cup.toml")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(cup: Path, tmp_path: Path) -> Path:
    """A copy of it, in which the file says where its bots are now."""
    for each in cup.iterdir():
        if each.is_file():
            shutil.copy(each, tmp_path)
    return tmp_path


def configure(folder: Path, *bots: str, more: str = "") -> None:
    entrants = ", ".join(f'"{bot}.py"' for bot in bots)
    main = "[tournament]\ngame = 'knave'\nseatings = 'cyclic'\nrules = {max_deals = 1}\n"
    (folder / "cup.toml").write_text(f"entrants = [{entrants}]\n{main}{more}")


def test_nothing_has_changed(knavery: Knavery, folder: Path) -> None:
    before = knavery("standings", "cup.knavery").stdout
    done = knavery("run", "cup.toml")
    assert done.returncode == 0, done.stderr
    there, size, missing, *rest = done.stdout.splitlines()
    assert there == "cup.knavery is there, and nothing has changed"
    assert size == "cup: knave classic, 3 bots, and nothing is left to be played"
    assert missing == "cup: 3 matches are there, 0 are missing"
    assert "\n".join(rest[:-1]) + "\n" == before
    assert not list(folder.glob("cup.knavery-*"))


def test_a_newcomer_and_a_new_version_play_what_is_missing(knavery: Knavery, folder: Path) -> None:
    with (folder / "ben.py").open("a") as file:
        file.write(NEWER)
    configure(folder, *BOTS, "dan")
    dry = knavery("run", "cup.toml", "--dry-run")
    assert dry.returncode == 0, dry.stderr
    done = knavery("run", "cup.toml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(dry.stdout)
    lines = done.stdout.splitlines()
    assert lines[0] == "cup.knavery is there, and epoch 1 begins:"
    assert re.fullmatch(r"  newcomer: dan \(\w{7}\)", lines[1])
    assert re.fullmatch(
        r"  new version: ben \(\w{7}, was \w{7}\); the old one is withdrawn", lines[2]
    )
    assert lines[3] == "  unchanged: 2 bots"
    assert lines[4].startswith("cup: knave classic, 4 bots, 4 groups, 4 blocks, 12 matches, ")
    assert re.fullmatch("cup: commitment of epoch 1 [0-9a-f]{64}", lines[5])
    assert "4 blocks complete, 0 open" in done.stdout
    assert re.search("key of the deals of epoch 1, as committed to: [0-9a-f]{64}$", done.stdout)
    table = json.loads(knavery("standings", "cup.knavery", "--json").stdout)
    assert sorted(row["name"] for row in table["standings"]) == ["ann", "ben", "cat", "dan"]
    assert {row["matches"] for row in table["standings"]} == {9}
    proof = json.loads(knavery("verify", "cup.knavery", "--json").stdout)
    assert proof["agrees"]
    assert [epoch["over"] for epoch in proof["epochs"]] == [True, False]
    lines = knavery("export", "cup.knavery", "--replays").stdout.splitlines()
    assert len(lines) == 3 + 12


def test_a_budget_ends_a_later_epoch_that_can_be_resumed(knavery: Knavery, folder: Path) -> None:
    configure(folder, *BOTS, "dan", more="rounds = 3000")
    done = knavery("run", "cup.toml", "--budget", "1s")
    assert done.returncode == 0, done.stderr
    assert "  rounds: 3000, was 1" in done.stdout
    played = re.search(r"is spent: ([\d,]+) of 11,999 blocks are played", done.stdout)
    assert played is not None
    configure(folder, *BOTS, "dan", more="rounds = 2")
    done = knavery("run", "cup.toml")
    assert done.returncode == 0, done.stderr
    assert "epoch 2 begins" in done.stdout
    assert "epoch 1 is over; key of the deals of epoch 1" in done.stdout
    assert "agrees with its key" in knavery("verify", "cup.knavery").stdout


def test_a_folder_is_run_again(knavery: Knavery, tmp_path: Path) -> None:
    friends = tmp_path / "friends"
    friends.mkdir()
    for name in BOTS:
        shutil.copy(ROOT / "sample_bots/python/lowest/bot.py", friends / f"{name}.py")
    assert knavery("run", "friends").returncode == 0
    (friends / "ann.py").unlink()
    shutil.copy(ROOT / "sample_bots/python/highest/bot.py", friends / "dan.py")
    done = knavery("run", "friends", "--variant", "double")
    assert done.returncode == 2
    assert 'friends.knavery: was begun with variant = "classic", not "double"' in done.stderr
    done = knavery("run", "friends", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "  newcomer: dan" in done.stdout
    assert "  withdrawn: ann" in done.stdout


def test_bots_that_moved_are_resumed_from_their_new_place(knavery: Knavery, folder: Path) -> None:
    new = folder / "new"
    new.mkdir()
    for name in BOTS:
        (folder / f"{name}.py").rename(new / f"{name}.py")
    gone = knavery("resume", "cup.knavery")
    assert "nothing" not in gone.stdout
    (folder / "cup.toml").rename(new / "cup.toml")
    done = knavery("run", "new/cup.toml", "-o", "cup.knavery")
    assert done.returncode == 0, done.stderr
    assert "nothing has changed" in done.stdout
    assert knavery("resume", "cup.knavery").returncode == 0


def test_a_changed_bot_is_not_resumed(
    knavery: Knavery, tmp_path: Path, environment: dict[str, str]
) -> None:
    for name in BOTS:
        shutil.copytree(ROOT / "sample_bots/python/lowest", tmp_path / name)
    entrants = ", ".join(f'"{name}={tmp_path / name}"' for name in BOTS)
    configure(tmp_path)
    main = (tmp_path / "cup.toml").read_text().partition("\n")[2]
    (tmp_path / "cup.toml").write_text(f"entrants = [{entrants}]\n{main}")
    assert command(tmp_path, environment, "run", "cup.toml").returncode == 0
    ben, kept = tmp_path / "ben", tmp_path / "kept"
    shutil.copytree(ben, kept)

    def refused() -> None:
        done = knavery("resume", "cup.knavery")
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("knavery resume: cup.knavery: ben ")
        assert f"put {ben} back as it was (version " in line
        assert line.endswith("`knavery run` with the tournament's FILE.toml or FOLDER")

    with (ben / "bot.py").open("a") as file:
        file.write(NEWER)
    refused()
    (ben / "bot.toml").write_text("run = 3\n")
    refused()
    shutil.rmtree(ben)
    refused()
    assert "agrees" in knavery("verify", "cup.knavery").stdout
    kept.rename(ben)
    assert knavery("resume", "cup.knavery").returncode == 0


def test_what_is_no_tournament_is_not_run_again(knavery: Knavery, folder: Path) -> None:
    (folder / "cup.knavery").write_bytes(b"")
    done = knavery("run", "cup.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("cup.knavery: is not a Knavery file\n")
