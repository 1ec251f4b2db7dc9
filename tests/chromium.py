"""A headless Chromium for tests of pages: how long a page takes is the machine's affair; tests have limits, pages none."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

_CHROMIUM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_TEST_S: Final = 600
_EXPECTED_MS: Final = 500_000

NEEDS_CHROMIUM: Final = [
    pytest.mark.slow,
    pytest.mark.timeout(_TEST_S),
    pytest.mark.skipif(_CHROMIUM is None, reason="no Chromium here: install the system's package chromium"),
    pytest.mark.skipif(importlib.util.find_spec("playwright") is None, reason="playwright is not installed"),
]


@contextmanager
def chromium_tab() -> Iterator[Any]:
    """An empty tab."""
    from playwright.sync_api import expect, sync_playwright  # noqa: PLC0415 - where it is installed

    # Before the test's own limit, since it tells what the page shows instead.
    expect.set_options(timeout=_EXPECTED_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"], timeout=0)
        try:
            tab = browser.new_page()
            tab.set_default_timeout(0)
            yield tab
        finally:
            browser.close()
