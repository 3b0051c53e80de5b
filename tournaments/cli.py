"""The command `knavery`: finds the command's module and turns its errors into one line.

Exit status: 0; 1 when it ran and the answer is no; 2 when it could not run, or no bot came.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import NoReturn

from tournaments.commands import COMMANDS
from tournaments.errors import COULD_NOT, STOPPED, holds, in_one_line


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where help is."""

    def error(self, message: str) -> NoReturn:
        self.exit(COULD_NOT, f"{self.prog}: {message}; see `{self.prog} --help`\n")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    whole = _Parser(
        prog="knavery",
        description="Tournaments of bots that play Knave and Ninety-Nine.",
        epilog="Start with `knavery demo`, then `knavery play MY.py`.",
    )
    whole.add_argument("--version", action="version", version=f"knavery {version('knavery')}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = import_module(f"tournaments.commands.{name}")
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=f"example:\n  {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.arguments(command)
        command.set_defaults(run=module.run)
    return whole


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line (without the program's name); returns the exit status."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    name = "knavery"
    try:
        arguments = parser().parse_args(argv)
        name = f"knavery {arguments.command}"
        return int(arguments.run(arguments))
    except BaseException as problem:
        if holds(problem, BrokenPipeError):
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # nobody reads what is left
            return 0
        if holds(problem, KeyboardInterrupt):
            print("knavery: stopped", file=sys.stderr)
            return STOPPED
        if not isinstance(problem, Exception):
            raise
        print(f"{name}: {in_one_line(problem)}", file=sys.stderr)
        if os.environ.get("KNAVERY_TRACEBACK"):
            raise
        return COULD_NOT


if __name__ == "__main__":
    sys.exit(main())
