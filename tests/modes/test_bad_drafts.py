"""Drafts and mixed bakes of unusual scenes: they bake, or one sentence explains why not."""

import numpy as np
import pytest
from small_jobs import change
from test_drafts import baked, draft_job

from solver.errors import NoFreeNode

MIXED = {"method": {"kind": "vanilla"}, "stage_solver": {"kind": "mixed"}, "integrator": {"kind": "backward_euler"}}


def small(folder, **scene):
    """A job of three frames of a box of 45 nodes that is pinned at one end and weighs."""
    return draft_job(folder, end=3, cells=(4, 2, 2), motion=False, **scene)


def test_more_weights_than_nodes_are_as_many_as_there_are(tmp_path):
    """Its cubature is not whole, so that it is the whole bake but for a few in a hundred."""
    job = small(tmp_path / "draft", method={"kind": "subspace", "params": {"subspace_weights": 64}})
    whole = small(tmp_path / "whole", method={"kind": "vanilla"}, stage_solver={"kind": "newton_d"})
    moved, expected = (x[-1] - x[0] for x in (baked(folder)[0] for folder in (job, whole)))
    assert np.abs(moved - expected).max() < 0.1 * np.abs(expected).max()


@pytest.mark.parametrize("scene", [{}, MIXED], ids=["subspace", "mixed"])
def test_what_nothing_holds_falls(tmp_path, scene):
    job = small(tmp_path / "job", **scene)
    change(job, "bodies.0.pin", {})
    x = baked(job)[0]
    fallen = x[0] - x[-1]
    assert fallen[:, 2] == pytest.approx(0.5 * 9.81 * (2 / 24) ** 2, rel=0.3) and np.ptp(fallen[:, 2]) < 1e-3
    assert np.abs(fallen[:, :2]).max() < 1e-6


@pytest.mark.parametrize("scene", [{}, MIXED], ids=["subspace", "mixed"])
def test_a_piece_that_nothing_holds_falls_beside_one_that_is_pinned(tmp_path, scene):
    job = small(tmp_path / "job", **scene)
    nodes, tets = (np.load(job / "arrays" / f"{name}.npy") for name in ("nodes", "tets"))
    np.save(job / "arrays" / "nodes.npy", np.concatenate([nodes, nodes + [0.0, 0.3, 0.0]]))
    np.save(job / "arrays" / "tets.npy", np.concatenate([tets, tets + len(nodes)]))
    x = baked(job)[0]
    fallen = x[0] - x[-1]
    assert fallen[45:, 2] == pytest.approx(0.5 * 9.81 * (2 / 24) ** 2, rel=0.3) and np.ptp(fallen[45:, 2]) < 1e-3
    assert 1e-3 < fallen[:45, 2].max() < 0.8 * fallen[45:, 2].min()


@pytest.mark.parametrize("scene", [{}, MIXED], ids=["subspace", "mixed"])
def test_what_is_pinned_all_over_is_refused(tmp_path, scene):
    job = small(tmp_path / "job", **scene)
    np.save(job / "arrays" / "pinned.npy", np.arange(45, dtype=np.int32))
    with pytest.raises(NoFreeNode, match='"Ear".*pinned'):
        baked(job)


@pytest.mark.parametrize("scene", [{}, MIXED], ids=["subspace", "mixed"])
def test_a_material_that_cannot_be_put_in_stretches_bakes_without_them(tmp_path, scene):
    """Linear elasticity knows no turning, so no stretches: it sags as by Newton's method."""
    sags = []
    newton = {**scene, "method": {"kind": "vanilla"}, "stage_solver": {"kind": "newton_d"}}
    for name, more in (("job", scene), ("whole", newton)):
        job = small(tmp_path / name, **more)
        change(job, "bodies.0.material.kind", "linear")
        x = baked(job)[0]
        sags.append(x[0, :, 2] - x[-1, :, 2])
    assert sags[0].max() == pytest.approx(sags[1].max(), rel=0.15) and sags[1].max() > 1e-3
