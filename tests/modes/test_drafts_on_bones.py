"""Drafts attached to bones: they follow animated bones and are refused on simulated ones."""

import numpy as np
import pytest
from reduced import turn
from small_jobs import box_job, change
from test_drafts import baked

from solver.errors import BadScene
from solver.job.load import load

METHODS = {"subspace": {"subspace_weights": 8}, "projective": {"projective_iterations": 40},
           "xpbd": {"xpbd_substeps": 30}}
LAST = 13


def frames():
    """A bone that swings about an axis at the box's end, (T, 4, 4)."""
    found = np.tile(np.eye(4), (2 * (LAST - 1) + 1, 1, 1))
    for k, pose in enumerate(found):
        pose[:3, :3] = turn((0, 1, 0), 0.3 * np.sin(2 * np.pi * 1.5 * k / 48))
    return found


def on_a_bone(folder, kind, is_animated=True):
    """A box of which one end is on a bone instead of pins."""
    job = box_job(folder, end=LAST, cells=(6, 2, 2), motion=False, integrator={"kind": "backward_euler"},
                  method={"kind": kind, "params": METHODS.get(kind, {})}, stage_solver={"kind": "newton_d"})
    np.save(job / "arrays" / "bone.npy", frames())
    bone = {"name": "Bone"} | ({"motion": "arrays/bone.npy"} if is_animated else {})
    change(job, "mechanisms", [{"name": "Arm", "bodies": [bone]}])
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.attach", [{"mechanism": "Arm", "body": "Bone", "nodes": "arrays/pinned.npy"}])
    return job


@pytest.mark.parametrize("kind", METHODS)
def test_a_draft_moves_with_an_animated_bone_as_the_whole_bake_does(tmp_path, kind):
    job = on_a_bone(tmp_path / "draft", kind)
    draft = baked(job)[0]
    whole = baked(on_a_bone(tmp_path / "whole", "vanilla"))[0]
    pinned = np.load(job / "arrays" / "pinned.npy")
    led = draft[0][pinned] @ np.swapaxes(frames()[::2, :3, :3], 1, 2)
    assert np.abs(led - led[0]).max() > 0.02
    assert np.abs(draft[:, pinned] - led).max() < 1e-6
    moved = np.abs(whole - whole[0]).max()
    assert moved > 0.05 and np.abs(draft - whole).max() < 0.2 * moved


@pytest.mark.parametrize("kind", METHODS)
def test_a_draft_on_a_bone_that_is_simulated_is_refused(tmp_path, kind):
    with pytest.raises(BadScene, match='it hangs on "Bone", which is simulated'):
        load(on_a_bone(tmp_path / "job", kind, is_animated=False))
