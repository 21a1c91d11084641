"""The automatic linear solver depends on the size of the scene and the machine's memory, and every report names it."""

import numpy as np
import pytest
from small_jobs import box_job, change
from worlds import nodes_of

from solver.job import costs
from solver.job.estimate import estimate
from solver.job.load import load
from solver.linear import choose as choosing
from solver.linear.choose import choose

GB = 1e9


def test_small_meshes_are_factored_and_large_ones_are_not():
    assert costs.why_multigrid([37_000], 24 * GB) is None
    assert costs.why_multigrid([37_000] * 5, 24 * GB) is None  # factored apart
    assert "s a step" in costs.why_multigrid([400_000], 64 * GB)
    assert "GB" in costs.why_multigrid([1_000_000], 8 * GB)


def test_the_direct_factor_of_a_million_tetrahedra_is_what_was_measured():
    cost = costs.direct([1_020_000])
    assert 5.9 * 2**30 < cost.memory < 1.5 * 5.9 * 2**30 and 80 < cost.seconds < 200


def test_the_machine_has_memory():
    assert 0.5 * GB < costs.machine_memory() < 1e5 * GB


@pytest.fixture
def little_memory(monkeypatch):
    for module in (costs, choosing):
        monkeypatch.setattr(module, "machine_memory", lambda: 1e5)


def test_check_and_the_log_of_the_bake_agree(tmp_path, little_memory):
    job = box_job(tmp_path)
    assert any("multigrid" in sentence for sentence in estimate(job).sentences())
    world = nodes_of(load(job))
    assert type(world.linear).__name__ == "Multigrid"
    assert any(note.startswith("Linear solver: ") and "multigrid" in note and "GB" in note for note in world.notes)
    state = world.initial_state()
    assert np.isfinite(world.step(state, 1 / 96).q).all()


def test_what_the_artist_chose_stands(tmp_path, little_memory):
    job = box_job(tmp_path)
    change(job, "linear_solver", "cholmod")
    assert not any("multigrid" in sentence for sentence in estimate(job).sentences())
    assert type(nodes_of(load(job)).linear).__name__ == "Cholmod"


def test_a_solver_chosen_by_name_iterates_whatever_the_size():
    assert type(choose("multigrid")).__name__ == "Multigrid" and type(choose("auto", [96])).__name__ != "Multigrid"
