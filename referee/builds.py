"""Commands that make a bot ready to be run, each to its end and into a log (design section 8).

They run in the sandbox too, where there is one: with the network, unless the sandbox is strict, and
with a home of their own, in which what they fetch stays for the bot's next version.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import trio

from referee.bot_files import BotError
from referee.exits import Exit
from referee.limits import SandboxRules
from referee.process import Process, StartError, open_launcher
from referee.sandbox import Command, Work, open_sandbox

BUILD_LIMIT: Final = 1800.0
"""Seconds that one command may take."""
BUILD_LINES: Final = 12
"""Lines of a failed command's output that are shown."""
_OURS: Final = ("KNAVERY_", "GRPC_")
_TOOLS: Final = re.compile(
    r"PATH|LANG|LC_\w+|TZ|TERM|(?i:(http|https|ftp|no|all)_proxy)|(PIP|GO|CGO|CARGO|RUST|RUSTUP)_?\w*"
    r"|JAVA_HOME|MAVEN_\w+|(?i:npm_config_\w+)|NODE_\w+|SSL_CERT_\w+|\w+_CA_BUNDLE|CMAKE_\w+"
    r"|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|PKG_CONFIG_PATH|LD_LIBRARY_PATH|(PYTHON|VIRTUAL)_?\w*"
)
"""Variables that a build in the sandbox sees: what compilers and package managers go by."""
_TOOLCHAINS: Final = {
    "RUSTUP_HOME": ".rustup",
    "PYENV_ROOT": ".pyenv",
    "VOLTA_HOME": ".volta",
    "NVM_DIR": ".nvm",
    "ASDF_DATA_DIR": ".asdf",
    "SDKMAN_DIR": ".sdkman",
}
"""Where what chooses between versions of a language keeps them: the variable that says so, and the
folder of the home that it means otherwise. A build has another home."""


def run(
    what: str,
    argv: Sequence[str],
    cwd: Path,
    log_dir: Path,
    extra: Mapping[str, str] | None = None,
    *,
    home: Path,
    work: Work | None = None,
    rules: SandboxRules | None = None,
) -> None:
    """Run a command in `cwd`; `what` begins the complaint if it fails, as in "alice: its build".

    It sees the environment of Knavery without Knavery's own variables (in the sandbox, what tools
    go by), changed by `extra`. In the sandbox `home` is its home, and `work` says what it may see
    and change beside its folder. Blocks, and runs trio for it. Raises BotError, whose message goes
    on with the last lines of output; SandboxError.
    """
    env = {key: value for key, value in os.environ.items() if not key.startswith(_OURS)}
    with open_sandbox(rules or SandboxRules()) as sandbox:
        if sandbox.isolates:
            tools = {key: value for key, value in env.items() if _TOOLS.fullmatch(key)}
            env = _toolchains(env) | tools
            _require(what, argv[0], cwd, env | dict(extra or {}))
        env.setdefault("PATH", os.defpath)
        command = sandbox.build(argv, cwd, env | dict(extra or {}), home, work or Work())
        trio.run(_run, what, command, log_dir)


def _toolchains(env: Mapping[str, str]) -> dict[str, str]:
    """The variables of `_TOOLCHAINS`, for those that are here."""
    home = Path.home()
    places = {name: Path(env.get(name) or home / folder) for name, folder in _TOOLCHAINS.items()}
    return {name: str(place) for name, place in places.items() if place.is_dir()}


def _require(what: str, command: str, cwd: Path, env: Mapping[str, str]) -> None:
    """BotError where a command is not there: bwrap would say less."""
    place = str(cwd / command) if "/" in command else command
    if shutil.which(place, path=env.get("PATH")) is None:
        raise BotError(
            f"{what} cannot be started: there is no command {command!r}, or it may not be executed"
        )


async def _run(what: str, command: Command, log_dir: Path) -> None:
    async with open_launcher(log_dir) as launcher:
        try:
            process = await launcher.start(
                "build", command.argv, command.cwd, command.env, command.confinement
            )
        except StartError as error:
            raise BotError(f"{what} {str(error).removeprefix('build ')}") from error
        end: Exit | None = None
        with trio.move_on_after(BUILD_LIMIT):
            end = await process.wait()
        if end is None or end.status != 0:
            raise BotError(_failure(what, end, process))


def _failure(what: str, end: Exit | None, process: Process) -> str:
    how = end.words if end else f"is not done after {BUILD_LIMIT:g} s"
    lines = process.log_tail().rstrip().splitlines()[-BUILD_LINES:]
    said = f"{process.log_path} ends:" if lines else "it printed nothing"
    return "\n  ".join((f"{what} {how}; {said}", *lines))
