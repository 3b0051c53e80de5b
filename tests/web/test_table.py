"""A person's table in a real browser: deals and matches by clicks, keys, a reload, the end."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.test_stopping import descendants, gone
from tests.web.conftest import DESKTOP, PHONE, Check, opened
from tests.web.served import PATIENCE, Served, served

LONG = PATIENCE * 1000
OFFERS = {"Practice": "[data-variant=revelation]", "Knave": "[data-game=knave]"}


WORDS = "<img src=x>"
FRAGILE = f"""
import os, sys
from knavery import Bot, serve

class Fragile(Bot):
    def bid(self, view):
        self.live(view)
        return view.hand[:3]

    def play(self, view):
        self.live(view)
        return view.legal[0]

    def live(self, view):
        if view.rules.target == 50:
            print("{WORDS}", file=sys.stderr, flush=True)
            os._exit(3)

serve(Fragile)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A table of two bots, one of which dies of every decision of the short game."""
    folder = tmp_path_factory.mktemp("table")
    (folder / "fragile.py").write_text(FRAGILE)
    with served(folder, "--play", "advice", "fragile.py") as running:
        yield running
        status, said = running.end()
        assert (status, said) == (0, "knavery serve: ended\n")


@pytest.fixture
def table(browser: Browser, server: Served) -> Iterator[Page]:
    """The page of the table, with nobody at it."""
    for page in opened(browser, DESKTOP, reduced_motion="reduce"):
        page.goto(server.url)
        expect(page.locator("#lobby")).to_be_visible()
        yield page
        if page.locator("#leave").is_visible():
            page.locator("#leave").click()
            expect(page.locator("#lobby")).to_be_visible(timeout=LONG)


@pytest.fixture
def readable(accessible: Check) -> Check:
    """Asserts that anybody can read a page, on a desk and on a phone."""

    def check(page: Page) -> None:
        for size in (PHONE, DESKTOP):
            page.set_viewport_size(size)
            accessible(page)

    return check


def asked(page: Page) -> None:
    """Waits until a card may be played."""
    expect(page.locator("#hand button.can:not(.bids)").first).to_be_enabled(timeout=LONG)


def bid(page: Page) -> None:
    """Bids the first three cards of the hand, by clicks."""
    expect(page.locator("#bidding")).to_be_visible(timeout=LONG)
    cards = page.locator("#hand button")
    expect(page.locator("#bid")).to_be_disabled()
    for place in range(4):
        cards.nth(place).click()
    assert page.locator("#hand button[aria-pressed=true]").count() == 3
    cards.nth(0).click()
    expect(page.locator("#bid")).to_be_disabled()
    cards.nth(3).click()
    expect(page.locator("#sum")).to_contain_text("trick")
    page.locator("#bid").click()


def play_out(page: Page, cards: int) -> None:
    """Plays a hand of so many cards, each time the first that may be played."""
    for left in range(cards, 0, -1):
        asked(page)
        assert page.locator("#hand button").count() == left
        page.locator("#hand button.can").first.click()
        if left > 1:
            expect(page.locator("#hand button")).to_have_count(left - 1, timeout=LONG)
    expect(page.locator("#result")).to_be_visible(timeout=LONG)


@pytest.mark.parametrize(("offer", "cards"), [("Practice", 9), ("Knave", 17)])
def test_a_whole_deal_by_clicks(table: Page, readable: Check, offer: str, cards: int) -> None:
    readable(table)
    table.locator(OFFERS[offer]).first.click()
    if offer == "Practice":
        bid(table)
        asked(table)
        assert table.locator(".plate .bid").count() == 3, "all bids are open"
    asked(table)
    readable(table)
    for scheme in ("dark", "light"):
        table.emulate_media(color_scheme=scheme)
        readable(table)
    play_out(table, cards)
    rows = [row.split() for row in table.locator("#rows tr").all_inner_texts()]
    tricks = 2 if offer == "Practice" else 1
    assert sum(int(row[tricks]) for row in rows) == cards
    readable(table)
    table.locator("#review").click()
    expect(table.locator("#viewer")).to_be_visible()
    expect(table.locator("#where")).to_contain_text("deal 0")
    readable(table)
    table.get_by_role("link", name="Back to the table").click()
    expect(table.locator("#result")).to_be_visible()
    table.locator("#next").click()
    if offer == "Practice":
        expect(table.locator("#said")).to_contain_text("Deal 1", timeout=LONG)
    else:
        asked(table)
        assert table.locator("#hand button").count() == 17


CLICKER = """() => new Promise((done) => {
  const buttons = "#result:not([hidden]) #next, #bidding:not([hidden]) #bid, #hand .can";
  const press = () => {
    const free = [...document.querySelectorAll(buttons)].filter((each) => !each.disabled);
    const bid = free.find((each) => each.id === "bid");
    const button = bid || free.find((each) => each.ariaPressed !== "true");
    if (button && button.textContent === "Play again") { done(); return; }
    if (button) button.click();
    setTimeout(press, 5);
  };
  press();
})"""
"""Clicks as fast as the table lets it, until the match is over."""


def test_a_whole_match_by_clicks_though_a_bot_dies(table: Page, readable: Check) -> None:
    table.locator(".offer[data-variant=short]").click()
    told = table.locator("#told li")
    expect(told.first).to_contain_text("is started again (deal 0)", timeout=LONG)
    bid(table)
    asked(table)
    assert table.get_by_text(WORDS).count() == 0, "they might tell its cards"
    table.evaluate(CLICKER)
    expect(table.locator("#said")).to_have_text("The match is over.")
    expect(table.get_by_role("row", name="fragile put out")).to_be_visible()
    rows = [row.split() for row in table.locator("#rows tr").all_inner_texts()]
    totals = {row[0]: int(row[-1].replace("−", "-")) for row in rows}
    assert max(totals.values()) >= 50
    outcome = table.locator("#outcome").inner_text()
    assert ("place 2" not in outcome) == (totals["you"] >= totals["advice"])
    lines = told.all_inner_texts()
    assert lines[0].endswith(f"exited with status 3; its last words: {WORDS}")
    assert sum(WORDS in line for line in lines) == 1, "the same cause is told once"
    assert "fragile failed too often: it is out of the match" in lines[-1]
    readable(table)
    table.locator("#review").click()
    expect(table.locator("#where")).to_have_text(re.compile(r"deal (\d+) of 0 to \1, "))
    table.locator("#deal").select_option("0")
    table.get_by_role("button", name="next fault").click()
    expect(table.locator("#told")).to_contain_text(f"its last words: {WORDS}")
    table.get_by_role("link", name="Back to the table").click()
    expect(table.locator("#outcome")).to_have_text(outcome)
    table.get_by_role("button", name="Play again").click()
    expect(table.locator("#said")).to_contain_text("Deal 0", timeout=LONG)
    bid(table)
    asked(table)
    assert table.locator("#hand button").count() == 9


def test_a_reload_goes_on_and_keys_play(browser: Browser, server: Served) -> None:
    for page in opened(browser, DESKTOP, reduced_motion="reduce"):
        page.goto(server.url)
        page.locator(".offer[data-game=knave]").click()
        asked(page)
        before = page.locator("#hand button").evaluate_all("all => all.map(b => b.dataset.card)")
        page.reload()
        asked(page)
        after = page.locator("#hand button").evaluate_all("all => all.map(b => b.dataset.card)")
        assert after == before
        expect(page.locator("#hand button:focus")).to_have_count(1)
        legal = page.locator("#hand button.can").count()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        if legal > 1:
            page.keyboard.press("ArrowRight")
        card = page.evaluate("document.activeElement.dataset.card")
        page.keyboard.press("Enter")
        expect(page.locator("#hand button")).to_have_count(16, timeout=LONG)
        held = page.locator("#hand button").evaluate_all("all => all.map(b => b.dataset.card)")
        assert card not in held
        asked(page)
        page.locator("#leave").click()
        expect(page.locator("#lobby")).to_be_visible(timeout=LONG)


def test_leaving_ends_the_bots(browser: Browser, server: Served) -> None:
    for page in opened(browser, DESKTOP, reduced_motion="reduce"):
        page.goto(server.url)
        page.locator(".offer[data-game=knave]").click()
        asked(page)
        page.locator("#hand button.can").first.click()
        expect(page.locator("#hand button")).to_have_count(16)
        asked(page)  # again: the bots have played too
        below = descendants(server.process.pid)
        assert len(below) >= 3
        page.locator("#leave").click()
        expect(page.locator("#lobby")).to_be_visible(timeout=LONG)
        assert gone(below)


def test_two_pages_at_one_table(browser: Browser, server: Served) -> None:
    """One leaves and begins again while the other watches; the other one begins too, in vain."""
    for first in opened(browser, DESKTOP, reduced_motion="reduce"):
        first.goto(server.url)
        second = first.context.new_page()
        second.goto(server.url)
        expect(second.locator("#lobby")).to_be_visible()
        knave, practice = ".offer[data-game=knave]", ".offer[data-variant=revelation]"
        first.locator(knave).click()
        asked(first)
        with second.expect_response("**/start") as begun:
            second.locator(practice).click()
        assert begun.value.status == 409
        asked(second)
        first.locator("#leave").click()
        expect(first.locator("#lobby")).to_be_visible(timeout=LONG)
        expect(second.locator("#lobby")).to_be_visible(timeout=LONG)
        second.locator(practice).click()
        bid(second)
        asked(second)
        second.locator("#leave").click()
        expect(second.locator("#lobby")).to_be_visible(timeout=LONG)


def test_who_has_not_the_key_sees_nothing(browser: Browser, server: Served) -> None:
    context = browser.new_context()
    answer = context.request.get(server.url.split("?")[0])
    assert answer.status == 403
    assert "open the address that the terminal shows" in answer.text()
    context.close()


def test_ctrl_c_at_a_table_leaves_no_process(tmp_path: Path, browser: Browser) -> None:
    with served(tmp_path, "--play", "lowest", "highest", "--game", "knave") as server:
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.url)
        expect(page.locator(".offer").first).to_contain_text("As you asked")
        page.locator(".offer").first.click()
        expect(page.locator("#hand button.can").first).to_be_enabled(timeout=LONG)
        below = descendants(server.process.pid)
        assert server.end() == (0, "knavery serve: ended\n")
        assert gone(below)
        expect(page.locator("#trouble")).to_contain_text("does not answer", timeout=LONG)
        context.close()
