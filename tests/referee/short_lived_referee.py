"""Starts a stubborn bot and one with a daemon, prints all process ids, and waits to be killed."""

import sys
from pathlib import Path

import trio

from referee.process import open_launcher
from tests.referee.process_helpers import start_unruly


async def main(folder: Path) -> None:
    async with open_launcher(folder / "logs") as launcher:
        _, stubborn = await start_unruly(launcher, "stubborn", folder)
        _, parent = await start_unruly(launcher, "parent", folder)
        print(launcher.pid, *stubborn, *parent, flush=True)
        await trio.sleep_forever()


if __name__ == "__main__":
    trio.run(main, Path(sys.argv[1]))
