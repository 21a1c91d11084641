"""Measured numbers of the manual are written by code: between marks that name a row, or in a table that a script
writes. Each other number with a unit, or with a point in a table, is in `handwritten_numbers.json`, with its meaning
and the words around it."""

import json
import re
from pathlib import Path

import pytest

from benchmarks import quoted
from benchmarks.run import names, stored_results

#: with a unit of what is measured: time, size, fraction, ratio
MEASURED = re.compile(r"(?<![\w/.^])[\d.,]*\d ?(?:ms|s|min|minutes|seconds|hours|×|times|GB|MB|kB|%|mm)(?![\w²])")
#: with a point, in a table's cell
TABULATED = re.compile(r"(?<=[|,( −])\d*\.\d+(?=[ ,)])")
WRITTEN = re.compile(r"<!-- ([\w ]+): written by .*?<!-- end of \1 -->|<!-- written by .*?<!-- up to here -->",
                     re.DOTALL)

#: what each number is that people wrote, by page: [what it is, the words around it], and behind a "tested" one the test
#: that measures it and reads it from the page
HANDWRITTEN = json.loads(Path(__file__).with_name("handwritten_numbers.json").read_text(encoding="utf-8"))
#: what it may be: a measured one is none of these and has to be a row's
KINDS = {"setting", "scene", "definition", "goal", "bound", "source", "tested"}


def shown(text):
    """Return a page without what code wrote: numbers of rows, tables of scripts, words in code."""
    return re.sub(r"`[^`]*`", "``", quoted.MARKED.sub("#", WRITTEN.sub("", text)))


def unlisted(text, listed):
    """Return the numbers with a unit that code did not write and that no listed snippet names, and the snippets that
    are not on the page."""
    text = shown(text)
    spans = [(match.start(), match.end()) for snippet in listed for match in re.finditer(re.escape(snippet), text)]
    tables = [line.span() for line in re.finditer(r"^\|.*\|$", text, re.MULTILINE)]
    numbers = [*MEASURED.finditer(text), *(match for span in tables for match in TABULATED.finditer(text, *span))]
    return ([match.group() for match in numbers
             if not any(start <= match.start() and match.end() <= end for start, end in spans)],
            [snippet for snippet in listed if snippet not in text])


@pytest.fixture(scope="module")
def answers():
    return {stored_result["benchmark"]: stored_result for stored_result in stored_results()}


@pytest.mark.parametrize("page", quoted.PAGES, ids=lambda page: page.name)
def test_quoted_numbers_are_what_their_rows_say(page, answers):
    text = page.read_text(encoding="utf-8")
    assert text == quoted.filled(text, answers), "run `python -m benchmarks.quoted`"
    assert text.count("<!--row ") == len(quoted.MARKED.findall(text)) == text.count("<!--/row-->")
    assert {name for name, *_ in quoted.MARKED.findall(text)} <= {*names()}


@pytest.mark.parametrize("page", quoted.PAGES, ids=lambda page: page.name)
def test_each_number_is_written_by_code_or_listed(page):
    """Put a measured number between marks, see `benchmarks/quoted.py`; list a setting with the words around it."""
    name = page.relative_to(quoted.ROOT).as_posix()
    unknown, missing = unlisted(page.read_text(encoding="utf-8"), [words for _, words, *_ in HANDWRITTEN.get(name, [])])
    assert not unknown, f"{name}: neither a row's nor listed"
    assert not missing, f"{name}: listed, but not in the page"


def test_each_listed_number_says_what_it_is():
    entries = [entry for listed in HANDWRITTEN.values() for entry in listed]
    assert {kind for kind, *_ in entries} <= KINDS
    assert all(MEASURED.search(words) or TABULATED.search(words) for _, words, *_ in entries)
    for page, listed in HANDWRITTEN.items():
        for test in [test for kind, _, *tests in listed if kind == "tested" for test in tests or [""]]:
            assert Path(page).name in (quoted.ROOT / test).read_text(encoding="utf-8"), f"{test} does not read {page}"
    assert {*HANDWRITTEN} <= {page.relative_to(quoted.ROOT).as_posix() for page in quoted.PAGES}


def test_pages_say_what_their_rows_say(answers):
    """Pages once quoted older rows of BAR and the prices of cloth."""
    bar, cloth = answers["newton"]["details"]["bar"], answers["cloth"]["details"]["steps"]
    pages = {page: quoted.MARKED.sub(r"\4", Path(quoted.ROOT, "docs", page).read_text(encoding="utf-8"))
             for page in ("integrators.md", "cloth.md")}
    for key, name in (("newton_d", "NEWTON-D"), ("newton_l0", "NEWTON-L0"), ("qlb", "QLB")):
        assert f"| {name} | {bar[key]['seconds']:.3g} s, {bar[key]['iterations']} / " in pages["integrators.md"]
    for faces, shown in (("128", "128"), ("2048", "2,048"), ("10082", "10,082")):
        assert f"| {shown} | {cloth[faces]['hanging']['ms']:.3g}: " in pages["cloth.md"]
        assert f"| {cloth[faces]['on_a_box']['ms']:.3g}: " in pages["cloth.md"]


@pytest.mark.parametrize("text, expected", [
    ("It takes 12 ms and 3.5 GB, 1.25 times as long", ["12 ms", "3.5 GB", "1.25 times"]),
    ("It takes <!--row step: claims/fill_ms, .3g-->12<!--/row--> ms", []),
    ("steps of 1/48 s of 9.81 m/s² at 30 m/s", []), ("goal 4 ms; `0.5 s`; default 3 %", ["4 ms", "3 %"]),
    ("| NEWTON-D | 96.2 | .5, 3 | GPL-3.0 |\nIt is 0.5", ["96.2", ".5"]),
    ("| `0.5` | <!--row step: claims/fill_ms, .2f-->0.50<!--/row--> |", []),
    ("<!-- what lands: written by x.py -->\n| 3 ms |\n<!-- end of what lands -->\n4 ms", ["4 ms"]),
])
def test_what_counts_as_measured(text, expected):
    assert unlisted(text, []) == (expected, [])


def test_another_number_instead_of_a_listed_one_is_detected():
    assert unlisted("pins of 3 mm, by default", ["pins of 3 mm"]) == ([], [])
    assert unlisted("pins of 4 mm, by default", ["pins of 3 mm"]) == (["4 mm"], ["pins of 3 mm"])


def test_a_row_says_a_number_in_another_unit_and_where_a_key_has_a_comma():
    text = "<!--row atwood: steps/conf., cone/gap_m × 1000, .2f--><!--/row--> mm"
    row = {"details": {"steps": {"conf., cone": {"gap_m": 0.00363}}}, "claims": []}
    assert quoted.MARKED.sub(r"\4", quoted.filled(text, {"atwood": row})) == "3.63 mm"


def test_a_row_s_list_is_read_by_index_and_by_its_ends():
    row = {"details": {"rows": [{"ms": 7.0}, {"ms": 5.0}], "left": [0.5, 0.25], "none": []}, "claims": []}
    assert [quoted.value(row, path) for path in ("rows/1/ms", "left/0", "left/min", "left/max")] == [5, 0.5, 0.25, 0.5]
    for path in ("rows/min", "rows/2/ms", "none/max"):
        with pytest.raises(KeyError):
            quoted.value(row, path)


def test_where_a_row_has_no_such_number_the_page_says_none():
    text = "<!--row lively: dragon/over_cheapest, .1f-->3.9<!--/row--> times"
    row = {"details": {"dragon": {"over_cheapest": None}}, "claims": []}
    assert quoted.MARKED.sub(r"\4", quoted.filled(text, {"lively": row})) == f"{quoted.NONE} times"


def test_a_number_whose_row_was_deleted_is_no_number():
    text = "<!--row step: claims/fill_ms, .3g-->12<!--/row--> ms"
    assert quoted.WITHOUT in quoted.filled(text, {})
    with pytest.raises(KeyError):
        quoted.filled(text, {"step": {"details": {}, "claims": []}})
