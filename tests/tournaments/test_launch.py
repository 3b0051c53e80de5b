"""What a user is told before anything is played: bots that cannot be entered, names of files."""

from pathlib import Path

import pytest

from referee.bots import BotError, load
from tournaments import cli, launch
from tournaments.errors import STOPPED
from tournaments.plain import command, harmless

NASTY = "a\x1b[31mb\u202ec"


def test_all_bots_that_cannot_be_entered_are_named_at_once() -> None:
    tournament = launch.of_bots("cup", ["nobody", "random", "nowhere"], "knave")
    with pytest.raises(BotError) as error:
        launch.plan(tournament)
    first, second = str(error.value).splitlines()
    assert first.startswith("'nobody': no such file")
    assert second.startswith("'nowhere': no such file")


def test_all_bots_that_cannot_be_built_are_named_at_once(tmp_path: Path) -> None:
    for name in ("ann", "ben"):
        (tmp_path / name).mkdir()
        described = 'run = ["python", "bot.py"]\nbuild = ["no-such-compiler"]'
        (tmp_path / name / "bot.toml").write_text(described)
    with pytest.raises(BotError) as error:
        launch.ready([load(str(tmp_path / name)) for name in ("ann", "ben")])
    for line, name in zip(str(error.value).splitlines(), ("ann", "ben"), strict=True):
        assert line.startswith(f"{name}: its build cannot be started")


def test_a_folder_s_name_is_harmless_where_it_names_a_tournament(tmp_path: Path) -> None:
    folder = tmp_path / NASTY
    folder.mkdir()
    for name in ("ann", "ben", "cat"):
        (folder / f"{name}.py").touch()
    made = launch.of_folder(folder, "knave", "classic", 1)
    assert made.name == "ab\ufffdc"


def test_paths_and_commands_for_a_terminal() -> None:
    assert harmless(Path("out") / NASTY) == "out/ab\ufffdc"
    assert harmless(Path("a\nb")) == "a\ufffdb"
    assert command("knavery", "resume", Path("/a/b.knavery")) == "`knavery resume /a/b.knavery`"
    assert command("knavery", "resume", Path("my cup")) == "`knavery resume 'my cup'`"


def test_a_stop_while_the_commands_are_loaded_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "parser", stopped)
    assert cli.main(["bots"]) == STOPPED
    assert capsys.readouterr().err == "knavery: stopped\n"
