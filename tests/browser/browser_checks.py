"""Sizes of windows, and what every page must keep."""

from __future__ import annotations

from pathlib import Path

PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1200, "height": 850}
AXE = Path(__file__).with_name("axe.min.js")
"""axe-core, as it is published: it finds what stands in the way of assistive technology."""


def check_accessible(page):
    """Fail with axe-core's words where something serious stands in the way."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
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
