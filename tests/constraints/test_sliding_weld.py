"""A weld that slides: bodies keep their distance where they are near each other, and nothing holds them along it."""

from dataclasses import replace

import numpy as np
import pytest
from small_jobs import box_tets, write_job
from stencil_sums import total
from worlds import world_of

from solver.constraints.points.sliding_weld import SlidingWeld, border
from solver.errors import BadScene
from solver.forces.stencils import ElasticBody
from solver.forces.weld import Weld
from solver.job.load import load
from solver.meshing.volume import boundary_faces

H, G = 1 / 96, 9.81
GAP, TOP = 0.003, 0.1  #: of the layers, and height of the lower one [m]


def body_of(name, nodes, tets, start):
    tets = tets + np.int32(start)
    return ElasticBody(name, slice(start, start + len(nodes)), tets, boundary_faces(tets)[0])


def layers(shift=(0.2, 0.1)):
    """A small box over a larger one: bodies, the upper one first, and positions (n, 3) [m]."""
    low, tets = box_tets((6, 3, 1), (0.6, 0.3, TOP))
    high, above = box_tets((2, 2, 2), (0.1, 0.1, 0.1))
    high = high + [*shift, TOP + GAP]
    return [body_of("High", high, above, len(low)), body_of("Low", low, tets, 0)], np.concatenate([low, high])


def weld(shift=(0.2, 0.1), **params):
    bodies, rest = layers(shift)
    return SlidingWeld(bodies, rest, {"distance": 0.005, "stiffness": 1e8, "lasts": 0.0} | params), rest


def test_there_is_no_force_along_the_surface_and_one_against_the_gap():
    force, rest = weld()
    high = np.arange(len(rest)) >= 56
    along = rest + np.where(high, 1.0, 0.0)[:, None] * [0.013, 0.021, 0.0]
    assert np.abs(total(force.measure(along, 0.0), len(rest))).max() < 1e-9
    up = np.where(high, 1.0, 0.0)[:, None] * [0.0, 0.0, 1e-4]
    found = total(force.measure(along + up, 0.0), len(rest))
    assert np.abs(found[:, :2]).max() < 1e-9 * np.abs(found[:, 2]).max(), "nothing along it"
    fixed = Weld(layers()[0], rest, {"distance": 0.005, "stiffness": 1e8, "lasts": 0.0, "breaks": 0.0,
                                  "begins": 0.0})
    assert found[high, 2].sum() == pytest.approx(total(fixed.measure(rest + up, 0.0), len(rest))[high, 2].sum())
    assert np.abs(found.sum(axis=0)).max() < 1e-9 * np.abs(found).max(), "action is reaction"
    turned = np.cross(along, found).sum(axis=0)
    assert np.abs(turned).max() < 1e-4 * np.abs(found).max()


def test_its_force_is_the_slope_of_its_energy_over_faces_edges_and_corners():
    force, rest = weld()
    rng = np.random.default_rng(2)
    x = rest + 2e-3 * rng.standard_normal(rest.shape)
    force.recall(1.0 + 0.3 * np.arange(force.remembers))
    found, step, way = total(force.measure(x, 0.0), len(rest)), 1e-8, rng.standard_normal(rest.shape)
    slope = (force.measure(x + step * way, 0.0).energy - force.measure(x - step * way, 0.0).energy) / (2 * step)
    assert -np.vdot(found, way) == pytest.approx(slope, rel=1e-5)


def test_what_is_over_an_edge_keeps_to_its_side():
    """Layers that end in one plane: a point right over the edge of the other one, that moves inward or outward."""
    bodies, rest = layers((0.5, 0.1))
    force = SlidingWeld(bodies, rest, {"distance": 0.005, "stiffness": 1e8, "lasts": 0.0})
    high = np.arange(len(rest)) >= 56
    for along in (-1e-6, -1e-12, 0.0, 1e-12, 1e-6):
        for turn in (0.0, 1e-3, -1e-3):  # of the edge's side face, which leans to either side then
            x = rest + high[:, None] * [along, 0.0, 0.0]
            x[~high, 0] += turn * (x[~high, 2] - TOP)
            assert np.abs(force.rows(x, 0.0).value).max() < 1e-9, (along, turn)


def job_of(folder, end, slope=0.0, gravity=(0.0, 0.0, -G), shift=(0.1, 0.1), modulus=1e6, **params):
    """A box that lies on a plate whose upper side is held in place, both turned by a slope about Y [rad]."""
    turn = np.array([[np.cos(slope), 0.0, np.sin(slope)], [0.0, 1.0, 0.0], [-np.sin(slope), 0.0, np.cos(slope)]])
    low, tets = box_tets((6, 3, 1), (0.6, 0.3, TOP))
    high, above = box_tets((2, 2, 2), (0.1, 0.1, 0.1))
    arrays = {"l": low @ turn.T, "t": tets, "h": (high + [*shift, TOP + GAP]) @ turn.T, "a": above,
              "p": np.flatnonzero(low[:, 2] == TOP).astype(np.int32)}
    stuff = {"method": {"kind": "vanilla"},
             "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": modulus, "poisson_ratio": 0.3}}}
    bodies = [{"name": "Low", "tets": {"nodes": "arrays/l.npy", "tets": "arrays/t.npy"},
               "pin": {"nodes": "arrays/p.npy"}, **stuff},
              {"name": "High", "tets": {"nodes": "arrays/h.npy", "tets": "arrays/a.npy"}, **stuff}]
    law = {"kind": "sliding_weld", "params": {"distance": 0.005, "stiffness": 1e8} | params}
    return write_job(folder, {"version": 1, "name": "layers", "time": {"start": 1, "end": end, "fps": 24, "step": H},
                              "bodies": bodies, "integrator": {"kind": "backward_euler"}, "gravity": list(gravity),
                              "stage_solver": {"kind": "newton_d", "params": {"tolerance": 1e-12}},
                              "forces": [{"law": law, "bodies": ["High", "Low"]}]}, arrays), turn


def moved(job, frames):
    """Return the displacements of the upper box's nodes at each frame, (frames, n, 3) [m]."""
    world = world_of(load(job))
    part, state = world.parts[0], world.initial_state()
    high = next(body.nodes for body in part.bodies_in_world if body.name == "High")
    out = [part.nodes_at(state)[0][high]]
    for _ in range(frames - 1):
        for _ in range(4):
            state = world.step(state, H)
        out.append(part.nodes_at(state)[0][high])
    return np.array(out)


@pytest.mark.parametrize("upside", [1.0, -1.0], ids=["lies", "hangs"])
def test_it_slides_down_a_slope_as_without_friction_and_stays_as_far_off(tmp_path, upside):
    """s = ½ g sin θ t (t + h), by Euler's steps; upwards the weld holds what would fall off."""
    slope = 0.3
    job, turn = job_of(tmp_path / "job", 13, slope, gravity=(0.0, 0.0, -G * upside),
                       shift=(0.1 if upside > 0.0 else 0.45, 0.1))
    x = moved(job, 13) @ turn
    bottom = x[0, :, 2] < TOP + GAP + 1e-9
    assert np.abs(x[:, bottom, 2] - TOP - GAP).max() < 1e-8
    time = np.arange(13) / 24
    way = (x - x[0]).mean(axis=1)
    assert way[:, 0] == pytest.approx(upside * 0.5 * G * np.sin(slope) * time * (time + H), rel=1e-3, abs=1e-5)
    assert upside * way[-1, 0] > 0.3, "over many faces"


def test_what_slides_over_the_border_of_an_open_surface_comes_off(tmp_path):
    bodies, rest = layers((0.2, 0.1))
    top = bodies[1].skin[(rest[bodies[1].skin][:, :, 2] > TOP - 1e-9).all(axis=1)]
    open_low = ElasticBody("Low", bodies[1].nodes, bodies[1].tets, top)
    force = SlidingWeld([bodies[0], open_low], rest, {"distance": 0.005, "stiffness": 1e8, "lasts": 0.0})
    high = (np.arange(len(rest)) >= 56)[:, None]
    half = total(force.measure(rest + high * [-0.25, 0.0, 1e-4], 0.0), len(rest))
    after_slipping = total(force.measure(rest + high * [-0.35, 0.0, 1e-4], 0.0), len(rest))
    assert half[:, 2].min() < 0.0 and (after_slipping == 0.0).all()
    # the side without the first corner is the other one's without its last
    assert border(np.array([[0, 1, 2], [2, 1, 3]])).tolist() == [[False, True, True], [True, True, False]]


def test_only_what_is_painted_keeps_its_distance():
    bodies, rest = layers()
    weights = (rest[bodies[0].nodes, 0] > rest[bodies[0].nodes, 0].mean() + 1e-6).astype(float)
    params = {"distance": 0.005, "stiffness": 1e8, "lasts": 0.0}
    half = SlidingWeld([replace(bodies[0], weights=weights), bodies[1]], rest, params)
    assert half.rows(rest, 0.0).nodes[:, 0].tolist() == [56 + k for k in np.flatnonzero(weights)
                                                         if rest[56 + k, 2] < TOP + 2 * GAP]


def test_it_lets_go_after_its_time():
    force, rest = weld(lasts=0.5)
    x = rest + [0.0, 0.0, 1e-3] * (np.arange(len(rest)) >= 56)[:, None]
    assert force.measure(x, 0.49).energy > 0.0
    assert force.measure(x, 0.5).energy == 0.0


def test_what_is_too_far_apart_is_named():
    bodies, rest = layers()
    with pytest.raises(BadScene, match='no point of "High" is within 0.001 m of "Low"'):
        SlidingWeld(bodies, rest, {"distance": 0.001, "stiffness": 1e7, "lasts": 0.0})
    with pytest.raises(BadScene, match="two bodies"):
        SlidingWeld(bodies[:1], rest, {"distance": 0.01, "stiffness": 1e7, "lasts": 0.0})
