"""The manual describes every error and every setting, and names no file that does not exist."""

import re
from pathlib import Path

import pytest

from scripts import manual_tables
from solver import errors

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def codes(cls=errors.ConJacError):
    yield cls.code
    for child in cls.__subclasses__():
        yield from codes(child)


def test_troubleshooting_has_a_heading_for_each_code():
    headings = re.findall(r"^## (\S+)$", (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8"), re.M)
    assert sorted(headings) == sorted(set(codes()))
    assert len(set(codes())) == len(list(codes())), "two errors share a code"


def test_settings_page_says_what_the_catalogue_says():
    assert manual_tables.PAGE.read_text(encoding="utf-8") == manual_tables.page(), "run `make manual`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)", text) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "docs" / "gallery" / "README.md"], ids=lambda page: page.name)
def test_code_named_in_the_manual_is_there(page):
    """Pages name code by its whole path; a test behind another one of its folder by its name alone."""
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|benchmarks|solver|scripts|conjac_addon)/[\w/]+\.py)`", text)
    assert not [path for path in named if not (ROOT / path).exists()]
    assert not [name for name in re.findall(r"`(test_\w+\.py)`", text) if not [*(ROOT / "tests").rglob(name)]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_named_in_the_manual_exist(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))) <= targets
