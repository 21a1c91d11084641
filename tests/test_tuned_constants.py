"""Tuned constants of the solver: each has a sentence, a range and a scene that notices it, and the manual's table has
them."""

import re

import pytest
from tuned_scenes import SCENES, outcome, set_constant

from scripts import constants_table as table

LISTED = table.listed()
FOUND = {(one.file, one.name): one for room in table.ROOMS for one in table.constants(room)}
TUNED = [(file, name) for file, of in LISTED.items() for name, entry in of.items() if len(entry) == 3]
UNNOTICED = 36  #: constants that no scene notices yet
UNLISTED = 1  #: constants without a range yet
NOTICED = [one for one in TUNED if LISTED[one[0]][one[1]][2] in SCENES]
UNCHANGED = {}  #: outcomes of scenes as they are


def test_every_constant_is_listed_and_no_other():
    listed = {(file, name) for file, of in LISTED.items() for name in of}
    assert not listed - FOUND.keys()
    # a new constant gets its range and the scene that notices it in scripts/constants.toml: these are waiting for it
    assert len(FOUND.keys() - listed) <= UNLISTED


@pytest.mark.parametrize("file, name", TUNED)
def test_it_has_a_sentence_and_stands_within_its_range(file, name):
    low, high, noticed = LISTED[file][name]
    value = FOUND[file, name].value
    assert FOUND[file, name].sentence and noticed
    assert all(low <= number <= high for number in (value if isinstance(value, tuple) else (value,)))
    assert low < high


def test_what_no_scene_notices_names_a_benchmark_that_is_there():
    for file, name in set(TUNED) - set(NOTICED):
        [benchmark] = re.findall(r"^no scene .*; benchmark `(\w+)`$", LISTED[file][name][2])
        assert (table.ROOT / "benchmarks" / f"{benchmark}.py").is_file(), (file, name)
    # they may become fewer, and no more
    assert len(set(TUNED) - set(NOTICED)) <= UNNOTICED


def test_the_manual_s_table_is_written_of_them():
    assert table.PAGE.read_text(encoding="utf-8") == table.page(), "run `make manual`"
    assert table.page().count("\n| `") >= len(TUNED)


def outcomes(folder, file, name):
    """Outcomes of its scene as it is and at both ends of its range."""
    low, high, scene = LISTED[file][name]
    if scene not in UNCHANGED:
        UNCHANGED[scene] = outcome(folder, scene)
    value, found = FOUND[file, name].value, [UNCHANGED[scene]]
    for end in (low, high):
        at_end = (tuple(end for _ in value) if isinstance(value, tuple)
                  else int(end) if isinstance(value, int) else float(end))
        with pytest.MonkeyPatch.context() as patch:
            set_constant(patch, file, name, at_end)
            found.append(outcome(folder, scene))
    return found


@pytest.mark.long
@pytest.mark.parametrize("file, name", NOTICED)
def test_its_scene_notices_an_end_of_its_range(file, name, tmp_path):
    there, *ends = outcomes(tmp_path / "job", file, name)
    assert set(ends) != {there}


def test_a_scene_notices_how_many_pairs_quasi_newton_directions_use(tmp_path):
    """One of them in every run of the tests, so that the others are known to be looked at."""
    there, *ends = outcomes(tmp_path / "job", "nonlinear/early_stopped_qn.py", "MEMORY")
    assert set(ends) != {there}
    assert outcome(tmp_path / "job", LISTED["nonlinear/early_stopped_qn.py"]["MEMORY"][2]) == there
