"""The wheel, in an empty environment outside the checkout, plays real matches."""

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from referee.bot_files import bot_files
from referee.bots import load
from tests.wheels import wheel

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("knavery", "referee", "tournaments", "sample_bots")


def templates() -> set[str]:
    """Every file of the templates for other languages."""
    folders = [path.parent for path in (ROOT / "sample_bots").glob("*/protos")]
    assert folders
    files = [
        file.path for folder in folders for file in bot_files(folder, load(str(folder)).exclude)
    ]
    return {str(path.relative_to(ROOT)) for path in files}


def pages() -> set[str]:
    """Templates and assets of the pages."""
    folder = ROOT / "tournaments" / "web"
    files = [*folder.glob("templates/*"), *folder.glob("assets/*")]
    assert files
    return {str(path.relative_to(ROOT)) for path in files}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `knavery` of an environment that has the wheel; what the wheel needs is lent to
    it by the environment of the tests."""
    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    source.mkdir()
    for part in PARTS:
        shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for left in ("target", "node_modules/deep", "__pycache__"):
        (source / "sample_bots/go" / left).mkdir(parents=True, exist_ok=True)
        (source / "sample_bots/go" / left / "rubbish").touch()
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", place, source]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = place.glob("knavery-*.whl")
    packed = zipfile.ZipFile(wheel).namelist()
    assert templates() <= set(packed)
    assert pages() <= set(packed)
    assert not [name for name in packed if "rubbish" in name], "nothing that a build left"
    venv.create(place / "env", with_pip=True)
    pip = place / "env/bin/pip"
    subprocess.run([pip, "install", "-q", "--no-deps", wheel], check=True)
    (packages,) = (place / "env/lib").glob("python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "env/bin/knavery"


def test_a_bot_with_requirements_has_the_sdk_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    wheel(tmp_path, "tiny")
    (tmp_path / "requirements.txt").write_text("tiny\n")
    (tmp_path / "mine.py").write_text(
        "import tiny\nfrom knavery import Bot, serve\n"
        "class Mine(Bot):\n    def play(self, view):\n        return view.legal[0]\n"
        "if __name__ == '__main__':\n    serve(Mine)\n"
    )
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "KNAVERY_CACHE": str(tmp_path / "cache"),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path),
    }
    for words in (("build", "mine.py"), ("play", "mine.py", "--json")):
        done = subprocess.run(
            [installed, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    (match,) = json.loads(done.stdout)["matches"]
    assert {fault["kind"] for fault in match["faults"]} <= {"late"}, match["faults"]


def test_a_new_bot_of_the_wheel_can_be_started(installed: Path, tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin", "KNAVERY_CACHE": str(tmp_path), "HOME": str(tmp_path)}
    for words in (("new", "mine", "--lang", "awk"), ("play", "mine", "--json")):
        done = subprocess.run(
            [installed, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    (match,) = json.loads(done.stdout)["matches"]
    assert {fault["kind"] for fault in match["faults"]} <= {"late"}, match["faults"]


@pytest.mark.parametrize("words", [("play", "lowest", "highest"), ("bots",), ("demo", "--help")])
def test_the_installed_command_works(
    installed: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    environment = {"PATH": "/usr/bin:/bin", "KNAVERY_CACHE": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [installed, *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    if words[0] == "bots":
        assert str(installed.parent.parent) in done.stdout, "the wheel's own bots"
    if words[0] == "play":
        assert "advice" in done.stdout
        assert "faults" in done.stdout
