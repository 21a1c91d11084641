"""A weld between two skins: its force is the slope of its energy, acts and reacts, and lets go when it is told to."""

from dataclasses import replace

import numpy as np
import pytest
from rope_jobs import baked
from small_jobs import write_job
from stencil_sums import total

from solver.build.world import build
from solver.errors import BadScene
from solver.forces.stencils import ElasticBody
from solver.forces.weld import Weld
from solver.job.load import load
from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces


def two_boxes(gap=0.003, shift=0.013):
    """Two boxes of 10 cm one above the other, the upper one coarser and pushed aside: bodies and positions (n, 3)."""
    low, tets = box_tets((3, 3, 3), (0.1, 0.1, 0.1))
    high, above = box_tets((2, 2, 2), (0.1, 0.1, 0.1))
    high = high + [shift, 0.5 * shift, 0.1 + gap]
    rest = np.concatenate([low, high])
    bodies = []
    for name, start, nodes, elements in (("Low", 0, low, tets), ("High", len(low), high, above)):
        elements = elements + np.int32(start)
        bodies.append(ElasticBody(name, slice(start, start + len(nodes)), elements, boundary_faces(elements)[0]))
    return bodies, rest


def weld(gap=0.003, bodies=None, **params):
    made, rest = two_boxes(gap)
    chosen = made if bodies is None else [made[k] for k in bodies]
    return Weld(chosen, rest, {"distance": 0.005, "stiffness": 1.0e7, "lasts": 0.0, "breaks": 0.0,
                         "begins": 0.0} | params), rest


def test_at_rest_it_does_nothing_and_bodies_that_move_together_feel_nothing():
    force, rest = weld()
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]) @ np.array(
        [[1, 0, 0], [0, np.cos(0.4), -np.sin(0.4)], [0, np.sin(0.4), np.cos(0.4)]])
    for x in (rest, rest @ turn.T + [1.0, -2.0, 3.0]):
        table = force.measure(x, 0.0)
        assert len(table.nodes) > 3 and table.energy < 1e-20 and np.abs(table.forces).max() < 1e-8


def test_its_force_is_the_slope_of_its_energy_and_its_stiffness_that_of_the_force():
    force, rest = weld()
    rng = np.random.default_rng(3)
    x = rest + 2e-3 * rng.standard_normal(rest.shape)
    found, step, way = total(force.measure(x, 0.0), len(rest)), 1e-6, rng.standard_normal(rest.shape)
    slope = (force.measure(x + step * way, 0.0).energy - force.measure(x - step * way, 0.0).energy) / (2 * step)
    assert -np.vdot(found, way) == pytest.approx(slope, rel=1e-7)

    # the blocks are exact where nothing is drawn off
    change = (total(force.measure(rest + step * way, 0.0), len(rest))
              - total(force.measure(rest - step * way, 0.0), len(rest))) / (2 * step)
    table, product = force.fill(rest, 0.0, True), np.zeros_like(rest)
    for nodes, blocks in zip(table.nodes, table.blocks.reshape(-1, 6, 3, 3)):
        for (row, column), block in zip(((1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)), blocks):
            product[nodes[row]] += block @ (way[nodes[column]] - way[nodes[row]])
            product[nodes[column]] += block.T @ (way[nodes[row]] - way[nodes[column]])
    assert np.allclose(product, change, atol=1e-6 * np.abs(change).max())


def test_what_it_does_to_one_body_it_does_to_the_other_against_it():
    force, rest = weld()
    x = rest + 3e-3 * np.random.default_rng(5).standard_normal(rest.shape)
    found = total(force.measure(x, 0.0), len(rest))
    assert np.abs(found).max() > 1.0
    assert np.abs(found.sum(axis=0)).max() < 1e-9 * np.abs(found).max()
    assert np.abs(np.cross(x, found).sum(axis=0)).max() < 1e-9 * np.abs(found).max()


def test_it_lets_go_after_its_time():
    force, rest = weld(lasts=0.5)
    x = rest + [0.0, 0.0, 1e-3] * (np.arange(len(rest)) > 63)[:, None]
    assert force.measure(x, 0.49).energy > 0.0
    for table in (force.measure(x, 0.5), force.fill(x, 0.6, True)):
        assert table.energy == 0.0 and len(table.nodes) == 0


def test_it_is_as_firm_whichever_body_has_more_points():
    x = two_boxes()[1]
    moved = x + [0.0, 0.0, 1e-3] * (np.arange(len(x)) > 63)[:, None]
    forward, back = (weld(bodies=order)[0].measure(moved, 0.0).energy for order in ((0, 1), (1, 0)))
    assert forward == pytest.approx(back, rel=0.5)


def test_what_is_too_far_apart_is_named():
    with pytest.raises(BadScene, match='no point of "Low" is within 0.005 m of "High"'):
        weld(gap=0.02)
    with pytest.raises(BadScene, match="two bodies"):
        weld(bodies=[0])


def test_what_is_pulled_harder_than_it_bears_comes_off_and_stays_off():
    force, rest = weld(breaks=5.0e3)  # 0.5 mm at this stiffness in the middle of a face, a sixth of it at a corner
    top = (np.arange(len(rest)) > 63)[:, None]
    assert not force.multipliers(rest + [0.0, 0.0, 7e-5] * top, 0.1).any()
    # tilted about one edge: what is farther from it comes off
    x = rest + [0.0, 0.0, 1.0] * top * 0.01 * (rest[:, :1] - rest[64:, 0].min())
    broken = force.multipliers(x, 0.1)
    assert 0 < broken.sum() < len(broken) == force.remembers
    force.recall(broken)
    left = force.measure(x, 0.2)
    assert len(left.nodes) == len(broken) - broken.sum() and left.energy > 0.0
    assert np.array_equal(force.multipliers(rest, 0.3), broken), "it does not stick again"
    force.recall(None)
    assert not force.multipliers(rest, 0.0).any()


def test_only_what_is_painted_sticks_and_weights_are_shares_of_what_it_bears():
    bodies, rest = two_boxes()
    right = rest[bodies[0].nodes, 0] > 0.05
    params = {"distance": 0.005, "stiffness": 1.0e7, "lasts": 0.0, "breaks": 5.0e3, "begins": 0.0}

    def painted(share):
        return Weld([replace(bodies[0], weights=np.where(right, share, 0.0)), bodies[1]], rest, params)

    lifted = rest + [0.0, 0.0, 7e-5] * (np.arange(len(rest)) > 63)[:, None]
    everywhere, whole, tenth = weld(breaks=5.0e3)[0], painted(1.0), painted(0.1)
    stuck = np.unique(whole.measure(lifted, 0.0).nodes[:, 0])
    assert right[stuck].all() and 0 < len(stuck) == whole.remembers == tenth.remembers < everywhere.remembers
    # 0.7 kPa in the middle of the face, which bears 5 kPa, or a tenth of it
    assert not whole.multipliers(lifted, 0.1).any() and tenth.multipliers(lifted, 0.1).any()
    with pytest.raises(BadScene, match='"Low" is to stick to "High" where it is painted, and nothing of it is'):
        painted(0.0)


def test_what_is_near_later_sticks_from_then_on():
    """A bond keeps the position of that moment; its load and broken points persist between steps."""
    force, rest = weld(gap=0.05, begins=0.5, breaks=5.0e3)
    top = (np.arange(len(rest)) > 63)[:, None]
    landed = rest - [0.0, 0.0, 0.047] * top
    for time, x in ((0.3, landed), (0.4, rest)):
        force.recall(force.multipliers(x, time))
        assert not force.measure(landed, time).energy and not len(force.measure(landed, time).nodes)
    known = force.multipliers(landed, 0.5)
    force.recall(known)
    beside = weld()[0]
    off = landed + [1e-4, 0.0, 3e-4] * top
    assert force.measure(landed, 0.6).energy < 1e-20 < force.measure(off, 0.6).energy
    assert force.measure(off, 0.6).energy == pytest.approx(beside.measure(off, 0.6).energy, rel=1e-9)
    broken = force.multipliers(off, 0.7)
    force.recall(broken)
    left = len(force.measure(off, 0.7).nodes)
    assert 0 < left < beside.remembers and np.array_equal(force.multipliers(landed, 0.8), broken)
    force.recall(np.zeros(force.remembers))
    with pytest.raises(BadScene, match='no point of "Low" is within 0.005 m of "High" 0.6 s after the start'):
        force.multipliers(rest, 0.6)


def hung(folder, **params):
    """A job of a box of 2 kg below another one, which is pinned, with a weld between both: the job and its nodes."""
    nodes, tets = box_tets((1, 1, 1), (0.1, 0.1, 0.2))
    arrays = {"n": nodes, "t": tets, "u": nodes + [0.0, 0.0, 0.202],
              "p": np.flatnonzero(nodes[:, 2] > 0.19).astype(np.int32)}
    stuff = {"method": {"kind": "vanilla"}, "density": 1000.0,
             "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 3e5, "poisson_ratio": 0.4}}}
    bodies = [{"name": "Low", "tets": {"nodes": "arrays/n.npy", "tets": "arrays/t.npy"}, **stuff},
              {"name": "High", "tets": {"nodes": "arrays/u.npy", "tets": "arrays/t.npy"},
               "pin": {"nodes": "arrays/p.npy"}, **stuff}]
    law = {"kind": "weld", "params": {"distance": 0.005, "stiffness": 1e8} | params}
    job = write_job(folder, {
        "version": 1, "name": "glue", "time": {"start": 1, "end": 13, "fps": 24, "step": 1 / 96}, "bodies": bodies,
        "integrator": {"kind": "backward_euler"}, "forces": [{"law": law, "bodies": ["Low", "High"]}]}, arrays)
    return job, nodes


@pytest.mark.parametrize("breaks, holds", [(1000.0, False), (10000.0, True)])
def test_what_weighs_more_than_its_glue_bears_falls(tmp_path, breaks, holds):
    """2 kg on 0.01 m² weigh 1962 Pa, twice that where they are let go."""
    job, nodes = hung(tmp_path / "job", breaks=breaks)
    last = baked(job, 5, 13, body="Low")[-1]
    fallen = (nodes - last)[:, 2].mean()
    assert (fallen < 0.02) if holds else fallen > 0.5 * 9.81 * 0.25 * 0.7


def test_what_sticks_later_does_so_at_the_same_places_in_a_resumed_bake(tmp_path):
    """It falls for 0.15 s, by 11 cm, and hangs from then on where it was."""
    later = {"begins": 0.15, "distance": 0.15}
    (whole, nodes), (parts, _) = (hung(tmp_path / name, **later) for name in ("whole", "parts"))
    out = baked(whole, body="Low")
    fallen = (nodes - out)[:, :, 2].mean(axis=1)
    assert 0.09 < fallen[4] and abs(fallen[5:] - fallen[4]).max() < 0.06, fallen
    assert np.array_equal(out, baked(parts, 4, 9, 13, body="Low"))


@pytest.mark.parametrize("solver", ["newton_d", "newton_visible"])
def test_welded_bodies_in_flight_lose_no_momentum(tmp_path, solver):
    """A soft spring from a corner of one to a far corner of the other bends and turns both."""
    nodes, tets = box_tets((2, 2, 2), (0.1, 0.1, 0.2))
    arrays = {"n": nodes, "t": tets, "u": nodes + [0.0, 0.0, 0.202]}
    stuff = {"method": {"kind": "vanilla"}, "density": 1000.0,
             "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 3e4, "poisson_ratio": 0.4}}}
    bodies = [{"name": name, "tets": {"nodes": f"arrays/{of}.npy", "tets": "arrays/t.npy"}, **stuff}
              for name, of in (("Low", "n"), ("High", "u"))]
    spring = {"kind": {"kind": "distance"}, "length": 0.1, "compliance": 1e-2,
              "ends": [{"body": "Low", "point": [0.0, 0.0, 0.0]}, {"body": "High", "point": [0.1, 0.05, 0.402]}]}
    job = write_job(tmp_path / "job", {
        "version": 1, "name": "flight", "time": {"start": 1, "end": 13, "fps": 24, "step": 1 / 96}, "bodies": bodies,
        "integrator": {"kind": "backward_euler"}, "stage_solver": {"kind": solver}, "gravity": [0.0, 0.0, 0.0],
        "forces": [{"law": {"kind": "weld", "params": {"distance": 0.005, "stiffness": 1e8}},
                    "bodies": ["Low", "High"]}], "constraints": [spring]}, arrays)
    [part] = build(load(job), lambda *_: None)[0].parts
    state = part.initial_state()
    for _ in range(24):
        state = part.step(state, 1 / 96)
    u, mass = state.u.reshape(-1, 3), part.mass[part.coordinates.free][:, None]
    moving = (mass * np.abs(u)).sum()
    assert moving > 0.3
    assert np.abs((mass * u).sum(axis=0)).max() < 1e-9 * moving
