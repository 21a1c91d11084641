"""Nails through cloth: a flag that hangs on its pole and is torn off, in a wind."""

import numpy as np
import pytest
from cloth_jobs import Quiet, cloth_body, cloth_job, square
from sheets import grid
from small_jobs import change

from solver.errors import BadScene
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

CELLS, SIZE, END = 6, 0.5, 12
EDGE = [k for k in range((CELLS + 1) ** 2) if k % (CELLS + 1) == 0]  #: vertices along one side
#: along that side, before anything has moved
POLE = {"frame": 1, "head": [-0.1, 0.0, 0.0], "tip": [0.6, 0.0, 0.0], "radius": 0.01}
ACROSS = POLE | {"head": [-0.1, SIZE, 0.0], "tip": [0.6, SIZE, 0.0]}  #: along the side across
WIND = {"wind": {"velocity": [0.0, 0.0, 2.0]}}


def baked(job, *ranges):
    for end in ranges or (END,):
        bake(job, Quiet(), frames=(1, end), resume=True)
    cache = Cache(job / "cache")
    return np.array([cache.vertices(k) for k in range(1, END + 1)])


def nailed(folder, *nails, scene=WIND, **body):
    job = square(folder, cells=CELLS, size=SIZE, end=END, scene=scene, **body)
    change(job, "bodies.0.nails", list(nails))
    return job


def test_nails_along_an_edge_hold_it_as_pins_do(tmp_path):
    pinned = baked(square(tmp_path / "pinned", cells=CELLS, size=SIZE, end=END, scene=WIND, pinned=EDGE))
    nailed_frames = baked(nailed(tmp_path / "nailed", POLE))
    assert np.array_equal(nailed_frames, pinned)
    assert np.abs(nailed_frames[:, EDGE] - nailed_frames[0, EDGE]).max() == 0.0
    assert np.abs(nailed_frames[-1] - nailed_frames[0]).max() > 0.05


def test_what_is_torn_off_its_nails_falls(tmp_path):
    """In no wind its middle falls freely from then on, with the speed that it had; resumed to the same bytes."""
    nails = [POLE | {"until": 5}, ACROSS | {"until": 7, "until_subframe": 0.5}]
    still = {"wind": {"velocity": [0.0, 0.0, 0.0]}}
    seen = baked(nailed(tmp_path / "whole", *nails, scene=still, drag=0.0, air_friction=0.0))
    assert np.array_equal(seen, baked(nailed(tmp_path / "parts", *nails, scene=still, drag=0.0, air_friction=0.0),
                                      6, 8, END))
    assert np.array_equal(seen[4, EDGE], seen[0, EDGE]) and (seen[6, EDGE] != seen[4, EDGE]).any(axis=1).all()
    other = np.array(EDGE) + CELLS
    assert np.array_equal(seen[6, other], seen[0, other]) and (seen[8, other] != seen[0, other]).any(axis=1).all()
    corners = grid(CELLS, CELLS, SIZE, SIZE)[1].ravel()
    middle = np.tensordot(seen[8:].astype(float), np.bincount(corners) / len(corners), axes=(1, 0))
    assert np.abs(np.diff(middle, 2, axis=0) * 24.0 ** 2 - [0.0, 0.0, -9.81]).max() < 1e-3


def test_a_nail_that_moves_takes_cloth_along(tmp_path):
    samples = (END - 1) * 2 + 1
    job = nailed(tmp_path / "job", POLE | {"motion": "arrays/nail.npy"})
    motion = np.tile(np.eye(4), (samples, 1, 1))
    motion[:, 2, 3] = 0.2 * np.linspace(0.0, 1.0, samples) ** 2
    np.save(job / "arrays" / "nail.npy", motion)
    seen = baked(job)
    assert np.abs(seen[:, EDGE] - seen[0, EDGE] - motion[::2, None, :3, 3]).max() < 1e-7


def test_cloth_with_sharp_edges_takes_no_nails(tmp_path):
    with pytest.raises(BadScene, match="Sharp Edges has no nails"):
        load(nailed(tmp_path / "job", POLE, eulerian={}))


def test_nailed_cloth_stays_out_of_what_it_touches(tmp_path):
    """Released above a table, with air drag; also on a ground whose friction does not act on it."""
    arrays = {}
    vertices, triangles = grid(CELLS, CELLS, SIZE, SIZE)
    cloth = cloth_body("Cloth", vertices, triangles, arrays)
    cloth["nails"] = [POLE | {"until": 3}, ACROSS | {"until": 3}]
    low, faces = grid(2, 2, 0.6, 0.6)
    arrays |= {"low": low - [0.05, 0.05, 0.03], "faces": np.asarray(faces, np.int32)}
    table = {"name": "Table", "vertices": "arrays/low.npy", "triangles": "arrays/faces.npy"}
    seen = baked(cloth_job(tmp_path / "job", [cloth], arrays, end=END, obstacles=[table], contact={}, ground={
        "point": [0.0, 0.0, -0.05], "normal": [0.0, 0.0, 1.0], "friction": {"kind": "coulomb"}}))
    assert np.isfinite(seen).all()
    assert seen[-1, :, 2].min() > -0.03 and seen[-1, EDGE, 2].max() < -0.01
