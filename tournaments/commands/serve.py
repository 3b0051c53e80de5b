"""`knavery serve`: a tournament in the browser, live."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from knavery.addresses import bare

if TYPE_CHECKING:
    from tournaments.web.playing import Table

HELP = "show a tournament in the browser, also while it runs; or play there yourself"
EXAMPLE = "knavery serve weekend.knavery"
PORT = 8160


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        nargs="*",
        metavar="FILE | BOT",
        help="a tournament's file, NAME.knavery; with --play the bots that you play against",
    )
    parser.add_argument(
        "--play",
        action="store_true",
        help="sit down at a table with these bots; empty seats are filled with shipped ones",
    )
    parser.add_argument("--game", help="with --play: the game to be offered first")
    parser.add_argument("--variant", help="with --play: its variant")
    parser.add_argument(
        "--host",
        type=bare,
        default="127.0.0.1",
        help="where to listen, as in ::1; as it is, only this machine can come",
    )
    parser.add_argument("--port", type=int, default=PORT, help=f"{PORT} unless said; 0: any free")
    parser.add_argument(
        "--open-blocks",
        action="store_true",
        help="also show cards of matches whose block is not complete, which others still play",
    )


def run(arguments: argparse.Namespace) -> int:
    import trio

    from tournaments.web.serving import warn_of

    where = (arguments.host, arguments.port)
    if arguments.play:
        table = _table(arguments)
        warn_of(arguments.host, "and reads along sees your cards")
        trio.run(_play, table, *where)
    else:
        file = _file(arguments)
        warn_of(arguments.host, "sees the whole tournament")
        trio.run(partial(_serve, file, *where, open_blocks=arguments.open_blocks))
    print("knavery serve: ended", file=sys.stderr)
    return 0


def _file(arguments: argparse.Namespace) -> Path:
    from referee.bots import BotError

    if arguments.game or arguments.variant:
        raise BotError("--game and --variant are for a table of yours: add --play")
    if len(arguments.what) != 1:
        raise BotError("name one tournament's file, or sit down at a table yourself with --play")
    return Path(arguments.what[0])


def _table(arguments: argparse.Namespace) -> "Table":
    from referee.bots import BotError, load
    from referee.games.registry import make_rules
    from tournaments.commands.play import fill
    from tournaments.launch import ready
    from tournaments.web.playing import MOST_BOTS, Table

    if arguments.open_blocks:
        raise BotError("--open-blocks is for a tournament's file: leave it or --play out")
    chosen = None
    if arguments.game or arguments.variant:
        rules = make_rules(arguments.game or "ninety-nine", arguments.variant or "classic")
        chosen = (rules.game, rules.variant)
    bots = fill([load(spec) for spec in arguments.what], MOST_BOTS)
    return Table(list(ready(bots).values()), chosen)


async def _serve(file: Path, host: str, port: int, *, open_blocks: bool) -> None:
    import trio

    from tournaments.plain import harmless
    from tournaments.web.app import application
    from tournaments.web.charts import make_ready
    from tournaments.web.live import Live
    from tournaments.web.recount import Recount
    from tournaments.web.serving import serve, stopped

    live = Live(file, open_blocks=open_blocks)
    await live.begin()
    recount = Recount(live)
    app, feed = application(live, recount, host)

    async def ended() -> None:
        await stopped()
        feed.close()

    def started(where: str) -> None:
        print(f"{harmless(file.name)}: {where}", flush=True)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(live.watch)
        nursery.start_soon(recount.keep_up)
        nursery.start_soon(trio.to_thread.run_sync, make_ready)
        await serve(app, host, port, ended, started)
        nursery.cancel_scope.cancel()


async def _play(table: "Table", host: str, port: int) -> None:
    import trio

    from tournaments.web.playing import application
    from tournaments.web.serving import serve, stopped

    def started(where: str) -> None:
        print(f"sit down at {where}/?seat={table.key}", flush=True)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(table.run)
        await serve(application(table, host), host, port, stopped, started)
        nursery.cancel_scope.cancel()
