"""The options for remote entrants, which several commands have."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tournaments.commands.budget import seconds

if TYPE_CHECKING:
    from tournaments.reception import Listening


def add_listen(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    group = parser.add_argument_group("remote entrants (docs/remote-bots.md)")
    group.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="where the programs of entrants with remote = true connect; without TLS only "
        "127.0.0.1 and the like",
    )
    group.add_argument("--tls-certificate", metavar="FILE", type=Path, help="in PEM")
    group.add_argument("--tls-key", metavar="FILE", type=Path, help="its private key, in PEM")
    group.add_argument(
        "--wait",
        metavar="TIME",
        type=seconds,
        help="how long they are awaited before the first deal, as in 10m (default: the clock's "
        "startup)",
    )


def listening_of(arguments: argparse.Namespace) -> "Listening | None":
    """What the options say; ConfigError if that cannot be."""
    from tournaments.config import ConfigError
    from tournaments.reception import listening

    if arguments.listen is not None:
        certificate, key = arguments.tls_certificate, arguments.tls_key
        return listening(arguments.listen, certificate, key, arguments.wait)
    for option in ("tls_certificate", "tls_key", "wait"):
        if getattr(arguments, option) is not None:
            name = option.replace("_", "-")
            raise ConfigError(f"--{name}: belongs to --listen HOST:PORT")
    return None
