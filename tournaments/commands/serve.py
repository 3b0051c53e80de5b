"""`knavery serve`: a tournament in the browser, live."""

import argparse
import sys
from functools import partial
from pathlib import Path

HELP = "show a tournament in the browser, also while it runs; or play there yourself"
EXAMPLE = "knavery serve weekend.knavery"
PORT = 8160


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a tournament's file, NAME.knavery")
    parser.add_argument(
        "--host", default="127.0.0.1", help="where to listen; as it is, only this machine can come"
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

    warn_of(arguments.host, "sees the whole tournament")
    trio.run(
        partial(
            _serve,
            arguments.file,
            arguments.host,
            arguments.port,
            open_blocks=arguments.open_blocks,
        )
    )
    print("knavery serve: ended", file=sys.stderr)
    return 0


async def _serve(file: Path, host: str, port: int, *, open_blocks: bool) -> None:
    import trio

    from tournaments.web.app import application
    from tournaments.web.live import Live
    from tournaments.web.serving import serve, stopped

    live = Live(file, open_blocks=open_blocks)
    await live.begin()
    app, feed = application(live, host)

    async def ended() -> None:
        await stopped()
        feed.close()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(live.watch)
        await serve(
            app, host, port, ended, lambda where: print(f"{file.name}: {where}", flush=True)
        )
        nursery.cancel_scope.cancel()
