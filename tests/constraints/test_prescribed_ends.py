"""Hard constraints on single nodes to places of given motion: these nodes are no unknowns, and move as rows move them.

A constraint that lasts longer than the bake has rows and does otherwise what one does that lasts for ever."""

import numpy as np
import pytest
from rope_jobs import Quiet, rope_body
from small_jobs import box_tets, write_job

from solver.build.world import build
from solver.job.load import load
from solver.simulate import bake

NODES, TETS = box_tets((2, 2, 2), (0.2, 0.1, 0.1))
CORNER = NODES[int(np.flatnonzero((NODES == [0.2, 0.0, 0.1]).all(axis=1))[0])]
T = np.arange(2 * 8 + 1) / 48


def job_of(folder, constraints, body=None, arrays=None, **scene):
    arrays = {"n": NODES, "t": TETS} | (arrays or {})
    body = body or {"name": "A", "tets": {"nodes": "arrays/n.npy", "tets": "arrays/t.npy"},
                    # of what swings about the node nothing is lost
                    "method": {"kind": "vanilla"}, "wobble_half_life": 0.1,
                    "material": {"kind": "stable_neo_hookean",
                                 "params": {"youngs_modulus": 3e4, "poisson_ratio": 0.4}}}
    return write_job(folder, {"version": 1, "name": "held", "time": {"start": 1, "end": 9, "fps": 24, "step": 1 / 96},
                              "bodies": [body], "constraints": constraints,
                              "integrator": {"kind": "backward_euler"},
                              "stage_solver": {"kind": "newton_d", "params": {"tolerance": 1e-10}}, **scene}, arrays)


def tie(kind, place, far=None, **more):
    """A constraint of the body's node there to an object of two vertices, which begins at `far`."""
    return {"kind": {"kind": kind}, "ends": [{"body": "A", "point": list(place)},
                                             {"vertices": "arrays/h.npy", "point": list(place if far is None else far),
                                              "motion": "arrays/m.npy"}], **more}


def led(start, axis=(0.0, 0.1, 0.0)):
    """Arrays of an object that swings to and fro along Y and rises."""
    constant = np.array([start, np.add(start, axis)])
    way = np.stack([0.0 * T, 0.05 * np.sin(9.0 * T), 0.1 * T], axis=1)
    return {"h": constant, "m": constant + way[:, None]}


def part_of(job):
    [part] = build(load(job), lambda *_: None)[0].parts
    return part


def stepped(part, steps):
    state = part.initial_state()
    for _ in range(steps):
        state = part.step(state, 1 / 96)
    return part.coordinates.positions(state.q, state.time)


@pytest.mark.parametrize("kind, gap, nodes, integrator, near", [
    ("ball", 0.0, 1, "backward_euler", 2e-6), ("ball", 0.03, 1, "backward_euler", 2e-6),
    ("hinge", 0.0, 2, "backward_euler", 2e-6), ("ball", 0.0, 1, "sdirk2", 2e-4)])
def test_such_a_node_is_no_unknown_and_moves_as_its_rows_move_it(tmp_path, kind, gap, nodes, integrator, near):
    """Rows are off by what their multipliers change in a step over their stiffness, and projected at its end."""
    far = CORNER + [0.0, 0.0, gap]
    one = tie(kind, CORNER, far, **({"axis": [0.0, 0.1, 0.0]} if kind == "hinge" else {}))
    scene, arrays = {"integrator": {"kind": integrator}}, led(far)
    exact = part_of(job_of(tmp_path / "exact", [one], arrays=arrays, **scene))
    rows = part_of(job_of(tmp_path / "rows", [one | {"lasts": 100.0}], arrays=arrays, **scene))
    assert len(exact.coordinates.free) == len(NODES) - nodes and not exact.constraints
    assert len(rows.coordinates.free) == len(NODES) and len(rows.constraints) == 1
    ends = [stepped(part, 24) for part in (exact, rows)]
    assert np.abs(ends[0] - ends[1]).max() < near
    assert np.abs(ends[0] - exact.rest)[: len(NODES)].max() > 0.05, "it swings"


def test_a_rope_hangs_by_its_end_without_rows(tmp_path):
    arrays = led([0.0, 0.0, 0.0])
    places = np.stack([np.zeros(11), np.linspace(0.0, 0.5, 11), np.zeros(11)], axis=1)
    rope = rope_body("A", places, arrays, pinned=(), linear_density=0.1)
    part = part_of(job_of(tmp_path, [tie("ball", places[0])], rope, arrays))
    assert len(part.coordinates.free) == 10 and not part.constraints
    bake(tmp_path, Quiet())


@pytest.mark.parametrize("why", ["two", "within", "soft", "fades", "lets go", "slides", "jumps", "follows"])
def test_what_is_not_wholly_prescribed_has_rows(tmp_path, why):
    one, arrays = tie("ball", CORNER), led(CORNER)
    constraints, body = [one], None
    if why == "two":
        constraints = [one, tie("ball", CORNER)]
    elif why == "within":
        one["ends"][0]["point"] = [0.19, 0.01, 0.1]
    elif why == "soft":
        one["compliance"] = 1e-3
    elif why == "fades":
        arrays["s"] = np.linspace(1.0, 0.0, len(T))
        one["strength"] = "arrays/s.npy"
    elif why == "lets go":
        one["lasts"] = 0.2
    elif why == "slides":
        arrays["f"] = np.array([[0, 1]], np.int32)
        one["kind"], one["ends"][1]["edges"] = {"kind": "on_curve"}, "arrays/f.npy"
    elif why == "jumps":
        arrays = led(CORNER + [0.0, 0.0, 0.02])
        one["kind"]["params"] = {"closes": 0.0}
    else:
        body = {"name": "A", "tets": {"nodes": "arrays/n.npy", "tets": "arrays/t.npy"}, "method": {"kind": "conjac"},
                "dynamic": {"nodes": "arrays/d.npy"}}
        arrays["d"] = np.array([0], np.int32)
    part = part_of(job_of(tmp_path, constraints, body, arrays))
    assert len(part.coordinates.free) == len(NODES) and len(part.constraints) == len(constraints)
