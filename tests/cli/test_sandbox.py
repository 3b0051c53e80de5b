"""What commands say and do about the sandbox, where bubblewrap is there and where it is not."""

import json
from pathlib import Path

from tests.cli.conftest import Knavery, command
from tests.sandboxes import needs_bubblewrap

CUP = """
entrants = ["lowest", "greedy", "highest"]
[tournament]
game = "knave"
rules = {max_deals = 1}
seatings = "cyclic"
[sandbox]
mode = "MODE"
"""


def write(folder: Path, mode: str) -> Path:
    (folder / "cup.toml").write_text(CUP.replace("MODE", mode))
    return folder / "cup.toml"


def test_without_bubblewrap_auto_says_so_and_strict_refuses(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "empty").mkdir()
    bare = environment | {"PATH": str(tmp_path / "empty")}
    done = command(tmp_path, bare, "run", str(write(tmp_path, "auto")))
    assert done.returncode == 0, done.stderr
    first = done.stderr.splitlines()[0]
    assert first.startswith("sandbox: bots can read your files, use the network and see other bots")
    assert first.endswith("bubblewrap is not installed: apt-get install bubblewrap")
    table = command(tmp_path, bare, "standings", "cup.knavery").stdout
    assert "Bots ran without isolation" in table
    said = json.loads(command(tmp_path, bare, "standings", "cup.knavery", "--json").stdout)
    assert [line.partition(";")[0] for line in said["sandbox"]] == ["no isolation"]
    (tmp_path / "cup.knavery").unlink()
    done = command(tmp_path, bare, "run", str(write(tmp_path, "strict")))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "apt-get install bubblewrap" in done.stderr
    assert not (tmp_path / "cup.knavery").exists()
    done = command(tmp_path, bare, "doctor", "--json")
    checks = {row["name"]: row for row in json.loads(done.stdout)["checks"]}
    assert checks["sandbox"]["mend"].endswith("apt-get install bubblewrap")


def test_with_bubblewrap_strict_plays_and_the_file_says_so(
    knavery: Knavery, tmp_path: Path
) -> None:
    needs_bubblewrap()
    write(tmp_path, "strict")
    done = knavery("run", "cup.toml")
    assert done.returncode == 0, done.stderr
    assert "read your files" not in done.stderr
    (line,) = json.loads(knavery("standings", "cup.knavery", "--json").stdout)["sandbox"]
    assert line.startswith("bubblewrap ")
    assert "without isolation" not in knavery("standings", "cup.knavery").stdout
