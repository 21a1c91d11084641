"""From job folders to worlds: several bodies in one system, each as if it were alone, and errors that name them."""

import json

import numpy as np
import pytest
from bodies import box, make, nearest, positions, run
from small_jobs import box_job, box_tets, change
from worlds import nodes_of

from solver.build.soft_bodies import prepare_all
from solver.errors import Diverged, StepFailed
from solver.job.load import load
from solver.simulate import advance
from solver.state import State

H = 1 / 96


def world_of(job):
    return nodes_of(load(job))


def two_boxes(folder, **scene):
    """The box that swings, and beside it a heavier, stiffer one whose pins stand still."""
    job = box_job(folder, name="Soft", **scene)
    nodes, tets = box_tets((3, 2, 2), (0.15, 0.1, 0.1))
    nodes = nodes + [0.0, 0.5, 0.0]
    turned = tets.copy()
    turned[::2] = turned[::2][:, [0, 2, 1, 3]]  # as a file by hand may have them
    arrays = {"other_nodes": nodes, "other_tets": turned,
              "other_pinned": np.flatnonzero(nodes[:, 0] == 0).astype(np.int32)[::-1],
              "other_dynamic": np.array([len(nodes) - 1], np.int32)}
    for name, array in arrays.items():
        np.save(job / f"arrays/{name}.npy", array)
    body = {"name": "Stiff", "tets": {"nodes": "arrays/other_nodes.npy", "tets": "arrays/other_tets.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 9e4, "poisson_ratio": 0.3}},
            "density": 3000, "dynamic": {"nodes": "arrays/other_dynamic.npy"},
            "pin": {"nodes": "arrays/other_pinned.npy"}}
    bodies = json.loads((job / "scene.json").read_text(encoding="utf-8"))["bodies"]
    change(job, "bodies", [*bodies, body])
    return job


def steps(world, count):
    state = world.initial_state()
    for _ in range(count):
        state = world.step(state, H)
    return state


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize("method", ["conjac", "vanilla"])
def test_each_of_two_bodies_moves_as_if_it_were_alone(tmp_path, method, damped):
    job = two_boxes(tmp_path / "both", end=4, method={"kind": method, "params": {"beta": 0.7}})
    if damped:
        change(job, "bodies.0.damping", {"kind": "green", "params": {"stiffness_damping": 0.05}})
        change(job, "bodies.1.damping", {"kind": "rayleigh", "params": {"stiffness_damping": 0.01, "mass_damping": 4}})
    both = world_of(job)
    assert both.bodies == [("Soft", 0, 45), ("Stiff", 45, 36)]
    assert both.mass[:45].sum() == pytest.approx(1000 * 0.2 * 0.1 * 0.1)
    assert both.mass[45:].sum() == pytest.approx(3000 * 0.15 * 0.1 * 0.1)
    together = both.output(steps(both, 10), 1)
    scene = json.loads((job / "scene.json").read_text(encoding="utf-8"))
    for which, part in enumerate((slice(0, 45), slice(45, 81))):
        change(job, "bodies", [scene["bodies"][which]])
        alone = world_of(job)
        expected = alone.output(steps(alone, 10), 1)
        assert np.abs(together[part] - expected).max() <= 1e-10
        assert np.abs(expected - alone.rest).max() > 1e-4


def test_a_part_that_nothing_holds_falls_beside_one_that_is_pinned(tmp_path):
    """One body of two boxes, the second without a pin or a dynamic node."""
    job = box_job(tmp_path / "job", end=4, motion=False)
    nodes, tets = np.load(job / "arrays/nodes.npy"), np.load(job / "arrays/tets.npy")
    np.save(job / "arrays/nodes.npy", np.concatenate([nodes, nodes + [0.0, 0.5, 0.0]]))
    np.save(job / "arrays/tets.npy", np.concatenate([tets, tets + len(nodes)]))
    world = world_of(job)
    moved = world.output(steps(world, 10), 1) - world.rest
    fall = -9.81 * (0.5 * (10 * H) ** 2 + 0.5 * 10 * H * H)
    assert np.abs(moved[45:] - [0.0, 0.0, fall]).max() <= 1e-9
    assert np.abs(moved[np.load(job / "arrays/pinned.npy")]).max() == 0.0


def test_prescribed_nodes_are_where_their_motion_is_in_whatever_order_they_are_listed(tmp_path):
    job = two_boxes(tmp_path / "both", end=4)
    pinned = np.load(job / "arrays/pinned.npy")
    shuffled = np.random.default_rng(0).permutation(len(pinned))
    np.save(job / "arrays/pinned.npy", pinned[shuffled])
    motion = np.load(job / "arrays/pin_motion.npy")
    np.save(job / "arrays/pin_motion.npy", motion[:, shuffled])
    world = world_of(job)
    state = steps(world, 4)
    x, still = world.output(state, 1), np.load(job / "arrays/other_nodes.npy")
    other_pinned = np.load(job / "arrays/other_pinned.npy")
    assert np.abs(x[pinned] - motion[2]).max() <= 1e-15 and np.abs(motion[2] - motion[0]).max() > 1e-3
    assert np.array_equal(x[45:][other_pinned], still[other_pinned])
    # the velocity that a step gives them is what takes them there
    w = world.coordinates.compute_prescribed_velocity(state.time, H)
    there = world.coordinates.where_prescribed(state.time + H)
    assert np.abs(world.coordinates.where_prescribed(state.time) + H * w - there).max() <= 1e-15


def test_output_is_in_object_space_at_its_frame(tmp_path):
    job = box_job(tmp_path / "job", end=3)
    nodes, tets = box_tets()
    faces = tets[:1, [[0, 1, 2]]].reshape(-1, 3)
    matrices = np.tile(np.eye(4), (3, 1, 1))
    matrices[1, :3, :3], matrices[1, :3, 3] = [[0, 1, 0], [-1, 0, 0], [0, 0, 2]], [1, 2, 3]
    for name, array in {"v": nodes, "t": faces.astype(np.int32), "m": matrices}.items():
        np.save(job / f"arrays/{name}.npy", array)
    change(job, "bodies.0.surface", {"vertices": "arrays/v.npy", "triangles": "arrays/t.npy",
                                     "to_object": "arrays/m.npy"})
    world = world_of(job)
    state = world.initial_state()
    assert np.abs(world.output(state, 1) - nodes).max() <= 1e-14
    turned = np.stack([nodes[:, 1], -nodes[:, 0], 2 * nodes[:, 2]], axis=1) + [1, 2, 3]
    assert np.abs(world.output(state, 2) - turned).max() <= 1e-14


def test_what_begins_deep_in_the_ground_is_reported(tmp_path):
    """A ground that was moved up by half of a ball threw it 1.2 m up, and nothing was said."""
    for height, reported in ((0.05, True), (0.001, False)):
        ground = {"point": [0, 0, height], "normal": [0, 0, 1], "stiffness": 300.0}
        world = world_of(box_job(tmp_path / str(height), name="Ball", ground=ground))
        assert any('"Ball": it begins 0.05 m deep in the ground' in note for note in world.notes) == reported


def test_a_moving_ground_carries_a_body_up(tmp_path):
    """It rises by 0.1 m a second; the box lies on it and rises as fast."""
    job = box_job(tmp_path / "job", end=49, motion=False, gravity=[0, 0, -1.0],
                  ground={"point": [0, 0, 0], "normal": [0, 0, 2], "stiffness": 300.0, "motion": "arrays/rise.npy"},
                  method={"kind": "conjac", "params": {"beta": 1.0}})
    change(job, "bodies.0.pin", {})
    np.save(job / "arrays/rise.npy", np.outer(np.arange(97) / 48, [0.0, 0.0, 0.1]))
    world = world_of(job)
    middle = steps(world, 120)
    end = run(world, 60, h=H, state=middle)
    risen = (world.output(end, 2) - world.output(middle, 2))[:, 2]
    assert risen == pytest.approx(0.1 * 60 * H, abs=2e-3)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", ["coulomb", "filter", None])
def test_a_job_s_ground_drags_the_box_along_where_it_has_friction(tmp_path, kind):
    """A belt of 0.1 m/s; without friction the box stays."""
    friction = {"friction": {"kind": kind, "params": {"friction_coefficient": 0.5}}} if kind else {}
    job = box_job(tmp_path / "job", end=25, motion=False,
                  ground={"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness": 300.0, "motion": "arrays/belt.npy",
                          **friction},
                  method={"kind": "conjac", "params": {"beta": 1.0}})
    change(job, "bodies.0.pin", {})
    np.save(job / "arrays/belt.npy", np.outer(np.arange(49) / 48, [0.1, 0.0, 0.0]))
    world = world_of(job)
    assert any("Velocity Filter" in note for note in world.notes) == (kind == "filter")
    settled = run(world, 14, h=H)
    after = run(world, 25, h=H, state=settled)  # once to and fro on what holds it
    moved = world.mass @ (world.coordinates.positions(after.q, after.time) - world.coordinates.positions(settled.q,
                                                                                                         settled.time))
    assert moved[0] / world.mass.sum() / (25 * H) == pytest.approx(0.1 if kind else 0.0, abs=5e-3)


def test_the_body_that_blew_up_is_named(tmp_path):
    world = world_of(two_boxes(tmp_path / "both", end=4))
    state = world.initial_state()
    for value, message in ((1e6, "grew to"), (np.nan, "not a number")):
        q = state.q.copy()
        q[-1] = value
        with pytest.raises(StepFailed, match=message) as failed:
            world.refuse_blow_up(State(0.0, q, state.u))
        error = world.explain(failed.value, state, 7)
        assert str(error).startswith('"Stiff", frame 7: the motion could not be solved: ') and "Damping" in str(error)
        assert "Stiff grew" not in str(error)


def test_a_start_without_balance_names_the_switch_to_turn_off():
    """A modulus of nothing: the bar falls without end from its pinned face."""
    nodes, tets = box()
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    world = make(nodes, tets, young=1e-3, poisson=0.0, density=1e6, pinned=pinned, quasistatic_start=True)
    with pytest.raises(Diverged, match='"box", frame 1: the start has no balance.*Start at Rest'):
        world.initial_state()


@pytest.mark.parametrize("method", ["conjac", "vanilla"])
@pytest.mark.parametrize("hangs", [True, False])
@pytest.mark.parametrize("size,young", [(1e-6, 3e4), (1e-6, 1e9), (1e3, 3e4), (1e3, 1e9)])
def test_tiny_and_huge_bodies_move_right_or_are_refused(size, young, hangs, method):
    """1 µm and 1 km, soft and stiff: they fall as g says and hang within reach, or the step says that it failed."""
    nodes, tets = box((4, 2, 2), (size, 0.3 * size, 0.3 * size))
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9 * size) if hangs else []
    world = make(nodes, tets, young=young, pinned=pinned, dynamic=[nearest(nodes, (size, 0, 0))], method=method)
    state = world.initial_state()
    try:
        for _ in range(12):
            state = advance(world, state, 1 / 120, 1)
    except Diverged as refused:
        assert size < 1e-3 and not hangs, refused
        return
    moved = positions(world, state) - nodes
    if hangs:
        assert np.abs(moved).max() <= max(3.0 * size, 0.1)
    else:
        assert size < 1.0 or np.ptp(moved, axis=0).max() <= 1e-6 * size
        assert moved[:, 2].mean() == pytest.approx(-9.81 * (0.5 * 0.1**2 + 0.5 * 0.1 / 120), rel=1e-3)


@pytest.mark.parametrize("scene,own,reported", [("conjac", None, True), ("vanilla", None, False),
                                            ("conjac", "vanilla", False), ("vanilla", "conjac", True)])
def test_only_what_follows_dynamic_nodes_is_reported_to_have_none(tmp_path, scene, own, reported):
    job = box_job(tmp_path / "job", method={"kind": scene})
    np.save(job / "arrays/dynamic.npy", np.zeros(0, np.int32))
    if own:
        change(job, "bodies.0.method", {"kind": own})
    loaded = load(job)
    notes = [note for prepared in prepare_all(loaded, lambda *_: None) for note in prepared.fields.notes]
    assert any("quasistatically" in note for note in notes) == reported
