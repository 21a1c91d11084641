"""*Automatic* chooses by a table of measurements, for the uses and sizes in it, independent of the number of
threads."""

import json

import numpy as np
import pytest

from benchmarks import linear_choice
from solver.build.linear_use import linear_use
from solver.build.soft_bodies import assemble, prepare_all
from solver.job.load import load
from solver.linear import choose as choosing
from solver.linear import quickest
from solver.linear.choose import choose
from solver.linear.interface import available
from solver.linear.quickest import Measured, Table
from solver.meshing.grid import box_tets


def row(tets, mixed, count=1, use="vanilla linearised"):
    return Measured(use, "bar", tets // 5, tets, count, {"cholmod": 10.0, "mixed": mixed})


@pytest.mark.parametrize("mixed, least", [
    ((20.0, 9.9, 8.0, 5.0), 3000), ((5.0, 5.0, 5.0, 5.0), 1000), ((5.0, 5.0, 5.0, 9.9), None),
    ((5.0, 20.0, 5.0, 5.0), 3000), ((20.0, 20.0, 20.0, 5.0), 4000)])
def test_a_solver_is_taken_from_the_size_on_from_which_it_stays_quicker(mixed, least):
    table = Table([row(1000 * (k + 1), ms) for k, ms in enumerate(mixed)])
    assert table.least == ({} if least is None else {"vanilla linearised": {"mixed": least}})
    if least is not None:
        assert table.key("vanilla linearised", [10, least]) == "mixed"
        assert table.key("vanilla linearised", [least - 1] * 5) is None
        assert table.key("vanilla quick", [least]) is None


def test_it_has_to_be_quicker_on_each_number_of_threads_and_shape():
    rows = [row(1000, 5.0), row(2000, 5.0), row(1000, 5.0, 2), row(2000, 5.0, 2)]
    assert Table(rows).least == {"vanilla linearised": {"mixed": 1000}}
    assert Table([*rows, row(1000, 12.0, 2)]).least == {"vanilla linearised": {"mixed": 2000}}
    assert Table([*rows, row(2000, 12.0, 2)]).least == {}


def test_the_table_is_that_of_the_stored_rows(monkeypatch, tmp_path):
    stored = json.loads(quickest.TABLE.read_text(encoding="utf-8"))
    monkeypatch.setattr(quickest, "TABLE", tmp_path / "quickest.json")
    linear_choice.write_table()
    assert json.loads(quickest.TABLE.read_text(encoding="utf-8")) == stored
    uses = {use for part in linear_choice.USES.values() for use in part}
    assert {row["use"] for row in stored["rows"]} <= uses


@pytest.fixture
def scene(tmp_path, monkeypatch):
    """A box's job with what is changed of it, read; a table of one row by which Mixed Precision is quicker there."""
    nodes, tets = box_tets((3, 3, 6), (0.1, 0.1, 0.2))
    (tmp_path / "arrays").mkdir()
    np.save(tmp_path / "arrays" / "nodes.npy", nodes)
    np.save(tmp_path / "arrays" / "tets.npy", tets.astype(np.int32))
    np.save(tmp_path / "arrays" / "pinned.npy", np.flatnonzero(nodes[:, 2] == 0.0).astype(np.int32))
    monkeypatch.setattr(choosing, "table", lambda: Table([row(len(tets), 5.0)]))
    body = {"name": "box", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "pin": {"nodes": "arrays/pinned.npy"}, "material": {"kind": "stable_neo_hookean", "params": {}}}

    def read(**changes):
        (tmp_path / "scene.json").write_text(json.dumps({
            "version": 1, "name": "scene", "bodies": [body], "method": {"kind": "vanilla", "params": {}},
            "integrator": {"kind": "semi_implicit"}, "time": {"start": 1, "end": 2, "fps": 24.0, "step": 0.01},
            **changes}))
        job = load(tmp_path)
        return job, prepare_all(job, lambda *_: None)

    return read


def test_a_bake_is_solved_by_what_is_quicker_and_the_log_says_so(scene):
    world = assemble(*scene())
    assert type(world.linear).__name__ == "Mixed"
    [note_of_solver] = [note for note in world.notes if note.startswith("Linear solver: ")]
    assert "quicker than CHOLMOD" in note_of_solver and "324 tetrahedra" in note_of_solver
    ends = [assemble(*scene(linear_solver=key)).step(world.initial_state(), 0.01).q for key in ("auto", "cholmod")]
    assert 0.0 < np.abs(ends[0] - ends[1]).max() < 1e-9


@pytest.mark.parametrize("changes", [
    {"ground": {"point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}},
    {"contact": {"law": {"kind": "barrier"}}, "integrator": {"kind": "sdirk2"}},
    {"integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": "quick"}}, {"linear_solver": "cholmod"}])
def test_where_nothing_was_measured_the_first_one_stays(scene, changes):
    assert "CHOLMOD through" in assemble(*scene(**changes)).linear.why


def test_bones_and_methods_that_meet_were_not_measured(scene):
    job, prepared = scene()
    assert linear_use(job, prepared, False, False) == "vanilla linearised"
    assert linear_use(job, prepared, True, False) is None and linear_use(job, prepared, False, True) is None
    job, prepared = scene(integrator={"kind": "sdirk2"}, stage_solver={"kind": "newton_d"})
    assert linear_use(job, prepared, False, False) == "vanilla newton_d"


def test_where_it_cannot_be_loaded_the_first_one_stays(monkeypatch):
    monkeypatch.setattr(choosing, "table", lambda: Table([row(1000, 5.0)]))
    monkeypatch.setattr(choosing, "available", lambda key: None if key == "mixed" else available(key))
    assert "CHOLMOD through" in choose("auto", [1000], "vanilla linearised").why
