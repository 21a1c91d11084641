"""Tuned constants of the solver: each has a sentence, a range and a scene that notices it, and the manual's table has
them."""

import ast
import importlib
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tuned_scenes import SCENES, importers, outcome, set_constant

from scripts import constants_table as table

LISTED = table.listed()
FOUND = {(one.file, one.name): one for one in table.constants()}
#: folders whose constants are fields where they can be
WITH_FIELDS = {"contact", "nonlinear", "parts", "world", "coupling", "rows"}
TUNED = [(file, name) for file, of in LISTED.items() for name, entry in of.items() if len(entry) == 3]
#: small systems by the names that the list has
UNITS = {one.__name__.replace("_", " "): one
         for file in sorted(Path(__file__).parent.glob("tuned_units*.py"))
         for one in importlib.import_module(file.stem).UNITS}
NOTICED = [one for one in TUNED if LISTED[one[0]][one[1]][2] in SCENES]
AT_BOTH_ENDS = [one for one in TUNED if LISTED[one[0]][one[1]][2] in UNITS]
UNCHANGED = {}  #: outcomes of scenes as they are


def test_every_constant_is_listed_and_no_other():
    listed = {(file, name) for file, of in LISTED.items() for name in of}
    # a new constant gets its range and the scene or small system that notices it in scripts/constants.toml
    assert {key for key, one in FOUND.items() if not one.untuned} <= listed <= FOUND.keys()


def rules(monkeypatch, tmp_path, source):
    """Constants of a file with this source: (name, value, whether a rule has it as not tuned)."""
    (tmp_path / "made_up.py").write_text(source)
    monkeypatch.setattr(table, "SOLVER", tmp_path)
    return [(one.name, one.value, bool(one.untuned)) for one in table.constants()]


@pytest.mark.parametrize("source, found", [
    ("LEAST = 0.3", [("LEAST", 0.3, False)]),
    ("LEAST: float = 2.0**-20", [("LEAST", 2.0**-20, False)]),
    ("ANGLE = np.deg2rad(180.0)", [("ANGLE", np.pi, False)]),
    ("ROUNDS, SWEEPS = 6, 8", [("ROUNDS", 6, False), ("SWEEPS", 8, False)]),
    ("FIRST = 4.0\nNEXT = 2.0 * FIRST", [("FIRST", 4.0, False), ("NEXT", 8.0, False)]),
    ("LIGHT = np.array([0.5, 2.5])", [("LIGHT", (), False)]),
    ("MODES = (12, 60)", [("MODES", (12, 60), False)]),
    ("A, B, C = range(3)", [("A", 0, True), ("B", 1, True), ("C", 2, True)]),
    ("NEAR, FAR = 0, 9", [("NEAR", 0, True), ("FAR", 9, True)]),
    ("NOBODY = -1", [("NOBODY", -1, True)]),
    ("TINY = 1e-300", [("TINY", 1e-300, True)]),
    ("SIZE = 9  #: slots of a tensor", [("SIZE", 9, True)]),
    ("WIDE = Param('wide', 0.5)\nNO_NODES = np.zeros(0)\nname = 0.5", [])])
def test_rules_part_codes_from_numbers_that_are_tuned(source, found, monkeypatch, tmp_path):
    assert rules(monkeypatch, tmp_path, source) == found


@pytest.mark.parametrize("file, name", TUNED)
def test_it_has_a_sentence_and_stands_within_its_range(file, name):
    low, high, noticed = LISTED[file][name]
    value = FOUND[file, name].value
    assert FOUND[file, name].sentence and noticed
    assert all(low <= number <= high for number in (value if isinstance(value, tuple) else (value,)))
    assert low < high


def readers(file, name):
    """Classes, functions and statements of its file that read a constant, and files that import it."""
    tree = ast.parse((table.SOLVER / file).read_text(encoding="utf-8"))
    return [node for node in tree.body if any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)
        for one in ast.walk(node))], importers(file, name)[1:]


def test_what_one_class_alone_reads_is_a_field_of_it():
    """In capitals stands what functions read, or more than one class."""
    found = [f"{file} {name}" for file, name in TUNED if "." not in name and file.partition("/")[0] in WITH_FIELDS
             for own, others in [readers(file, name)]
             if len(own) == 1 and isinstance(own[0], ast.ClassDef) and not others]
    assert not found


def test_a_scene_or_a_small_system_notices_each():
    assert {*TUNED} == {*NOTICED, *AT_BOTH_ENDS} and not SCENES.keys() & UNITS.keys()
    assert {LISTED[file][name][2] for file, name in AT_BOTH_ENDS} == UNITS.keys()


def test_the_manual_s_table_is_written_of_them():
    assert table.PAGE.read_text(encoding="utf-8") == table.page(), "run `make manual`"
    assert table.page().count("\n| `") >= len(TUNED)


def at_ends(file, name, outcome_of):
    """Outcomes with the constant at both ends of its range."""
    low, high, _ = LISTED[file][name]
    value, found = FOUND[file, name].value, []
    for end in (low, high):
        at_end = (tuple(end for _ in value) if isinstance(value, tuple)
                  else int(end) if isinstance(value, int) else float(end))
        with pytest.MonkeyPatch.context() as patch:
            set_constant(patch, file, name, at_end)
            found.append(outcome_of())
    return found


def outcomes(folder, file, name):
    """Outcomes of its scene as it is and at both ends of its range."""
    scene = LISTED[file][name][2]
    if scene not in UNCHANGED:
        UNCHANGED[scene] = outcome(folder, scene)
    return [UNCHANGED[scene], *at_ends(file, name, lambda: outcome(folder, scene))]


@cache
def unchanged(unit):
    """Outcome of a small system with the constants as they are."""
    return UNITS[unit]()


def test_a_constant_has_its_own_value_again_where_it_is_imported_for_the_first_time(monkeypatch):
    store = importlib.import_module("solver.reuse.shared_store")
    monkeypatch.setattr(importlib.import_module("solver.reuse"), "shared_store", store)
    monkeypatch.delitem(sys.modules, store.__name__)
    with pytest.MonkeyPatch.context() as patch:
        set_constant(patch, "frames/needles.py", "LONGEST", 7.0)
        assert sys.modules[store.__name__].LONGEST == 7.0
    assert sys.modules[store.__name__].LONGEST == FOUND["frames/needles.py", "LONGEST"].value


@pytest.mark.parametrize("file, name", AT_BOTH_ENDS)
def test_its_small_system_notices_both_ends_of_its_range(file, name):
    unit = LISTED[file][name][2]
    assert unchanged(unit) not in at_ends(file, name, UNITS[unit])


@pytest.mark.long
@pytest.mark.parametrize("file, name", NOTICED)
def test_its_scene_notices_an_end_of_its_range(file, name, tmp_path):
    there, *ends = outcomes(tmp_path / "job", file, name)
    assert set(ends) != {there}


def test_a_scene_notices_how_many_pairs_quasi_newton_directions_use(tmp_path):
    """One of them in every run of the tests, so that the others are known to be looked at."""
    file, name = "nonlinear/early_stopped_qn.py", "EarlyStoppedQuasiNewton.memory"
    there, *ends = outcomes(tmp_path / "job", file, name)
    assert set(ends) != {there}
    assert outcome(tmp_path / "job", LISTED[file][name][2]) == there
