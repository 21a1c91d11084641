"""Links of the manual's pages lead to files that exist, and every picture of it is on a page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def targets(page):
    """Return the files that a page links to or shows."""
    links = re.findall(r"\]\(([^)#]*)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    return {(page.parent / target).resolve() for target in links if target and "://" not in target}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_point_at_files(page):
    assert not [target for target in targets(page) if not target.exists()]


def test_every_picture_is_on_a_page():
    shown = set().union(*map(targets, PAGES))
    pictures = set((ROOT / "docs").rglob("*.png"))
    assert len(pictures) > 5 and not pictures - shown
