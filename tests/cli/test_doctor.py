"""`knavery doctor`, and each of its checks on machines that lack something."""

import json
from pathlib import Path

import pytest

from referee.bots import BotError
from tests.cli.conftest import Knavery, command
from tournaments import doctor, starters
from tournaments.doctor import CHECKS, LANGUAGES, Tool


def test_this_machine_runs_python_bots(knavery: Knavery) -> None:
    done = knavery("doctor", "--json")
    assert done.returncode == 0, done.stdout
    said = json.loads(done.stdout)
    assert (said["format"], said["ok"]) == ("knavery.doctor/1", True)
    assert [row["name"] for row in said["checks"]] == [check.name for check in CHECKS]
    for row in said["checks"]:
        assert row["found"].isprintable()
        assert row["ok"] == (not row["mend"])


def test_it_says_no_and_exits_with_1(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = command(tmp_path, environment | {"KNAVERY_CACHE": str(tmp_path / "file")}, "doctor")
    assert done.returncode == 1
    assert "NO  cache " in done.stdout
    assert "name another folder in KNAVERY_CACHE" in done.stdout
    assert done.stdout.endswith("Python bots cannot run here yet.\n")
    assert not done.stderr


def test_every_language_with_a_template_has_a_check() -> None:
    assert {*starters.starters()} <= {*LANGUAGES, "python"}


def test_no_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = doctor.language(LANGUAGES["java"])
    assert not finding.ok
    assert finding.found == "no javac (needs 17), no mvn (needs 3.6)"
    assert finding.mend == "apt-get install default-jdk-headless maven"


@pytest.mark.parametrize(
    ("script", "found", "ok"),
    [
        ("echo tool version v1.10.3", "tool 1.10.3", True),
        ("echo 2", "tool 2", True),
        ("echo 1.9.9", "tool 1.9.9 (needs 1.10)", False),
        ("echo none at all", "tool -v fails (needs 1.10)", False),
        ("echo 3.0; exit 1", "tool -v fails (needs 1.10)", False),
    ],
)
def test_versions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, found: str, ok: bool
) -> None:
    (tmp_path / "tool").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "tool").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    finding = doctor.language((Tool("tool", ("-v",), (1, 10), "tools"),))
    assert (finding.found, finding.ok) == (found, ok)
    assert finding.mend == ("" if ok else "apt-get install tools")


def test_a_bot_that_cannot_be_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> None:
        raise BotError("lowest: no room")

    monkeypatch.setattr(doctor, "prepare", fails)
    assert doctor.bot_process().found == "lowest: no room"


def test_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_MEMORY", 2**60)
    assert not doctor.memory().ok


def test_an_old_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.rows, "sqlite_version", lambda: "3.9.2")
    finding = doctor.sqlite()
    assert (finding.ok, finding.found) == (False, "3.9.2")
