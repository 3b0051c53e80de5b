"""Bots as they are handed in: what is read, what is refused, and how they are prepared."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from knavery import stdio
from referee import builds
from referee.bot_files import cache_root
from referee.bots import Bot, BotError, Prepared, environment, load, prepare, shipped
from referee.process import open_launcher
from tests.referee.bot_folders import TOML, write

BUILD: Final = """
import pathlib
pathlib.Path("made").write_text("print('made here')")
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KNAVERY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "bot")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was built, each time that it was."""
    done: list[str] = []
    run = builds.run

    def counted(what: str, *args: Any, **options: Any) -> None:
        done.append(what)
        run(what, *args, **options)

    monkeypatch.setattr(builds, "run", counted)
    return done


def output(prepared: Prepared, log_dir: Path) -> str:
    """What a prepared bot prints."""

    async def run() -> str:
        async with open_launcher(log_dir) as launcher:
            env = environment("unix:/x", "secret", log_dir)
            process = await launcher.start("x", prepared.argv, prepared.cwd, env)
            with trio.fail_after(20):
                await process.wait()
            return process.log_tail()

    return trio.run(run)


class TestLoad:
    def test_a_folder(self, tmp_path: Path) -> None:
        toml = """
            name = "Älice 1"
            run = ["./bot", "--fast"]
            build = ["make"]
            max_tables = 7
            games = ["knave"]
            author = "A. Lice <alice@example.org>"
            exclude = ["notes"]
        """
        folder = write(tmp_path / "bot", bot_toml=toml)
        bot = load(str(folder))
        assert bot == Bot(
            name="Älice 1",
            version=bot.version,
            source=folder,
            run=("./bot", "--fast"),
            build=("make",),
            max_tables=7,
            games=("knave",),
            author="A. Lice <alice@example.org>",
            exclude=("notes",),
        )
        assert len(bytes.fromhex(bot.version)) == 32

    def test_defaults(self, tmp_path: Path) -> None:
        folder = write(tmp_path / "bob", bot_toml='run = ["./bot"]')
        assert load(str(folder)) == Bot("bob", load(str(folder)).version, folder, ("./bot",))

    def test_a_bot_that_reads_lines(self, tmp_path: Path) -> None:
        toml = """
            run = ["./bot"]
            transport = "stdio"
            language = "awk"
            max_batch = 5
            games = ["knave"]
        """
        folder = write(tmp_path / "bot", bot_toml=toml, bot="#!/bin/sh")
        (folder / "bot").chmod(0o755)
        bot = load(str(folder))
        assert (bot.transport, bot.language, bot.max_batch) == ("stdio", "awk", 5)
        prepared = prepare(bot)
        assert prepared.adapted
        assert prepared.argv == stdio.command(("./bot",), "awk", ("knave",), None, 5)

    def test_a_single_file(self, tmp_path: Path) -> None:
        file = tmp_path / "carol.py"
        file.write_text("pass")
        bot = load(str(file))
        assert bot == Bot("carol", bot.version, file, ("python", "carol.py"))

    def test_a_name_before_the_path(self, folder: Path) -> None:
        assert load(f"bob={folder}").name == "bob"
        assert load(f"bob={folder}").version == load(str(folder)).version

    def test_an_equals_sign_in_a_path(self, tmp_path: Path) -> None:
        folder = write(tmp_path / "a=b")
        assert load(str(folder)).source == folder
        assert load(f"bob={folder}").source == folder

    def test_a_path_counts_from_the_base(self, folder: Path) -> None:
        assert load("bot", folder.parent) == load(str(folder))

    def test_shipped_bots(self) -> None:
        assert list(shipped()) == sorted(shipped())
        for name in shipped():
            assert load(name).name == name
            assert load(f"other={name}").version == load(name).version

    @pytest.mark.parametrize(
        ("spec", "problem"),
        [
            ("nowhere", "'nowhere': no such file or folder, and no shipped bot of this name"),
            ("./nowhere.py", "'./nowhere.py': no such file or folder"),
            ("", "'': no such file or folder"),
            ("bob=", "'': no such file or folder"),
            ("bob=nowhere", "'nowhere': no such file or folder"),
            ("a\0b", "'a\\x00b': no such file or folder"),
            ("x" * 5000, "is no path: "),
            ("text.txt", "text.txt: is no bot: name a folder with a bot.toml, or a .py file"),
            ("empty", "empty/bot.toml: is missing: write it, with run = "),
            (" =bot", "a bot's name must be 1 to 40 printable characters"),
            ("a\u202eb=bot", "a bot's name must be 1 to 40 printable characters"),
            ("=bot", "a bot's name must be 1 to 40 printable characters"),
            (f"{'a' * 41}=bot", "a bot's name must be 1 to 40 printable characters"),
        ],
    )
    def test_what_is_no_bot(self, folder: Path, spec: str, problem: str) -> None:
        (folder.parent / "text.txt").touch()
        (folder.parent / "empty").mkdir()
        with pytest.raises(BotError) as caught:
            load(spec, folder.parent)
        assert problem in str(caught.value)
        assert str(caught.value).isprintable()

    @pytest.mark.parametrize(
        ("toml", "problem"),
        [
            ("run = [", "is not TOML: "),
            ("", 'run: is missing: it is the command, as run = ["./bot"]'),
            ("run = []", 'run: must be a list of words, as ["./bot", "--fast"], not []'),
            ('run = [""]', "run: must be a list of words"),
            ('run = "./bot"', "run: must be a list of words"),
            ("run = [1]", "run: must be a list of words"),
            ('run = ["a\\u0000"]', "run: must be a list of words"),
            (TOML + "build = []", "build: must be a list of words"),
            (TOML + "max_tables = 0", "max_tables: must be a whole number, 1 to 100000, not 0"),
            (TOML + "max_tables = true", "max_tables: must be a whole number"),
            (TOML + "max_tables = 1.5", "max_tables: must be a whole number"),
            (TOML + 'games = ["chess"]', "games: must be a list of games out of knave, ninety-n"),
            (TOML + "games = [[1]]", "games: must be a list of games out of knave, ninety-nine"),
            (TOML + 'games = "knave"', "games: must be a list of games out of"),
            (TOML + "author = 1", "author: must be a text of at most 200 printable ch"),
            (TOML + 'exclude = "x"', 'exclude: must be a list of names or patterns, as ["notes"'),
            (TOML + "max_table = 1", "'max_table': there is no such key: did you mean max_tables?"),
            (TOML + "zzz = 1", "'zzz': there is no such key: there may be name, run, build, "),
            (TOML + "[run.x]", "is not TOML: "),
            ('run = ["x"]\nname = "a/b"', 'a bot\'s name must not contain "/" or "=", not \'a/b\''),
            ('run = ["x"]\nname = "a=b"', 'a bot\'s name must not contain "/" or "=", not \'a=b\''),
            ('run = ["x"]\nname = ""', "a bot's name must be 1 to 40 printable characters"),
            ('run = ["x"]\nname = "a\\nb"', "name: must be a text of at most 200 printable"),
        ],
    )
    def test_a_bad_toml(self, tmp_path: Path, toml: str, problem: str) -> None:
        folder = write(tmp_path / "bot", bot_toml=toml)
        with pytest.raises(BotError) as caught:
            load(str(folder))
        assert str(caught.value).startswith(f"{folder}/bot.toml: {problem}")
        assert str(caught.value).isprintable()

    def test_a_path_that_is_not_printable(self, tmp_path: Path) -> None:
        folder = tmp_path / "a\x1b[31m\u202eb"
        folder.mkdir()
        with pytest.raises(BotError, match=r"/a.b/bot\.toml: is missing") as caught:
            load(str(folder))
        assert str(caught.value).isprintable()

    def test_a_toml_that_is_not_utf_8(self, folder: Path) -> None:
        (folder / "bot.toml").write_bytes(b'name = "\xff"')
        with pytest.raises(BotError, match=r"bot.toml: is not text in UTF-8: save it as UTF-8$"):
            load(str(folder))


class TestPrepare:
    def test_a_copy_is_run(self, folder: Path, cache: Path, tmp_path: Path) -> None:
        bot = load(str(folder))
        prepared = prepare(bot)
        assert prepared == Prepared(
            (sys.executable, "bot.py"), cache / "bots" / bot.version / "bot"
        )
        (folder / "bot.py").write_text("print('changed')")
        assert output(prepared, tmp_path / "logs") == "hello\n"

    def test_a_single_file(self, tmp_path: Path) -> None:
        file = tmp_path / "carol.py"
        file.write_text("print('a file')")
        (tmp_path / "requirements.txt").touch()
        prepared = prepare(load(str(file)))
        assert sorted(path.name for path in prepared.cwd.iterdir()) == [
            "carol.py",
            "requirements.txt",
        ]
        assert output(prepared, tmp_path / "logs") == "a file\n"

    def test_everybody_may_read_the_copy_whatever_the_umask(self, folder: Path) -> None:
        """A bot may have a user of its own, and none of its author's files is its own then."""
        (folder / "bot.toml").write_text('run = ["python", "bot.py"]\nbuild = ["touch", "made"]\n')
        before = os.umask(0o077)
        try:
            tree = prepare(load(str(folder))).cwd
        finally:
            os.umask(before)
        modes = {
            path.name: path.stat().st_mode & 0o777
            for path in (tree.parent, tree, tree / "bot.py", tree / "made")
        }
        assert modes == {tree.parent.name: 0o755, "bot": 0o555, "bot.py": 0o444, "made": 0o444}

    def test_the_copy_is_read_only_and_keeps_what_may_be_executed(self, folder: Path) -> None:
        (folder / "sub").mkdir()
        (folder / "sub" / "tool").touch(0o700)
        (folder / "link").symlink_to("sub/tool")
        tree = prepare(load(str(folder))).cwd
        modes = {
            name: (tree / name).lstat().st_mode & 0o777 for name in (".", "bot.py", "sub/tool")
        }
        assert modes == {".": 0o555, "bot.py": 0o444, "sub/tool": 0o555}
        assert (tree / "link").readlink() == Path("sub/tool")

    def test_it_is_built_once(self, tmp_path: Path, built: list[str]) -> None:
        toml = 'run = ["python3", "made"]\nbuild = ["python", "build.py"]'
        folder = write(tmp_path / "bot", bot_toml=toml, build_py=BUILD)
        bot = load(str(folder))
        prepared = prepare(bot)
        assert prepare(bot) == prepared
        assert built == ["bot: its build"]
        assert output(prepared, tmp_path / "logs") == "made here\n"
        (folder / "new").touch()
        assert prepare(load(str(folder))).cwd != prepared.cwd

    def test_a_build_that_is_wanted_twice_at_once_is_done_once(
        self, tmp_path: Path, built: list[str]
    ) -> None:
        toml = 'run = ["python", "made"]\nbuild = ["python", "build.py"]'
        bot = load(str(write(tmp_path / "bot", bot_toml=toml, build_py=BUILD)))
        threads = [threading.Thread(target=prepare, args=(bot,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        prepare(bot)
        assert built == ["bot: its build"]

    def test_a_failed_build(self, tmp_path: Path) -> None:
        build = "for n in range(100): print(n)\nraise SystemExit('\\033[31mno \\ncompiler')"
        toml = TOML + 'build = ["python", "build.py"]'
        bot = load(str(write(tmp_path / "bot", bot_toml=toml, build_py=build)))
        for _ in range(2):
            with pytest.raises(BotError) as caught:
                prepare(bot)
            first, *lines = str(caught.value).splitlines()
            log = tmp_path / "cache" / "bots" / bot.version / "build" / "0000-build.log"
            assert first == f"alice: its build exited with status 1; {log} ends:"
            assert lines == [f"  {n}" for n in range(90, 100)] + ["  no ", "  compiler"]
            assert log.read_text().startswith("0\n1\n")

    def test_a_build_that_takes_too_long(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(builds, "BUILD_LIMIT", 0.1)
        bot = load(str(write(tmp_path / "bot", bot_toml=TOML + 'build = ["sleep", "600"]')))
        with pytest.raises(BotError, match=r"^alice: its build is not done after 0.1 s; "):
            prepare(bot)

    @pytest.mark.parametrize(
        ("toml", "problem"),
        [
            ('run = ["./bot"]', "run: './bot' is missing or may not be executed"),
            ('run = ["./bot.py"]', "run: './bot.py' is missing or may not be executed"),
            ('run = ["no-such-command"]', "run: 'no-such-command' is missing or may not be"),
            ('run = ["python", "x.py"]', "run: there is no file 'x.py' in its folder"),
            (TOML + 'build = ["./no"]', "its build cannot be started: there is no command './no'"),
        ],
    )
    def test_nothing_to_run(self, tmp_path: Path, toml: str, problem: str) -> None:
        bot = load(f"bob={write(tmp_path / 'bot', bot_toml=toml)}")
        with pytest.raises(BotError) as caught:
            prepare(bot)
        assert str(caught.value).startswith(f"bob: {problem}")
        assert str(caught.value).isprintable()

    def test_a_bot_that_changes_meanwhile(self, folder: Path) -> None:
        bot = load(str(folder))
        (folder / "new").touch()
        with pytest.raises(BotError, match=r"has changed meanwhile: try again$"):
            prepare(bot)
        (folder / "new").unlink()
        prepare(bot)

    def test_what_an_interrupted_copy_left_is_done_again(self, folder: Path) -> None:
        bot = load(str(folder))
        tree = prepare(bot).cwd
        (tree.parent / "ready").unlink()
        tree.chmod(0o755)
        (tree / "rubbish").touch()
        tree.chmod(0o555)
        assert prepare(bot).cwd == tree
        assert not (tree / "rubbish").exists()

    def test_no_place_for_the_cache(self, folder: Path) -> None:
        with pytest.raises(BotError, match=r"^alice: cannot be copied to .*: .*Not a directory"):
            prepare(load(str(folder)), folder / "bot.py")


class TestCacheRoot:
    def test_the_variables(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
        assert cache_root() == tmp_path / "cache"
        monkeypatch.delenv("KNAVERY_CACHE")
        assert cache_root() == Path("/xdg/knavery")
        monkeypatch.setenv("XDG_CACHE_HOME", "")
        monkeypatch.setenv("HOME", "/home/alice")
        assert cache_root() == Path("/home/alice/.cache/knavery")


def test_an_environment_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPC_ENABLE_FORK_SUPPORT", "0")
    monkeypatch.setenv("PATH", "/bin:/usr/bin")
    assert environment("unix:/x", "secret", tmp_path, {"EXTRA": "1"}) == {
        "PATH": "/bin:/usr/bin",
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "KNAVERY_ADDRESS": "unix:/x",
        "KNAVERY_TOKEN": "secret",
        "EXTRA": "1",
    }
