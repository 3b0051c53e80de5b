"""The environment of a bot with a requirements.txt: what is in it, and when it is made."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from referee import environments
from referee.bots import BotError, Prepared, environment, load, prepare
from referee.environments import Environment, environment_for, sdk_variables
from referee.mounts import packages
from referee.process import open_launcher
from tests.wheels import wheel

BOT = """
import importlib.util as found, json, sys
import knavery.client, tiny
from referee.games.registry import GAMES
print(json.dumps({
    "prefix": sys.prefix, "tiny": tiny.__file__, "knavery": knavery.__file__,
    "version": knavery.__version__, "shipped": list(knavery.shipped.names()),
    "others": [name for name in ("trio", "numpy", "tournaments", "pytest")
               if found.find_spec(name)],
}))
""".replace("import knavery.client", "import knavery, knavery.client, knavery.shipped")
WANTED = "tiny  # and\nknavery\n"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package index without a network."""
    folder = tmp_path_factory.mktemp("wheels")
    wheel(folder, "tiny")
    wheel(folder, "old", "protobuf<4")
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module", autouse=True)
def _offline(shelf: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(shelf))
        yield


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """The environment of a bot that needs WANTED."""
    prepared = prepare(load(str(bot(tmp_path_factory.mktemp("first") / "bot", WANTED))), cache)
    assert prepared.seconds > 0
    (made,) = (cache / "environments").glob("*/venv")
    return made


def bot(folder: Path, requirements: str, name: str = "alice", code: str = BOT) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "bot.toml").write_text(f'name = "{name}"\nrun = ["python", "bot.py"]\n')
    (folder / "bot.py").write_text(code)
    (folder / "requirements.txt").write_text(requirements)
    return folder


def output(prepared: Prepared, log_dir: Path) -> str:
    async def run() -> str:
        async with open_launcher(log_dir) as launcher:
            env = environment("unix:/x", "secret", log_dir, prepared.variables)
            process = await launcher.start("x", prepared.argv, prepared.cwd, env)
            with trio.fail_after(60):
                await process.wait()
            return process.log_tail()

    return trio.run(run)


def test_it_holds_the_running_sdk_and_the_requirements_and_nothing_else(
    tmp_path: Path, cache: Path, venv: Path
) -> None:
    prepared = prepare(load(str(bot(tmp_path / "bot", WANTED))), cache)
    assert prepared.seconds == 0, "it was made before"
    seen = json.loads(output(prepared, tmp_path / "logs"))
    assert seen["prefix"] == str(venv)
    assert seen["tiny"].startswith(str(venv))
    assert seen["others"] == []
    assert "advice" in seen["shipped"]
    own, running = Path(seen["knavery"]).parent, environments.ROOT / "knavery"
    assert own.is_relative_to(venv)
    for file in running.rglob("*.py"):
        assert (own / file.relative_to(running)).read_bytes() == file.read_bytes()


def test_a_lone_file_uses_what_lies_beside_it(tmp_path: Path, cache: Path, venv: Path) -> None:
    (tmp_path / "carol.py").write_text(BOT)
    (tmp_path / "requirements.txt").write_text(WANTED)
    prepared = prepare(load(str(tmp_path / "carol.py")), cache)
    seen = json.loads(output(prepared, tmp_path / "logs"))
    assert seen["prefix"] == str(venv), "bots with the same needs share it"


def test_it_is_made_once_by_two_at_once_and_again_when_it_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr(environments, "_create", lambda name, *_: made.append(name))
    monkeypatch.setattr(environments, "_copy_sdk", lambda *_: None)
    monkeypatch.setattr(environments, "_install", lambda _, place, *__: fake(place))
    bots = [load(str(bot(tmp_path / name, "tiny", name))) for name in ("ann", "ben")]
    threads = [
        threading.Thread(target=prepare, args=(each, tmp_path / "cache")) for each in bots * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    shutil.rmtree(next((tmp_path / "cache/environments").glob("*/venv/bin")))
    prepare(bots[0], tmp_path / "cache")
    assert len(made) == 2


def fake(place: Environment) -> None:
    place.bin.mkdir(parents=True)
    place.python.symlink_to(sys.executable)


@pytest.mark.parametrize(
    ("requirements", "said"),
    [
        ("no-such-package-as-this", "No matching distribution found for no-such-package-as-this"),
        ("protobuf<4", "The user requested (constraint) protobuf=="),
        ("old", "The user requested (constraint) protobuf=="),
        ("what is this", "what is this"),
        ("-r missing.txt", "missing.txt"),
    ],
)
def test_what_pip_cannot_install(
    tmp_path: Path, requirements: str, said: str, monkeypatch: pytest.MonkeyPatch, venv: Path
) -> None:
    monkeypatch.setattr(environments, "_create", lambda _, place, __: lend(venv, place))
    monkeypatch.setattr(environments, "_copy_sdk", lambda *_: None)
    bob = load(f"bob={bot(tmp_path / 'bot', requirements)}")
    with pytest.raises(BotError) as caught:
        prepare(bob, tmp_path / "cache")
    first, *lines = str(caught.value).splitlines()
    assert first.startswith("bob: pip for its requirements.txt exited with status ")
    assert any(said in line for line in lines)
    assert lines[-1].startswith("  mend requirements.txt, or let this machine reach ")
    assert "; the SDK's own needs stay at grpcio==" in lines[-1]
    assert not [*(tmp_path / "cache").rglob("environments/*/ready")]


def lend(ready: Path, place: Environment) -> None:
    """pip of another environment, where making one is not what is tested."""
    shutil.copytree(ready, place.home / "venv", symlinks=True, copy_function=os.link)


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "  \n"])
def test_requirements_that_ask_for_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "requirements.txt").write_text(text)
    assert environment_for(tmp_path, tmp_path, tmp_path) is None


def test_a_bot_in_another_language_needs_none(tmp_path: Path) -> None:
    folder = bot(tmp_path / "bot", "no-such-package-as-this")
    (folder / "bot.toml").write_text('run = ["true"]')
    assert prepare(load(str(folder)), tmp_path / "cache").argv == ("true",)


@pytest.mark.parametrize(
    ("line", "local"),
    [
        ("numpy>=2.2", False),
        ("numpy ; python_version > '3.8'", False),
        ("numpy  # see ./notes.txt", False),
        ("--index-url https://example.org/simple", False),
        ("torch @ https://example.org/torch.html", False),
        ("-r more.txt", True),
        ("-e .", True),
        ("./mine", True),
        ("mine @ file:///home/mine", True),
        ("mine-1.0.tar.gz", True),
        ("wheels/mine-1.0-py3-none-any.whl", True),
    ],
)
def test_what_names_files_of_the_bot_is_its_own(tmp_path: Path, line: str, local: bool) -> None:
    (tmp_path / "requirements.txt").write_text(line)
    found = environment_for(tmp_path, tmp_path / "home", tmp_path / "cache")
    assert found is not None
    assert found.local is local
    assert found.home.is_relative_to(tmp_path / ("home" if local else "cache"))


def test_it_is_another_for_other_requirements_another_sdk_or_another_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "requirements.txt").write_text("tiny\n")
    homes = {place(tmp_path)}
    (tmp_path / "requirements.txt").write_text("\n# a word\n  tiny\n")
    assert {place(tmp_path)} == homes
    (tmp_path / "requirements.txt").write_text("tiny>1\n")
    homes.add(place(tmp_path))
    with monkeypatch.context() as changed:
        changed.setattr(environments, "sdk_version", lambda: "another")
        homes.add(place(tmp_path))
    with monkeypatch.context() as changed:
        changed.setattr(sys, "version", "4.0.0")
        homes.add(place(tmp_path))
    assert len(homes) == 4


def place(tree: Path) -> Path:
    found = environment_for(tree, tree, tree)
    assert found is not None
    return found.home


def test_requirements_that_are_not_text(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(BotError, match=r"requirements.txt: is not text in UTF-8: save it"):
        environment_for(tmp_path, tmp_path, tmp_path)


def test_packages_that_stand_in_a_variable_are_found_by_bots_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They see no variable and no home of ours, so none of them would start."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    home = str(packages()[0])
    assert home not in sdk_variables().get("PYTHONPATH", "").split(os.pathsep)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(("/nowhere", home)))
    assert home in sdk_variables()["PYTHONPATH"].split(os.pathsep)
    assert "/nowhere" not in sdk_variables()["PYTHONPATH"]
