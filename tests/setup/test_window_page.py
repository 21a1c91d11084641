"""The page of journeys in the window names tests that exist."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS.parent / "docs" / "developers" / "window.md").read_text(encoding="utf-8")


def rows(heading):
    """Return the rows of the table below a heading, as lists of cells."""
    below = PAGE.partition(f"\n{heading}\n")[2].partition("\n#")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in below.splitlines()
            if line.startswith("| ") and not line.startswith("| ---")]


def test_every_test_that_is_named_is_there():
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE)
    assert len(named) > 60
    for path, name in named:
        assert f"def {name}(" in (TESTS / path).read_text(encoding="utf-8"), (path, name)


def test_every_sentence_has_a_test_or_says_that_it_is_left():
    for heading in ("### The first minute", "### Paint and see", "### In the real program", "### The manual"):
        sentences = [row for row in rows(heading) if row[0]]
        assert len(sentences) >= 3, heading
        for sentence, noticed in sentences:
            assert "::test_" in noticed or "[row](" in noticed or noticed == "left, see below", sentence


def test_each_of_the_twenty_frictions_has_a_line():
    numbers = re.findall(r"^\| (\d+) \|.*\| `", PAGE, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, 21)]


def test_each_file_of_journeys_has_a_row_of_where_it_was_driven():
    below = PAGE.partition("\n## Driven to the end, and where\n")[2].partition("\n## ")[0]
    files = set(re.findall(r"^\| `(test_window\w*)`", below, re.MULTILINE))
    assert files == {path.stem for path in (TESTS / "addon").glob("test_window*.py")}
