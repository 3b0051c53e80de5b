"""Every command: its help, what it prints, and one line for each thing that can be wrong."""

import csv
import io
import json
import re
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Knavery, command
from tournaments import cli
from tournaments.commands import COMMANDS
from tournaments.ownership import Ownership

TRIO = ("lowest", "highest", "random")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """The folder of a small finished tournament. Nothing in it is changed."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.toml").write_text(
        "[tournament]\ngame = 'knave'\nrounds = 2\nseatings = 'cyclic'\nrules = {max_deals = 1}\n"
        + "".join(f"[[entrants]]\npath = '{name}'\n" for name in TRIO)
    )
    done = command(folder, environment, "run", "small.toml")
    assert done.returncode == 0, done.stderr
    assert "commitment" in done.stdout
    assert "key of the deals" in done.stdout
    return folder


@pytest.fixture
def played(small: Path, tmp_path: Path) -> Path:
    """A copy of its files."""
    for name in ("small.toml", "small.knavery"):
        shutil.copy(small / name, tmp_path)
    return tmp_path / "small.knavery"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(knavery: Knavery, name: str) -> None:
    done = knavery(name, "--help")
    assert done.returncode == 0
    assert f"example:\n  knavery {name}" in done.stdout


def test_every_command_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    for name in COMMANDS:
        assert re.search(rf"(knavery|make) {name}\b", readme), name


def test_the_help_lists_every_command(knavery: Knavery) -> None:
    done = knavery("--help")
    assert all(name in done.stdout for name in COMMANDS)


def test_standings_in_every_form(knavery: Knavery, played: Path) -> None:
    text = knavery("standings", played, "--head-to-head").stdout
    assert "2 blocks complete, 0 open" in text
    assert all(name in text for name in TRIO)
    data = json.loads(knavery("standings", played, "--json").stdout)
    assert data["format"] == "knavery.standings/1"
    rows = list(csv.DictReader(io.StringIO(knavery("standings", played, "--csv").stdout)))
    assert {row["name"] for row in rows} == set(TRIO)
    anchored = knavery("standings", played, "--anchor", "random").stdout
    assert re.search(r"random\s+\w+\s+1500", anchored)


def test_standings_say_what_time_the_bots_took(knavery: Knavery, played: Path) -> None:
    text = knavery("standings", played, "--clocks").stdout
    assert "Times (time on the wall) in ms" in text
    assert len(re.findall(r"^(?:lowest|highest|random) +102 ", text, re.MULTILINE)) == 3
    rows = json.loads(knavery("standings", played, "--clocks", "--json").stdout)["clocks"]
    assert sum(row["decisions"] for row in rows) == 6 * 51
    for row in rows:
        assert 0 <= row["charged_median_ms"] <= row["charged_worst_ms"]
        assert 0 <= row["queued_median_ms"] <= row["queued_worst_ms"]
        assert row["time_faults"] == 0
    text = knavery("standings", played, "--clocks", "--csv", "--anonymous").stdout
    assert {row["name"] for row in csv.DictReader(io.StringIO(text))} == {"Bot 1", "Bot 2", "Bot 3"}


def test_export_writes_one_deal_a_line(knavery: Knavery, played: Path, tmp_path: Path) -> None:
    done = knavery("export", played, "--replays", "-o", "deals.jsonl")
    assert done.returncode == 0
    lines = (tmp_path / "deals.jsonl").read_text().splitlines()
    assert len(lines) == 6
    assert all(json.loads(line)["format"] == "knavery.replay/1" for line in lines)
    assert knavery("export", played, "--replays").stdout.splitlines() == lines


def test_resuming_what_is_complete_says_so_and_changes_nothing(
    knavery: Knavery, played: Path
) -> None:
    before = knavery("standings", played).stdout
    done = knavery("resume", played)
    assert done.returncode == 0
    assert "6 matches are there, 0 are missing" in done.stdout
    assert before in done.stdout


def test_a_folder_of_bots_is_a_tournament(knavery: Knavery, tmp_path: Path) -> None:
    folder = tmp_path / "friends"
    folder.mkdir()
    source = (ROOT / "sample_bots/python/lowest/bot.py").read_text()
    for name in ("ann", "ben", "cat"):
        (folder / f"{name}.py").write_text(source)
    done = knavery("run", folder, "--variant", "double")
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in ("ann", "ben", "cat"))
    assert (tmp_path / "friends.knavery").exists()


def write(folder: Path, name: str, bots: int = 3, more: str = "") -> None:
    """A configuration of random bots, small unless `more` says otherwise."""
    entrants = "".join(f"[[entrants]]\nname = 'bot{n}'\npath = 'random'\n" for n in range(bots))
    game = "game = 'knave'\nseatings = 'cyclic'\nrules = {max_deals = 1}\n"
    text = f"[tournament]\n{game}{more}\n{entrants}"
    (folder / f"{name}.toml").write_text(text)


def test_a_dry_run_says_how_much_it_is_and_makes_no_file(knavery: Knavery, tmp_path: Path) -> None:
    write(tmp_path, "small")
    write(tmp_path, "large", bots=120, more="rounds = 1000")
    done = knavery("run", "small.toml", "large.toml", "--dry-run")
    assert done.returncode == 0, done.stderr
    small, large = done.stdout.splitlines()
    said = "small: knave classic, 3 bots, 1 group, 1 block, 3 matches, about 9 process starts; "
    assert small.startswith(said)
    assert "280,840 groups" in large
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.toml", "small.toml"]


def test_more_than_a_day_needs_a_yes(knavery: Knavery, tmp_path: Path) -> None:
    write(tmp_path, "large", bots=120, more="rounds = 1000")
    done = knavery("run", "large.toml")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert re.search(r'format = "balanced" and blocks = \d+', done.stderr)
    assert [path.name for path in tmp_path.iterdir()] == ["large.toml"]


def test_balanced_blocks_are_played(knavery: Knavery, tmp_path: Path) -> None:
    write(tmp_path, "few", bots=5, more="format = 'balanced'\nblocks = 5")
    done = knavery("run", "few.toml")
    assert done.returncode == 0, done.stderr
    assert "5 blocks complete, 0 open" in done.stdout
    rows = csv.DictReader(io.StringIO(knavery("standings", "few.knavery", "--csv").stdout))
    assert [row["matches"] for row in rows] == ["9"] * 5


def test_a_budget_ends_a_run_that_can_be_resumed(knavery: Knavery, tmp_path: Path) -> None:
    write(tmp_path, "long", more="rounds = 100000")
    done = knavery("run", "long.toml", "--budget", "1s")
    assert done.returncode == 0, done.stderr
    assert "of which 1 s are to be played" in done.stdout
    played = re.search(
        r"is spent: (\d+) of 100,000 blocks are played; `knavery resume", done.stdout
    )
    assert played is not None
    assert re.search(rf"\b{played[1]} blocks? complete", done.stdout)
    assert "key of the deals" not in done.stdout
    more = knavery("resume", "long.knavery", "--budget", "1s")
    assert more.returncode == 0, more.stderr
    assert f"{3 * int(played[1])} matches are there" in more.stdout
    assert "is spent" in more.stdout


def test_several_tournaments_one_after_the_other(knavery: Knavery, tmp_path: Path) -> None:
    write(tmp_path, "one")
    write(tmp_path, "two")
    owner = Ownership(tmp_path / "one.knavery")
    done = knavery("run", "one.toml", "two.toml")
    owner.release()
    assert done.returncode == 2
    assert "one.knavery: is being written by process" in done.stderr
    assert "two: commitment" in done.stdout
    assert "1 block complete" in knavery("standings", "two.knavery").stdout


def test_all_configurations_are_checked_before_anything_is_played(
    knavery: Knavery, tmp_path: Path
) -> None:
    write(tmp_path, "good")
    write(tmp_path, "bad", more="round = 3")
    write(tmp_path, "worse", bots=1)
    done = knavery("run", "good.toml", "bad.toml", "worse.toml")
    assert done.returncode == 2
    assert 'did you mean "rounds"?' in done.stderr
    assert "a table needs at least 3" in done.stderr
    assert not list(tmp_path.glob("*.knavery"))


def test_all_bots_are_loaded_before_anything_is_played(knavery: Knavery, tmp_path: Path) -> None:
    write(tmp_path, "good")
    write(tmp_path, "bad")
    text = (tmp_path / "bad.toml").read_text().replace("'random'", "'nobody'", 1)
    (tmp_path / "bad.toml").write_text(text)
    done = knavery("run", "good.toml", "bad.toml")
    assert done.returncode == 2
    assert "nobody" in done.stderr
    assert not list(tmp_path.glob("*.knavery"))


def test_play_fills_the_table_and_shows_the_result(knavery: Knavery) -> None:
    done = knavery("play", "lowest")
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in ("lowest", "advice", "cautious"))


@pytest.mark.parametrize("block", [False, True])
def test_play_as_json(knavery: Knavery, block: bool) -> None:
    options = ["--block"] if block else ["--matches", "2"]
    done = knavery("play", *TRIO, *options, "--json")
    data = json.loads(done.stdout)
    assert data["game"] == "knave"
    assert len(data["matches"]) == (6 if block else 2)
    assert all(sorted(match["bots"]) == sorted(TRIO) for match in data["matches"])
    assert all(match["faults"] == [] for match in data["matches"])


def test_play_shows_where_an_author_went_wrong(knavery: Knavery, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from knavery import Bot, serve\n"
        "class Mine(Bot):\n"
        "    def play(self, view):\n"
        "        return view.legal[99]\n"
        "if __name__ == '__main__':\n"
        "    serve(Mine)\n"
    )
    done = knavery("play", "mine.py")
    assert done.returncode == 0, done.stderr
    assert "mine: exception" in done.stdout
    assert "IndexError" in done.stdout
    assert re.search(r"mine\.py.{0,8}4", done.stdout)
    assert "more faults" in done.stdout


def test_play_shows_why_a_bot_does_not_start(knavery: Knavery, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import knavery\nimport no_such_module\n")
    done = knavery("play", "mine.py")
    assert done.returncode == 0, done.stderr
    assert "mine: absent" in done.stdout
    assert "No module named 'no_such_module'" in done.stdout


def test_bots_lists_them(knavery: Knavery) -> None:
    assert all(name in knavery("bots").stdout for name in (*TRIO, "advice"))
    assert {row["name"] for row in json.loads(knavery("bots", "--json").stdout)} > set(TRIO)


ON_A_FILE = {
    "audit": (),
    "export": ("--replays",),
    "replay": (),
    "report": ("-o", "out"),
    "repro": ("s0:0:0", "--bot", "random"),
    "resume": (),
    "serve": (),
    "standings": (),
    "verify": (),
}
"""The commands that are about a tournament's file, and what else each must be told."""


def test_no_command_on_a_file_is_left_out() -> None:
    commands = (import_module(f"tournaments.commands.{name}") for name in COMMANDS)
    about = {
        name for name, each in zip(COMMANDS, commands, strict=True) if ".knavery" in each.EXAMPLE
    }
    assert about == set(ON_A_FILE)


@pytest.mark.parametrize("name", ON_A_FILE)
def test_a_folder_instead_of_a_file_is_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cup").mkdir()
    assert cli.main([name, "cup", *ON_A_FILE[name]]) == 2
    said = "cup: is a folder: name the tournament's file, NAME.knavery"
    assert capsys.readouterr() == ("", f"knavery {name}: {said}\n")


WRONG = [
    (("play", "nobody"), "nobody"),
    (("play", "random", "--game", "bridge"), "bridge"),
    (("play", "random", "--game", "knave", "--variant", "tripple"), "tripple"),
    (("play", "random", "--matches", "0"), "--matches must be 1 or more"),
    (("play", "random", "lowest", "highest", "greedy"), "at most 3"),
    (("run", "missing.toml"), "missing.toml"),
    (("run", "missing.toml", "--rounds", "2"), "--rounds is for a folder"),
    (("run", "missing.toml", "--budget", "soon"), "'soon' is no length of time: write one like"),
    (("run", "missing.toml", "other.toml", "-o", "x.knavery"), "-o names one file"),
    (("run", "missing.toml", "missing.toml"), "written for another source"),
    (("resume", "missing.knavery"), "missing.knavery: there is no such file"),
    (("standings", "missing.knavery"), "missing.knavery: there is no such file"),
    (("export", "missing.knavery", "--replays"), "missing.knavery: there is no such file"),
    (("standings", "foreign.knavery"), "foreign.knavery"),
    (("standings", "empty.knavery"), "empty.knavery"),
    (("run", "empty"), "a table needs 3 bots"),
    (("dance",), "invalid choice: 'dance'"),
    ((), "required: COMMAND"),
]


@pytest.mark.parametrize(("words", "said"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_whatever_is_wrong_is_said_in_one_line(
    knavery: Knavery, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "foreign.knavery").write_bytes(b"not a database at all, but long enough" * 100)
    (tmp_path / "empty.knavery").touch()
    (tmp_path / "empty").mkdir()
    done = knavery(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""
