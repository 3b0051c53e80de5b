"""The environment of a Python bot that has a requirements.txt (design section 8).

It is a venv below the cache, named by all that decides what is in it: the requirements, this
Python, and the SDK. The SDK and what it needs are copied from where the running Knavery has them,
be that a wheel's place or a checkout: a bot meets the very code of its referee, without a network,
and nothing else of the packages there. pip is held to those versions and adds what the bot wants.
"""

from __future__ import annotations

import compileall
import hashlib
import json
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.metadata import version as installed_version
from pathlib import Path
from site import getusersitepackages
from typing import Final

from referee import builds
from referee.bot_files import (
    OPEN,
    REQUIREMENTS,
    BotError,
    bot_files,
    copy,
    locked,
    remove,
    show,
    version,
)
from referee.limits import SandboxRules
from referee.mounts import ROOT, packages
from referee.sandbox import Work

SDK: Final = ("knavery", "referee", "sample_bots/python")
"""What of it a bot may import."""
NEEDS: Final = ("grpcio", "protobuf")
"""The distributions that the SDK imports."""
_UNSET: Final = {"PYTHONPATH": "", "PYTHONHOME": "", "VIRTUAL_ENV": ""}


@dataclass(frozen=True, slots=True)
class Environment:
    """A venv, made or not; `local` when its requirements name other files of the bot's folder."""

    home: Path
    local: bool = False

    @property
    def bin(self) -> Path:
        return self.home / "venv" / "bin"

    @property
    def python(self) -> Path:
        return self.bin / "python"

    @property
    def ready(self) -> bool:
        """Whether it is there as a whole, and its Python still is."""
        return (self.home / "ready").exists() and os.access(self.python, os.X_OK)

    @property
    def variables(self) -> dict[str, str]:
        """What a process sees of it."""
        path = os.environ.get("PATH", os.defpath)
        return {"PATH": f"{self.bin}{os.pathsep}{path}", "VIRTUAL_ENV": str(self.home / "venv")}


def environment_for(tree: Path, bot_home: Path, cache: Path) -> Environment | None:
    """The environment of the bot in the folder `tree`; None if its requirements.txt, if any, asks
    for nothing. One whose requirements are complete in themselves is shared by all bots that have
    the same; another one lies in `bot_home`. Raises BotError for a file that is not text."""
    try:
        text = (tree / REQUIREMENTS).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise BotError(f"{tree / REQUIREMENTS}: is not text in UTF-8: save it as UTF-8") from None
    lines = [line for line in map(str.strip, text.splitlines()) if line and line[0] != "#"]
    if not lines:
        return None
    local = any(map(_LOCAL.search, lines))
    home = bot_home / "environments" if local else cache / "environments"
    return Environment(home / _key(lines), local)


_LOCAL: Final = re.compile(
    r"^(-r|-c|-e|--requirement|--constraint|--editable)\b|^[./~]|^[^#]*(\bfile:|@\s*[./])"
    r"|^[^#;@]*\.(whl|zip|tar\.\w+)\b"
)
"""A line of a requirements.txt that means another file."""


def _key(lines: list[str]) -> str:
    parts = [lines, sys.version, os.path.realpath(sys.executable), sdk_version(), [*_needs()]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@cache
def sdk_version() -> str:
    """The hash of the SDK's code as it runs."""
    return " ".join(version(bot_files(ROOT / part)) for part in SDK)


def sdk_variables() -> dict[str, str]:
    """What lets the Python that runs Knavery find the SDK that runs and what that needs, where
    these are not installed for it but stand in PYTHONPATH or in somebody's home."""
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    own = {getusersitepackages(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)} - {""}
    found = [ROOT] if str(ROOT) not in {*map(os.path.realpath, installed)} else []
    found += [place for place in packages() if str(place) in {*map(os.path.realpath, own)}]
    places = dict.fromkeys(map(str, found))
    return {"PYTHONPATH": os.pathsep.join(places)} if places else {}


def make(
    name: str, environment: Environment, tree: Path, rules: SandboxRules | None = None
) -> None:
    """Make an environment unless it is there; `name` is the bot's, `tree` its folder.

    Blocks, for minutes when pip has much to fetch. Processes that want the same one wait for each
    other. Raises BotError, which goes on with the last lines of a failed command; OSError.
    """
    home = environment.home
    home.mkdir(parents=True, exist_ok=True)
    with locked(home / "lock"):
        if environment.ready:
            return
        (home / "ready").unlink(missing_ok=True)
        remove(home / "venv")
        _create(name, environment, rules)
        _copy_sdk(name, environment)
        _install(name, environment, tree, rules)
        remove(home / "home")
        show(home / "venv")
        home.chmod(OPEN)
        (home / "ready").touch()


def _create(name: str, environment: Environment, rules: SandboxRules | None) -> None:
    lean = ("--without-pip",) if _lends_pip() else ()
    home = environment.home
    command = (sys.executable, "-I", "-m", "venv", *lean, str(home / "venv"))
    what = f"{name}: its environment"
    try:
        builds.run(what, command, home, home / "logs", home=home / "home", rules=rules)
    except BotError as error:
        raise BotError(f"{error}\n  Python's venv comes with python3-venv on Debian") from error


def _copy_sdk(name: str, environment: Environment) -> None:
    place = {"base": str(environment.home / "venv"), "platbase": str(environment.home / "venv")}
    site = Path(sysconfig.get_path("purelib", "venv", place))
    for part in SDK:
        (site / part).parent.mkdir(exist_ok=True)
        copy(bot_files(ROOT / part), site / part)
    (site / "sample_bots/__init__.py").touch()
    for need in _needs():
        _copy_distribution(name, need.partition("==")[0], site)
    _describe_sdk(site)
    for package in ("knavery", "referee", "google", "grpc"):
        compileall.compile_dir(site / package, quiet=2)  # its bots may not keep what they compile


def _copy_distribution(name: str, need: str, site: Path) -> None:
    found = distribution(need)
    if not found.files:
        raise BotError(
            f"{name}: {need} was not installed by pip, so it cannot be copied to the bot's "
            f"environment: run {sys.executable} -m pip install --force-reinstall {need}"
        )
    for file in found.files:
        if file.parts[0] != ".." and file.suffix != ".pyc":
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(found.locate_file(file)), site / file)


def _describe_sdk(site: Path) -> None:
    """Let a requirements.txt name knavery, for pip has nothing to do then."""
    running = _knavery_version()
    info = site / f"knavery-{running}.dist-info"
    info.mkdir()
    needs = "".join(f"Requires-Dist: {need}\n" for need in _needs())
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: knavery\nVersion: {running}\n{needs}"
    )
    (info / "INSTALLER").write_text("knavery\n")


def _install(name: str, environment: Environment, tree: Path, rules: SandboxRules | None) -> None:
    home = environment.home
    held = home / "held.txt"
    held.write_text("\n".join((f"knavery=={_knavery_version()}", *_needs())) + "\n")
    own, there = str(environment.python), (sys.executable, "-P", "-m", "pip", "--python")
    pip = (*there, own) if _lends_pip() else (own, "-P", "-m", "pip")
    options = ("--no-input", "--disable-pip-version-check", "-c", str(held), "-r", REQUIREMENTS)
    command = (*pip, "install", *options)
    what, work = f"{name}: pip for its {REQUIREMENTS}", Work(own=(home,))
    try:
        builds.run(
            *(what, command, tree, home / "pip", _UNSET),
            home=home / "home",
            work=work,
            rules=rules,
        )
    except BotError as error:
        raise BotError(
            f"{error}\n  mend {REQUIREMENTS}, or let this machine reach the package index; "
            f"the SDK's own needs stay at {', '.join(_needs())}"
        ) from error


def _lends_pip() -> bool:
    """Whether the pip beside Knavery can install elsewhere: a pip for each venv takes seconds."""
    try:
        return tuple(map(int, installed_version("pip").split(".")[:2])) >= (22, 3)
    except (PackageNotFoundError, ValueError):
        return False


@cache
def _needs() -> tuple[str, ...]:
    """What the SDK needs and what that needs, as name==version."""
    found = sorted({each for need in NEEDS for each in _closure(need)})
    return tuple(f"{need}=={installed_version(need)}" for need in found)


def _closure(need: str) -> Iterator[str]:
    yield need
    for line in distribution(need).requires or ():
        word = re.match(r"[\w.-]+", line)
        if word and "extra ==" not in line and _is_installed(word[0]):
            yield from _closure(word[0])


def _is_installed(need: str) -> bool:
    """What is not, a marker such as that of another system has left out."""
    try:
        distribution(need)
    except PackageNotFoundError:
        return False
    return True


def _knavery_version() -> str:
    try:
        return installed_version("knavery")
    except PackageNotFoundError:  # a checkout that is run in place
        return "0"
