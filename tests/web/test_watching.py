"""A file that goes away, is damaged, or is another while people watch it: the pages say so at once,
and go on when it is there again."""

from pathlib import Path

import httpx
import trio

from tests.tournaments.playing import create, play_all, tournament
from tests.web.asking import HOST
from tournaments.web.app import application
from tournaments.web.live import Live
from tournaments.web.recount import Recount

PATIENCE = 60.0


def made(path: Path, entrants: int) -> bytes:
    store, schedule = create(path, tournament(max_deals=1), entrants)
    with store:
        list(play_all(store, schedule))
    return path.read_bytes()


def told(trouble: str | None, expected: str | None) -> bool:
    return trouble is None if expected is None else expected in (trouble or "")


def test_who_watches_is_told_what_happens_to_the_file(tmp_path: Path) -> None:
    three, four = made(tmp_path / "three", 3), made(tmp_path / "four", 4)
    file = tmp_path / "x.knavery"
    file.write_bytes(three)
    happens: tuple[tuple[bytes | None, str | None, int], ...] = (
        (None, "there is no such file", 3),
        (b"\x00\xff" * 4096, "is not a Knavery file", 3),
        (four, None, 4),
        (four[:20_000], "is damaged", 4),
        (three, None, 3),
    )

    async def run() -> None:
        live = Live(file)
        await live.begin()
        app, _ = application(live, Recount(live), "127.0.0.1")
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HOST)
        async with client, trio.open_nursery() as nursery:
            nursery.start_soon(live.watch)
            for content, trouble, bots in happens:
                file.unlink(missing_ok=True)
                if content is not None:
                    file.write_bytes(content)
                while not told(live.trouble, trouble):
                    await live.after(live.now.number)
                page = await client.get("/")
                assert (trouble or "Finished") in page.text
                assert len((await client.get("/api/bots")).json()["items"]) == bots
                listed = await client.get("/matches")
                assert listed.status_code == (503 if trouble else 200)
            nursery.cancel_scope.cancel()

    async def patiently() -> None:
        with trio.fail_after(PATIENCE):
            await run()

    trio.run(patiently)
