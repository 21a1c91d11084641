"""A kind of constraint between points comes from outside, one class and one entry, and bakes."""

import numpy as np
import pytest
from made_up import add_to_solver
from rope_jobs import Quiet
from small_jobs import box_tets, write_job

from solver import catalogue
from solver.constraints.points.rows import PointRows
from solver.errors import BadScene
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

NODES, TETS = box_tets((2, 2, 2), (0.2, 0.1, 0.1))
RIGHT = int(np.flatnonzero((NODES == [0.2, 0.0, 0.05]).all(axis=1))[0])
LEFT = int(np.flatnonzero((NODES == [0.0, 0.0, 0.05]).all(axis=1))[0])


class Level:
    """φ = e·y + offset: two points stay level, or one a height above the other."""

    def __init__(self, first, second, rest, params, length):
        self.joints = len(first.nodes)
        self._nodes = np.concatenate([first.nodes, second.nodes], axis=1)
        self._weights = np.concatenate([first.weights, -second.weights], axis=1)
        self._first, self._offset = first.nodes.shape[1], params["offset"]

    def rows(self, x, time):
        y = np.einsum("mw,mwi->mi", self._weights, x[self._nodes])
        up = np.tile([0.0, 0.0, 1.0], (self.joints, 1))
        return PointRows(self._nodes, self._weights, self._first, np.arange(self.joints, dtype=np.int32),
                         y[:, 2] + self._offset, up, np.zeros(self.joints), np.zeros(self.joints, dtype=bool))


def add_level(monkeypatch):
    add_to_solver(monkeypatch, {"constraints.points.level": Level}, catalogue.Entry(
        "constraint", "level", "constraints.points.level:Level", "Level", "Made up",
        (catalogue.Param("offset", "Offset", "How much higher the second is", 0.0, "m", -1.0, 1.0),),
        reads=("point",)))


@pytest.fixture
def level(monkeypatch):
    add_level(monkeypatch)


def two_boxes(folder, offset=0.0, **constraint):
    """A box that is pinned at its left, and a free one beside it whose left end is to stay level with its right end."""
    arrays = {"t": TETS, "p": np.flatnonzero(NODES[:, 0] == 0.0).astype(np.int32)}
    bodies = []
    for name, at, pin in (("A", 0.0, {"pin": {"nodes": "arrays/p.npy"}}), ("B", 0.22, {})):
        arrays[f"{name}_n"] = NODES + [at, 0.0, 0.0]
        bodies.append({"name": name, "tets": {"nodes": f"arrays/{name}_n.npy", "tets": "arrays/t.npy"},
                       "method": {"kind": "vanilla"}, **pin,
                       "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 5e4}}})
    tie = {"kind": {"kind": "level", "params": {"offset": offset}}, "name": "Tie",
           "ends": [{"body": "A", "point": [0.2, 0.0, 0.05]}, {"body": "B", "point": [0.22, 0.0, 0.05]}]}
    return write_job(folder, {"version": 1, "name": "level", "time": {"start": 1, "end": 13, "fps": 24, "step": 1 / 96},
                              "bodies": bodies, "integrator": {"kind": "backward_euler"},
                              "constraints": [tie | constraint]}, arrays)


def test_a_made_up_constraint_bakes_hard(level, tmp_path):
    job = two_boxes(tmp_path / "job")
    bake(job, Quiet())
    frames = [Cache(job / "cache").frame(k) for k in range(1, 14)]
    assert max(abs(frame["A"][RIGHT, 2] - frame["B"][LEFT, 2]) for frame in frames) < 2e-8, "float32's last digit"
    assert frames[-1]["B"][RIGHT, 2] < frames[-1]["A"][RIGHT, 2] - 0.02, "its other end falls"


def test_its_parameters_are_checked(level, tmp_path):
    with pytest.raises(BadScene, match="Offset is 3 and cannot be above 1 m"):
        load(two_boxes(tmp_path / "far", offset=3.0))
