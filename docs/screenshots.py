"""`make screenshots`: the pictures of README.md and docs/, taken of the real thing.

The shipped bots play a tournament of each game, its report is written, and Chromium takes pictures
of it. Another picture is another line of `PICTURES`; what needs a server or a person at the table
has a function of its own.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).resolve().parent / "images"
LARGEST = 150_000
"""Bytes of a picture, at the most."""
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync")


WEEKEND = """
[tournament]
name = "weekend"
game = "ninety-nine"
rounds = 8
""" + "".join(
    f"[[entrants]]\npath = '{name}'\n"
    for name in ("advice", "cautious", "greedy", "lowest", "highest", "random")
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A page of a report at a size in CSS pixels; `dots` are the picture's pixels for each."""

    name: str
    page: str
    width: int
    height: int
    dots: float = 1.0
    scheme: str = "light"
    scroll: str | None = None
    """What is scrolled to the top."""


PICTURES = (
    Picture("standings", "knave/index.html", 1180, 820),
    Picture("meetings", "knave/meetings.html", 1180, 860),
    Picture("replay", "knave/{match}#4:6:2", 1180, 790, scroll="#viewer"),
    Picture("replay-dark", "ninety-nine/{match}#2:5", 1180, 790, scheme="dark", scroll="#viewer"),
    Picture("replay-phone", "ninety-nine/{match}#2:4:2", 375, 667, dots=1.6, scroll="#viewer"),
)


def knavery(*words: str | Path) -> None:
    """Run a command."""
    subprocess.run([sys.executable, "-m", "tournaments.cli", *map(str, words)], check=True)


def reports(folder: Path) -> None:
    """Play a tournament of each game and write its report."""
    knavery("demo", "-o", folder)
    for file in folder.glob("*.knavery"):
        knavery("report", file, "-o", folder / file.stem)


def take(browser: Browser, folder: Path, picture: Picture) -> None:
    """Take one picture; fails if it is too large."""
    game = folder / picture.page.partition("/")[0]
    match = min(path.name for path in game.glob("match-*.html"))
    page = browser.new_page(
        viewport={"width": picture.width, "height": picture.height},
        device_scale_factor=picture.dots,
        color_scheme="dark" if picture.scheme == "dark" else "light",
    )
    page.goto(f"{folder.as_uri()}/{picture.page.format(match=match)}")
    if picture.scroll is not None:
        page.evaluate("which => document.querySelector(which).scrollIntoView()", picture.scroll)
    saved(page, f"{picture.name}.png")
    page.close()


@contextmanager
def running(*words: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """A command while it runs."""
    command = [sys.executable, "-m", "tournaments.cli", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def address(process: "subprocess.Popen[str]") -> str:
    """Where a server says that it is."""
    assert process.stdout is not None
    return process.stdout.readline().split()[-1]


def saved(page: Page, name: str) -> None:
    """A picture of what the window shows; fails if it is too large."""
    file = IMAGES / name
    page.screenshot(path=file, quality=82 if file.suffix == ".jpg" else None)
    if (size := file.stat().st_size) > LARGEST:
        raise SystemExit(f"{file} has {size:,} bytes: make it smaller")
    print(f"{file.name}: {size:,} bytes")


def live(browser: Browser, folder: Path) -> None:
    """A tournament while it is played."""
    (folder / "weekend.toml").write_text(WEEKEND)
    file = folder / "weekend.knavery"
    with running("run", folder / "weekend.toml"):
        while not file.exists():
            time.sleep(0.2)
        with running("serve", file, "--port", "0") as server:
            page = browser.new_page(viewport={"width": 1180, "height": 860})
            page.goto(address(server))
            page.locator(".tables li").first.wait_for(timeout=600_000)
            page.locator("[data-live=latest] tr").nth(6).wait_for(timeout=600_000)
            saved(page, "live.png")
            page.close()


def table(browser: Browser) -> None:
    """A person's table, at a desktop's and at a phone's width."""
    with running("serve", "--play", "advice", "greedy", "--port", "0") as server:
        context = browser.new_context(reduced_motion="reduce")
        page = context.new_page()
        page.goto(address(server))
        page.locator("[data-variant=revelation]").first.click()
        page.locator("#bidding").wait_for(timeout=600_000)
        for place in (1, 4, 8):
            page.locator("#hand button").nth(place).click()
        page.locator("#bid").click()
        for left in (9, 8, 7):
            page.locator(f"#hand:has(button:nth-child({left})) .can:not(.bids)").first.click()
        page.locator("#hand:not(:has(button:nth-child(7))) .can").first.wait_for()
        for name, width, height in (("table.jpg", 1180, 820), ("table-phone.jpg", 375, 667)):
            page.set_viewport_size({"width": width, "height": height})
            saved(page, name)
        context.close()


def main() -> None:
    """All pictures; with a folder, those of the reports that are in it already."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where the reports are, or shall be")
    given: Path | None = parser.parse_args().folder
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("there is no chromium: apt-get install chromium")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = (given or Path(scratch)).resolve()
        if not any(folder.glob("*/index.html")):
            reports(folder)
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        for picture in PICTURES:
            take(browser, folder, picture)
        live(browser, Path(scratch))
        table(browser)
        browser.close()


if __name__ == "__main__":
    main()
