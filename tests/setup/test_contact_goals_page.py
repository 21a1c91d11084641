"""The page of contact goals names existing tests and rows for each of its numbers."""

import re
from pathlib import Path

import pytest

from benchmarks.run import stored_results

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS.parent / "docs" / "developers" / "contact_goals.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines()
        if line.startswith("| ") and not line.startswith(("| ---", "| what |"))]
MISSED_BEFORE = {"self_contact", "bowl_heap_frame_s", "ducks_exponent"}  #: their goal here is to be no worse
#: whose guard does not fail at 92dd4177; the page says why behind "passes" or "none"
NOT_FAILING_THEN = {
    "16 kPa on a collider at 1.05 μ, of μ .3, %",
    "16 kPa on a soft slab at .8 μ, of μ .6: speed, mm/s",
    "linear momentum lost by a soft and a rigid body, share",
    "by cloth and a soft body",
    "by cloth with Sharp Edges and a rigid body",
    "a strip flies off an edge, too late by, %",
    "a ball between plates, off Hertz's force at 4,096 nodes",
    "their heights, spreads and energy, off steps of 1/768 s",
    "a heap of ten jellies",
    "exponent of the price in the number of balls in a box",
    "a step of a hundred of these balls",
    "cloth on a ball, turned by 10, 63.4 and 90°, after 24 frames, mm",
}


def test_every_test_that_is_named_exists():
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE)
    assert len(named) > 30
    for path, name in named:
        assert f"def {name}(" in (TESTS / path).read_text(encoding="utf-8"), (path, name)


def test_every_row_that_is_named_exists():
    claims = {claim["claim"] for row in stored_results() for claim in row["claims"]}
    named = {name for *_, guards, _ in ROWS for name in re.findall(r"`(\w+)`", guards)}
    assert len(named) > 20
    assert named <= claims


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_each_number_has_a_goal_its_values_and_a_guard(row):
    what, goal, then, now, guards, _ = row
    assert goal and then and now
    assert "`" in guards or guards.startswith("the same"), what


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_each_guard_fails_where_the_number_was_reported(row):
    what, *_, there = row
    assert re.match(r"(passes|none): \S" if what in NOT_FAILING_THEN else r"fails: \S", there), (what, there)


def test_each_row_that_is_excepted_stands_in_the_page():
    assert NOT_FAILING_THEN <= {what for what, *_ in ROWS}


def test_each_row_that_misses_its_goal_says_so():
    named = {name: [] for *_, guards, _ in ROWS for name in re.findall(r"`(\w+)`", guards)}
    for *_, now, guards, _ in ROWS:
        for name in re.findall(r"`(\w+)`", guards):
            named[name].append(now)
    missed = {claim["claim"] for row in stored_results() for claim in row["claims"] if not claim["holds"]}
    assert not [name for name in missed & named.keys() - MISSED_BEFORE if "**missed**" not in " ".join(named[name])]
