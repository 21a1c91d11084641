"""Numbers that the manual measured are written by code: between marks that name a row, or in a table that a script
writes. What is left from before stands in `LEFT`, which may only shrink."""

import re
from pathlib import Path

import pytest

from benchmarks import quoted
from benchmarks.run import kept, names

#: with a unit of what is measured: time, size, share, ratio
MEASURED = re.compile(r"(?<![\w/.^])[\d.,]*\d ?(?:ms|s|min|minutes|seconds|hours|×|times|GB|MB|kB|%|mm)(?![\w²])")
WRITTEN = re.compile(r"<!-- ([\w ]+): written by .*?<!-- end of \1 -->|<!-- written by .*?<!-- up to here -->",
                     re.DOTALL)

#: what such a number may be instead of a measurement: a setting or a scene in words, a goal, or the dissertation's
NO_MEASUREMENT = re.compile(r"goals?\b|dissertation|default|papers?'s?\b|steps? of|at most|`[^`]*$", re.IGNORECASE)

#: how many numbers of a page no row and no script answers for, settings and scenes in words among them
LEFT = {
    "README.md": 5, "docs/adaptivity.md": 2, "docs/cloth.md": 60, "docs/contact.md": 4, "docs/contact_inside.md": 98,
    "docs/gallery/README.md": 45, "docs/ground.md": 54, "docs/install.md": 13, "docs/integrators.md": 136,
    "docs/joints.md": 59, "docs/linear_solvers.md": 17, "docs/materials.md": 5, "docs/mechanisms.md": 2,
    "docs/presets.md": 20, "docs/spots.md": 4, "docs/troubleshooting.md": 5,
}


def unwritten(text):
    """The numbers with a unit in a page that stand in no marks, no code and not behind a word that says what they are.
    """
    text = re.sub(r"`[^`]*`", "", quoted.MARKED.sub("", WRITTEN.sub("", text)))
    return [found.group() for found in MEASURED.finditer(text)
            if not NO_MEASUREMENT.search(text[max(found.start() - 24, 0):found.start()])]


@pytest.fixture(scope="module")
def answers():
    return {one["benchmark"]: one for one in kept()}


@pytest.mark.parametrize("page", quoted.PAGES, ids=lambda page: page.name)
def test_quoted_numbers_are_what_their_rows_say(page, answers):
    text = page.read_text(encoding="utf-8")
    assert text == quoted.filled(text, answers), "run `python -m benchmarks.quoted`"
    assert text.count("<!--row ") == len(quoted.MARKED.findall(text)) == text.count("<!--/row-->")
    assert {name for name, *_ in quoted.MARKED.findall(text)} <= {*names()}


@pytest.mark.parametrize("page", quoted.PAGES, ids=lambda page: page.name)
def test_no_measured_number_is_written_by_hand(page):
    """Put a new one between marks, see `benchmarks/quoted.py`; where some were taken away lower the number here."""
    name = page.relative_to(quoted.ROOT).as_posix()
    found = unwritten(page.read_text(encoding="utf-8"))
    assert len(found) == LEFT.get(name, 0), found


def test_pages_say_what_their_rows_say(answers):
    """BAR and the prices of cloth, which stood there as they had been rows before."""
    bar, cloth = answers["newton"]["details"]["bar"], answers["cloth"]["details"]["steps"]
    said = {page: quoted.MARKED.sub(r"\4", Path(quoted.ROOT, "docs", page).read_text(encoding="utf-8"))
            for page in ("integrators.md", "cloth.md")}
    for key, name in (("newton_d", "NEWTON-D"), ("newton_l0", "NEWTON-L0"), ("qlb", "QLB")):
        assert f"| {name} | {bar[key]['seconds']:.3g} s, {bar[key]['iterations']} / " in said["integrators.md"]
    for faces, shown in (("128", "128"), ("2048", "2,048"), ("10082", "10,082")):
        assert f"| {shown} | {cloth[faces]['hanging']['ms']:.3g}: " in said["cloth.md"]
        assert f"| {cloth[faces]['on_a_box']['ms']:.3g}: " in said["cloth.md"]


@pytest.mark.parametrize("text, found", [
    ("It takes 12 ms and 3.5 GB, 1.25 times as long", ["12 ms", "3.5 GB", "1.25 times"]),
    ("It takes <!--row step: claims/fill_ms, .3g-->12<!--/row--> ms", []),
    ("steps of 1/48 s of 9.81 m/s² at 30 m/s", []), ("goal 4 ms; `0.5 s`; default 3 %", []),
    ("<!-- what lands: written by x.py -->\n| 3 ms |\n<!-- end of what lands -->\n4 ms", ["4 ms"]),
])
def test_what_counts_as_measured(text, found):
    assert unwritten(text) == found


def test_a_number_whose_row_is_gone_is_no_number():
    text = "<!--row step: claims/fill_ms, .3g-->12<!--/row--> ms"
    assert quoted.WITHOUT in quoted.filled(text, {})
    with pytest.raises(KeyError):
        quoted.filled(text, {"step": {"details": {}, "claims": []}})
