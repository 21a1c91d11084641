"""One bake of a stage solver, a linear solver, a contact law, a joint, a loop, a constraint between points and a part
that touches other bodies, all from outside."""

import json

import numpy as np
import pytest
from rope_jobs import Quiet
from small_jobs import box_tets, change
from test_room_constraints import add_level
from test_room_solvers import Cautious, Cushion, Dense, add_solvers
from test_room_touching_part import Weight, add_weight, cushion_and_weight
from worlds import world_of

from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

ROUND = {"kind": "sphere", "params": {"radius": 0.1}}


def all_together(folder):
    """A weight on a cushion, which is tied to a beam beside it; a block above a sheet; a bead on a wire, and one that a
    loop keeps in a plane."""
    job = cushion_and_weight(folder)
    scene = json.loads((job / "scene.json").read_text())
    beam, tets = box_tets((2, 2, 2), (0.2, 0.1, 0.1))
    block, block_tets = box_tets((2, 2, 2), (0.1, 0.1, 0.1))
    arrays = {"beam": beam + [0.25, 0.0, 0.0], "beam_tets": tets, "block_tets": block_tets,
              "end": np.flatnonzero(beam[:, 0] == beam[:, 0].max()).astype(np.int32),
              "block": block + [-1.05, -0.05, 0.004],
              "floor": np.array([[x, y, 0.0] for x in (-1.5, -0.5) for y in (-0.5, 0.5)]),
              "faces": np.array([[0, 2, 3], [0, 3, 1]], np.int32)}
    for name, values in arrays.items():
        np.save(job / "arrays" / f"{name}.npy", values)
    cushion, weight = scene["bodies"]
    soft = {key: cushion[key] for key in ("density", "method", "material")}
    method = {"method": cushion["method"]}
    change(job, "bodies", [
        cushion, weight,
        {"name": "Beam", "tets": {"nodes": "arrays/beam.npy", "tets": "arrays/beam_tets.npy"},
         "pin": {"nodes": "arrays/end.npy"}, **soft},
        {"name": "Block", "tets": {"nodes": "arrays/block.npy", "tets": "arrays/block_tets.npy"},
         "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 5e4, "poisson_ratio": 0.4}},
         "damping": {"kind": "rayleigh", "params": {"stiffness_damping": 5e-3, "mass_damping": 5.0}}, **method}])
    change(job, "obstacles", [{"name": "Floor", "vertices": "arrays/floor.npy", "triangles": "arrays/faces.npy"}])
    change(job, "contact", {"law": {"kind": "cushion", "params": {"distance": 0.004}}})
    change(job, "constraints", [{"name": "Tie", "kind": {"kind": "level", "params": {}}, "ends": [
        {"body": "Cushion", "point": [0.2, 0.0, 0.1]}, {"body": "Beam", "point": [0.25, 0.0, 0.1]}]}])
    change(job, "mechanisms", [{"name": "Beads", "bodies": [
        {"name": "Wired", "position": [0.5, 0.0, 0.25], "is_collider": False, "shape": ROUND},
        {"name": "Level", "position": [2.0, 0.0, 1.0], "is_collider": False, "shape": ROUND}],
        "joints": [{"name": "Wire", "kind": "wire", "child": "Wired", "start": [0.5]},
                   {"name": "Free", "kind": "free", "child": "Level"}],
        "loops": [{"name": "Plane", "kind": "in_plane", "body_a": "Level", "position": [2.0, 0.0, 1.0],
                   "rotation": [1.0, 0.0, 0.0, 0.0]}]}])
    change(job, "linear_solver", "dense")
    change(job, "stage_solver", {"kind": "cautious", "params": {"care": 1e-4}})
    change(job, "time.end", 4)
    return job


@pytest.fixture
def all_entries(room, monkeypatch):
    for add in (add_solvers, add_level, add_weight):
        add(monkeypatch)


def test_all_of_them_bake_together(all_entries, tmp_path):
    """Each of them acts: the weight presses the cushion, the tie the beam; the law stops the block, the joint and the
    loop guide their beads."""
    job = all_together(tmp_path / "job")
    world = world_of(load(job))
    soft = next(part for part in world.parts if type(part).__name__ == "NodesPart" or type(part).__name__ == "Nodes")
    assert any(type(part) is Weight for part in world.parts)
    assert type(soft.linear) is Dense and type(soft.contacts[0]) is Cushion and type(soft.stage_solver) is Cautious
    bake(job, Quiet())
    cache = Cache(job / "cache")
    assert cache.frames_done() == [1, 2, 3, 4] and Cautious.solved > 0
    first, last = cache.frame(1), cache.frame(4)
    rest = {name: np.load(job / "arrays" / file) for name, file in (("Cushion", "nodes.npy"), ("Beam", "beam.npy"))}
    tied = [last[name][np.flatnonzero((abs(rest[name] - point) < 1e-9).all(axis=1)), 2].item()
            for name, point in (("Cushion", [0.2, 0.0, 0.1]), ("Beam", [0.25, 0.0, 0.1]))]
    assert tied[0] == pytest.approx(tied[1], abs=2e-8) and tied[0] < 0.1 - 1e-4
    assert last["Weight"][:, 2].min() < first["Weight"][:, 2].min() - 1e-4
    assert last["Weight"][:, 2].min() > 0.095  # without the cushion it would have fallen by 0.08 m
    assert 0.0 < last["Block"][:, 2].min() < 0.004
    wired, level = cache.poses(4)["pose"][:, :3, 3]
    assert wired[2] == pytest.approx(wired[0] ** 2, abs=1e-6) and wired[0] < 0.48
    assert level[2] == pytest.approx(1.0, abs=1e-9)
