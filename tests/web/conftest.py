"""Pages in a real browser, Debian's Chromium. Where it is missing the tests that need it are
skipped, on a user's machine; with CI=true they fail."""

import os
import shutil
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PATIENCE = 60_000
"""Milliseconds that something may take to show on a page, on a busy machine."""
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 740}

Check = Callable[[Page], None]

expect.set_options(timeout=PATIENCE)


def chromium() -> str:
    """Where the browser is; without one the test is skipped, or fails where CI=true."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing = "there is no chromium: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture(params=[DESKTOP, PHONE], ids=["desktop", "phone"])
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page of a desktop's size, and one of a phone's, with touch."""
    yield from opened(browser, request.param)


@pytest.fixture
def desktop(browser: Browser) -> Iterator[Page]:
    yield from opened(browser, DESKTOP)


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    yield from opened(browser, PHONE)


def opened(browser: Browser, size: dict[str, int], **options: Any) -> Iterator[Page]:
    """A page on which nothing may fail: no script's error, nothing that its policy blocks."""
    context = browser.new_context(viewport=size, has_touch=size is PHONE, **options)
    troubles: list[str] = []
    page = watched(context, troubles)
    yield page
    context.close()
    assert not troubles


def watched(context: BrowserContext, troubles: list[str]) -> Page:
    """A new page that writes down what goes wrong on it."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "console",
        lambda said: troubles.append(said.text) if said.type in ("error", "warning") else None,
    )
    return page


@pytest.fixture(scope="session")
def accessible() -> Check:
    """Asserts that axe-core finds nothing wrong with the page as it is, and that nothing on it is
    wider than the window."""
    axe = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()

    def check(page: Page) -> None:
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        assert not [
            f"{each['id']}: {each['help']}: {node['html'][:200]} {node['failureSummary']}"
            for each in found
            for node in each["nodes"][:3]
        ]
        width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert width <= 0, f"the page is {width} pixels wider than the window"

    return check
