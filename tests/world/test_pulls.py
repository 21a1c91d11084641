"""Pulls at a spot of a soft body: springs to places that are carried about, with a strength over time."""

import numpy as np
import pytest
from matrix import some
from small_jobs import box_job, change
from worlds import world_of

from solver.coordinates.prescribed import Motion, Transformed
from solver.errors import BadScene
from solver.forces.activation import Activation
from solver.forces.pulls import Pull
from solver.job.hashes import hashes, settings
from solver.job.load import load

H, FRAMES = 1 / 96, 48


def samples_of(values):
    """Return the samples of a job of two seconds at 24 fps, two samples a frame: values of the time [s]."""
    return np.array([values(k / 48) for k in range(2 * FRAMES + 1)])


def carried(offset):
    """(T, 4, 4) of an Empty that stands in (1, 2, 3) and moves by offset(t)."""
    def at(time):
        frame = np.eye(4)
        frame[:3, 3] = np.array([1.0, 2.0, 3.0]) + offset(time)
        return frame
    return samples_of(at)


def free_job(folder, pull, kind="conjac", integrator="semi_implicit", arrays=(), **scene):
    """A box of 2 kg that nothing holds, pulled at its right end."""
    scene = {"gravity": [0.0, 0.0, 0.0], **scene}
    job = box_job(folder, end=FRAMES + 1, motion=False, method={"kind": kind}, integrator={"kind": integrator}, **scene)
    change(job, "bodies.0.pin", {})
    for name, array in dict(arrays).items():
        np.save(job / "arrays" / f"{name}.npy", array)
    change(job, "bodies.0.pulls", [{"position": [0.2, 0.05, 0.05], "radius": 0.08, **pull}])
    return job


def centre(world, state):
    [part] = world.parts
    return part.mass @ part.coordinates.positions(state.q, state.time) / part.mass.sum()


def run(world, steps, h=H):
    state = world.initial_state()
    for _ in range(steps):
        state = world.step(state, h)
    return state


def test_its_force_is_the_slope_of_its_energy():
    rng = np.random.default_rng(1)
    x, places = rng.normal(size=(6, 3)), rng.normal(size=(3, 3))
    turn = np.eye(4)
    turn[:3] = [[0.0, -1.0, 0.0, 0.3], [1.0, 0.0, 0.0, -0.1], [0.0, 0.0, 1.0, 0.2]]
    carrier = Transformed(Motion(np.stack([np.eye(4), turn]), 1.0), places)
    pull = Pull(np.array([1, 3, 4], np.int32), np.array([2.0, 5.0, 3.0]), carrier,
                Activation(Motion(np.array([[1.0], [0.5]]), 1.0)))
    for time in (0.0, 0.6, 1.0):
        force, blocks = np.zeros((6, 3)), np.zeros((6, 3, 3))
        pull.add_force(x, time, force)
        pull.add_stiffness(time, blocks)
        for node in range(6):
            for axis in range(3):
                step = np.zeros((6, 3))
                step[node, axis] = 1e-5
                aside = np.zeros((2, 6, 3))
                rise = (pull.add_force(x + step, time, aside[0]) - pull.add_force(x - step, time, aside[1])) / 2e-5
                assert force[node, axis] == pytest.approx(-rise, abs=1e-8)
                slope = (aside[0] - aside[1]) / 2e-5
                assert np.abs(blocks[node, :, axis] - slope[node]).max() <= 1e-8
    assert pull.targets.at(1.0) == pytest.approx(places @ turn[:3, :3].T + turn[:3, 3])


def test_products_with_the_stiffness_of_a_pulled_body_are_slopes_of_its_force(tmp_path):
    part = world_of(load(free_job(tmp_path / "job", {"stiffness": 300.0}, gravity=[0.0, 0.0, -9.81]))).parts[0]
    rng, still = np.random.default_rng(2), np.zeros_like(part.rest)
    x, fields = part.rest + 0.002 * rng.normal(size=part.rest.shape), rng.normal(size=(2, *part.rest.shape))
    found = part.products_at(x, still, 0.1, fields, None)
    assert found.force == pytest.approx(part.evaluate(x, 0.1)[0], rel=1e-12, abs=1e-12)
    for field, product in zip(fields, found.columns):
        ends = [part.evaluate(x + share * field, 0.1)[0] for share in (-1e-7, 1e-7)]
        assert product == pytest.approx((ends[1] - ends[0]) / 2e-7, abs=1e-5 * np.abs(product).max())
        pulled = part.pulls[0].nodes
        assert np.abs(300.0 * field[pulled]).max() > 1e-2 * np.abs(product[pulled]).max()  # the pull counts


@pytest.mark.parametrize("kind,integrator", [("vanilla", "semi_implicit"), ("vanilla", "sdirk2"),
                                             ("conjac", "semi_implicit"),
                                             pytest.param("conjac", "sdirk2", marks=pytest.mark.long)])
def test_a_body_follows_what_pulls_it(tmp_path, kind, integrator):
    """Drawn along by 0.3 m in the first half second, it comes along, and stays about there."""
    draw = carried(lambda time: np.array([0.0, 0.3 * min(2.0 * time, 1.0), 0.0]))
    job = free_job(tmp_path / "job", {"stiffness": 400.0, "motion": "arrays/draw.npy"}, kind, integrator,
                   {"draw": draw})
    change(job, "bodies.0.damping", {"kind": "rayleigh", "params": {"mass_damping": 4.0}})
    world = world_of(load(job))
    start = centre(world, world.initial_state())
    moved = centre(world, run(world, 72, 2 * H)) - start
    assert moved == pytest.approx([0.0, 0.3, 0.0], abs=0.03)


@pytest.mark.parametrize("kind", ["vanilla", "conjac"])
def test_a_strength_of_nothing_is_no_pull_and_letting_go_leaves_it_flying(tmp_path, kind):
    draw = carried(lambda time: np.array([time, 0.0, 0.0]))
    pull = {"stiffness": 300.0, "motion": "arrays/draw.npy", "strength": "arrays/strength.npy"}
    off = free_job(tmp_path / "off", pull, kind, arrays={"draw": draw, "strength": samples_of(lambda time: 0.0)})
    world = world_of(load(off))
    state = run(world, 15)
    assert np.abs(centre(world, state) - centre(world, world.initial_state())).max() <= 1e-12

    goes = free_job(tmp_path / "goes", pull, kind,
                    arrays={"draw": draw, "strength": samples_of(lambda time: float(time < 0.25))})
    world = world_of(load(goes))
    [part] = world.parts
    state = run(world, 30)
    speeds = []
    for _ in range(15):
        speeds.append(part.mass @ part.velocity(state))
        state = world.step(state, H)
    assert speeds[0][0] > 0.1
    assert np.ptp(speeds, axis=0).max() <= 1e-9  # no force, no change of momentum


@pytest.mark.parametrize("integrator", some(["semi_implicit", "sdirk2"], "semi_implicit"))
def test_a_body_is_lifted_off_the_ground(tmp_path, integrator):
    """On the ground J has no contacts, but it has the pulls."""
    draw = carried(lambda time: np.array([0.0, 0.0, 0.2 * min(2.0 * time, 1.0)]))
    job = free_job(tmp_path / "job", {"stiffness": 2e3, "motion": "arrays/draw.npy", "radius": 0.3},
                   "conjac", integrator, {"draw": draw}, gravity=[0.0, 0.0, -9.81],
                   ground={"point": [0, 0, 0.0], "normal": [0, 0, 1], "stiffness": 2e4})
    world = world_of(load(job))
    state = run(world, 72)
    [part] = world.parts
    assert part.coordinates.positions(state.q, state.time)[:, 2].min() > 0.1
    # 2 kg on 2 kN/m hang about a centimetre below
    assert centre(world, state)[2] - 0.05 == pytest.approx(0.19, abs=0.04)


def test_a_finer_mesh_is_pulled_no_harder(tmp_path):
    found = []
    for cells in ((2, 1, 1), (4, 2, 2)):
        job = free_job(tmp_path / f"{cells[0]}", {"stiffness": 100.0, "radius": 1.0}, "vanilla", cells=cells,
                       gravity=[0.0, 0.0, -9.81])
        world = world_of(load(job))
        found.append(centre(world, run(world, 20)) - centre(world, world.initial_state()))
    # the whole body on 100 N/m under gravity: −g/ω² (1 − cos ω t), ω² = 50 1/s², less what the step brakes
    assert found[0] == pytest.approx(found[1], abs=1e-4)
    assert found[0][2] == pytest.approx(-9.81 / 50 * (1 - np.cos(np.sqrt(50) * 20 * H)), rel=0.05)


def test_a_pull_at_nothing_and_a_strange_strength_are_refused(tmp_path):
    job = free_job(tmp_path / "job", {"position": [5.0, 0.0, 0.0]})
    with pytest.raises(BadScene, match=r'"Ear": a pull is not near any of its nodes\. Move '
                                       r'it.*bodies\[0\]\.pulls\[0\]'):
        world_of(load(job))
    np.save(job / "arrays" / "strength.npy", np.full(2 * FRAMES + 1, 1.5))
    change(job, "bodies.0.pulls.0.strength", "arrays/strength.npy")
    with pytest.raises(BadScene, match=r"strength of a pull lies in \[0, 1\]; this one reaches from 1.5 to 1.5"):
        load(job)
    np.save(job / "arrays" / "flat.npy", np.zeros((2 * FRAMES + 1, 4, 4)))
    change(job, "bodies.0.pulls", [{"position": [0.2, 0, 0], "radius": 0.1, "motion": "arrays/flat.npy"}])
    with pytest.raises(BadScene, match="zero scale at the start frame"):
        load(job)


def test_pulls_count_in_the_hash_of_the_solve_alone(tmp_path):
    job = free_job(tmp_path / "job", {"stiffness": 100.0})
    first = hashes(settings(load(job)))
    change(job, "bodies.0.pulls.0.stiffness", 101.0)
    after = hashes(settings(load(job)))
    assert after.solve != first.solve and after.bodies == first.bodies
