"""Drafts touch colliders by points of their surface: they lie, stand and slide on them, and are carried along."""

import sys
from pathlib import Path

import numpy as np
import pytest
from small_jobs import box_tets, change, write_job
from solids import box
from test_drafts import baked

from solver.build import drafts
from solver.errors import BadScene
from solver.job.load import load

sys.path.append(str(Path(__file__).parents[1] / "cloth"))
from cloth_jobs import square

METHODS = {"subspace": ("sdirk2", {"subspace_weights": 4}),
           "projective": ("backward_euler", {"projective_iterations": 20}), "xpbd": ("bdf2", {"xpbd_substeps": 20})}
SLOPE = 0.3  #: [rad]


def tipped(x, angle):
    c, s = np.cos(angle), np.sin(angle)
    return x @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])


def on_obstacle(folder, method, *, drop=0.002, angle=0.0, mu=0.5, is_sheet=False, speed=0.0, end=25, **scene):
    """A soft cube of 20 cm over a slab, or over a square sheet, both tipped by an angle [rad]; frames of one step."""
    integrator, params = METHODS[method]
    nodes, tets = box_tets((2, 2, 2), (0.2, 0.2, 0.2))
    corners, faces = box((-1.0, -1.0, 0.0 if is_sheet else -0.1), (1.0, 1.0, 0.0))
    if is_sheet:
        corners, faces = corners[[0, 4, 2, 6]], np.array([[0, 1, 3], [0, 3, 2]], np.int32)
    corners = tipped(corners, angle)
    slab = {"name": "Slab", "vertices": "arrays/slab.npy", "triangles": "arrays/faces.npy", "friction": mu}
    arrays = {"nodes": tipped(nodes - [0.1, 0.1, -drop], angle), "tets": tets, "slab": corners,
              "faces": faces}
    if speed:
        slab["motion"] = "arrays/way.npy"
        arrays["way"] = corners + speed * np.arange(2 * end - 1)[:, None, None] / 96 * [0.0, 0.0, 1.0]
    body = {"name": "Cube", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"}, "friction": mu,
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 5e4, "poisson_ratio": 0.4}}}
    whole = {"version": 1, "name": "touching", "time": {"start": 1, "end": end, "fps": 48, "step": 1 / 48},
             "bodies": [body], "obstacles": [slab], "contact": {}, "method": {"kind": method, "params": params},
             "integrator": {"kind": integrator}, **scene}
    return write_job(folder, whole, arrays)


@pytest.mark.parametrize("is_sheet", [False, True], ids=["slab", "sheet"])
@pytest.mark.parametrize("method", METHODS)
def test_a_draft_falls_on_an_obstacle_and_stays_on_it(tmp_path, method, is_sheet):
    x, _ = baked(on_obstacle(tmp_path, method, drop=0.3, is_sheet=is_sheet, end=41))
    lowest = x[:, :, 2].min(axis=1)
    assert lowest[12:].min() > -0.02 * 0.35
    assert lowest[11:14].min() < 0.02
    assert x[12:, :, 2].mean(axis=1).max() < 0.35  # it gains nothing by that


@pytest.mark.parametrize("method", METHODS)
def test_a_draft_slides_on_a_slope_as_coulomb_says(tmp_path, method):
    """With half of the static friction it slides as far as a rigid body; with twice it stays, apart from settling."""
    slid = {}
    for share in (0.5, 2.0):
        x, _ = baked(on_obstacle(tmp_path / str(share), method, angle=SLOPE, mu=share * np.tan(SLOPE), end=33))
        along = (x.mean(axis=1) - x[0].mean(axis=0)) @ [np.cos(SLOPE), 0.0, -np.sin(SLOPE)]
        slid[share] = along[-1] - along[8]
    t0, t1 = 8 / 48, 32 / 48
    assert slid[0.5] == pytest.approx(0.25 * 9.81 * np.sin(SLOPE) * (t1**2 - t0**2),
                                      rel=0.05 if method == "projective" else 0.2)
    assert abs(slid[2.0]) < 0.02 * 0.35


@pytest.mark.parametrize("method", METHODS)
def test_a_draft_is_carried_up_by_what_rises(tmp_path, method):
    x, _ = baked(on_obstacle(tmp_path, method, speed=0.5))
    lowest = x[:, :, 2].min(axis=1)
    assert lowest[-1] == pytest.approx(0.5 * 24 / 48, abs=0.01)


@pytest.mark.parametrize("method", ["projective", "xpbd"])
def test_cloth_is_separated_by_its_thickness(tmp_path, method):
    job = square(tmp_path, end=17, scene={"stage_solver": {"kind": "newton_visible"}})
    for where in ("method", "bodies.0.method"):
        change(job, where, {"kind": method, "params": METHODS[method][1]})
    top, thickness = -0.03, load(job).scene.bodies[0].cloth.thickness
    for name, array in zip(("slab", "faces"), box((-1.0, -1.0, top - 0.1), (2.0, 2.0, top))):
        np.save(job / "arrays" / f"{name}.npy", array)
    change(job, "contact", {})
    change(job, "obstacles", [{"name": "Slab", "vertices": "arrays/slab.npy", "triangles": "arrays/faces.npy"}])
    moved, _ = baked(job)
    assert moved[0][:, 2].min() > top + 0.02
    assert moved[-1][:, 2].min() == pytest.approx(top + thickness, abs=0.3 * thickness)


def test_a_draft_touches_an_obstacle_as_it_touches_the_ground(tmp_path, monkeypatch):
    """Ground and obstacle have equal stiffness."""
    monkeypatch.setattr(drafts, "FIRM", 1.0)
    on_slab, _ = baked(on_obstacle(tmp_path / "slab", "subspace", drop=0.05, end=33))
    job = on_obstacle(tmp_path / "ground", "subspace", drop=0.05, end=33, obstacles=[], contact=None)
    change(job, "ground", {"point": [0, 0, 0], "normal": [0, 0, 1],
                           "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}})
    on_ground, _ = baked(job)
    assert abs(on_slab - on_ground)[:, :, 2].max() < 0.005


def test_a_draft_goes_through_what_it_does_not_touch(tmp_path):
    job = on_obstacle(tmp_path, "xpbd", end=17)
    change(job, "bodies.0.touches", [])
    x, _ = baked(job)
    assert x[-1][:, 2].max() == pytest.approx(0.202 - 0.5 * 9.81 * (16 / 48) ** 2, rel=0.1)


@pytest.mark.parametrize("method", METHODS)
def test_a_draft_that_would_touch_a_body_is_refused_by_both_names(tmp_path, method):
    job = on_obstacle(tmp_path, method)
    scene = load(job).scene
    other = {"name": "Other", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
             "material": {"kind": scene.bodies[0].material.kind}}
    change(job, "bodies", [{"name": "Cube", **{key: value for key, value in other.items() if key != "name"}}, other])
    with pytest.raises(BadScene, match='"Cube" is drafted by .* colliders, and not "Other"'):
        load(job)
    change(job, "bodies.0.touches", ["Slab"])
    load(job)
