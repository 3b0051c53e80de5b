"""Nothing that is shared with --anonymous holds a bot's name, or what a bot wrote."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.tournaments.playing import KEY, play_all, tournament
from tournaments.cli import main
from tournaments.schedule import Entrant, commitment
from tournaments.store import Store

NAMES = ("annabel-lee", "Quoth", "ligeia")
SECRETS = (*NAMES, "usher", "dupin.py", "nevermore", "feedface")
"""Names, folders, files, words and hashes that would tell whose bots these are."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament whose faults and notes are full of names and folders."""
    path = tmp_path_factory.mktemp("anonymous") / "x.knavery"
    plan = tournament(max_deals=1)
    field = tuple(
        Entrant(name, f"{n}feedface{n:055}", f"/home/usher/{name}", ("/home/usher/dupin.py",))
        for n, name in enumerate(NAMES)
    )
    schedule = plan.schedule(KEY, range(3))
    with Store.create(path, plan, KEY, field, commitment(schedule, field)) as store:
        list(play_all(store, schedule, faults=0.3))
    wrote = "dupin.py:3 in play: usher, Quoth: nevermore"
    with closing(sqlite3.connect(path)) as db:
        (kinds,) = db.execute("SELECT count(DISTINCT kind) FROM faults").fetchone()
        assert kinds > 3
        db.execute("UPDATE faults SET detail = ? WHERE kind NOT IN ('illegal', 'late')", (wrote,))
        db.execute("UPDATE faults SET detail = '9S is not in the hand' WHERE kind = 'illegal'")
        db.execute("UPDATE notes SET text = ?", (wrote,))
        db.commit()
    return path


def secrets_in(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret.lower() in text.lower()]


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",), ("--head-to-head",)])
def test_standings(file: Path, capsys: pytest.CaptureFixture[str], form: tuple[str, ...]) -> None:
    assert main(["standings", str(file), *form]) == 0
    assert set(NAMES) <= set(secrets_in(capsys.readouterr().out))
    asked = ["standings", str(file), "--anonymous", "--anchor", "Quoth", *form]
    assert main(asked) == 0
    told = capsys.readouterr().out
    assert not secrets_in(told)
    assert "Bot 2" in told


def test_replays(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(file), "--replays"]) == 0
    assert {*NAMES, "nevermore"} <= set(secrets_in(capsys.readouterr().out))
    assert main(["export", str(file), "--replays", "--anonymous"]) == 0
    told = capsys.readouterr().out
    assert not secrets_in(told)
    assert '"Bot 3"' in told
    assert "9S is not in the hand" in told, "the referee's own words are no secret"


def test_every_page_of_a_report(file: Path, tmp_path: Path) -> None:
    for folder, anonymous in (("open", []), ("closed", ["--anonymous"])):
        words = ["report", str(file), "-o", str(tmp_path / folder), "--replays", "all"]
        assert main([*words, *anonymous]) == 0
    told = {path.name: path.read_text() for path in (tmp_path / "open").iterdir()}
    assert {*NAMES, "nevermore", "feedface"} <= set(secrets_in("".join(told.values())))
    for path in (tmp_path / "closed").iterdir():
        assert not secrets_in(path.name + path.read_text()), path.name
    assert "Bot 1" in (tmp_path / "closed" / "index.html").read_text()
