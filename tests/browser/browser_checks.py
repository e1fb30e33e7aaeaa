"""Sizes of windows, and what every page must keep."""

from __future__ import annotations

PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1200, "height": 850}


def check_accessible(page):
    """Fail with axe-core's words where something serious stands in the way."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response
    grave = [
        (rule["id"], rule["help"], [node["html"] for node in rule["nodes"]][:3])
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert grave == [], page.url


def check_width(page):
    """Fail where a page is wider than its window, so that it would scroll sideways."""
    wide, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= window, page.url
