"""Semi-implicit leapfrog is of order 2 whatever acts on jointed bodies, and loops keep their energy."""

import numpy as np
import pytest
from matrix import some
from mechanisms import double_pendulum, mechanism_world, random_free_tree, run
from test_constraints import four_bar, planks
from test_tree_step import springs

SPAN = 0.4
SAMPLES = 48  #: a frame, of what is told over time
SWING = 0.4 * np.sin(2 * np.pi * np.arange(24 * SAMPLES + 1) / (24 * SAMPLES))[:, None]
SERVO = {"mode": {"kind": "servo", "params": {"stiffness": 50.0, "damping": 2.0}}, "target": "arrays/swing.npy"}
DRIVE = {"mode": {"kind": "drive"}, "target": "arrays/swing.npy"}


def on_joints(made, *more):
    """A mechanism with more said of its joints, and of it all."""
    bodies, joints, *loops = made
    joints = [{**joint, **settings} for joint, settings in zip(joints, [*more, *[{}] * len(joints)])]
    is_driven = any("motor" in joint for joint in joints)
    return bodies, joints, {"gravity": [0, 0, -9.81], **({"loops": loops[0]} if loops else {}),
                            **({"arrays": {"swing": SWING}, "samples": SAMPLES, "end": 25} if is_driven else {})}


def scene(name):
    """(bodies, joints, options)."""
    if name == "chain":
        return on_joints(double_pendulum())
    if name == "joint springs":
        return on_joints(double_pendulum(), {"stiffness": [20.0], "damping": [0.5]},
                         {"stiffness": [30.0], "damping": [0.2], "rest": [0.4]})
    if name == "springs":
        bodies, joints, options = on_joints(double_pendulum())
        return bodies, joints, {**options, "springs": springs()[1:]}
    if name == "ball springs":
        return on_joints(random_free_tree(), {}, {"stiffness": [20.0] * 3, "damping": [0.5] * 3})
    if name == "motor":
        return on_joints(double_pendulum(), {"motor": SERVO})
    if name == "drive":
        return on_joints(double_pendulum(), {"motor": DRIVE, "rate": [0.4 * 2 * np.pi]})
    if name == "four-bar":
        return on_joints(four_bar())
    if name == "four-bar with a motor":
        return on_joints(four_bar(), {"motor": SERVO})
    assert name == "driven bridge"
    bodies, joints, options = on_joints(planks(0.2), {"motor": DRIVE})
    return bodies, joints, {**options, "arrays": {"swing": 0.25 * SWING}}


def ends(folder, name, integrator, steps):
    """Return where bodies stand and their twists at the end."""
    bodies, joints, options = scene(name)
    world = mechanism_world(folder, bodies, joints, integrator=integrator, **options)
    state = run(world, SPAN / steps, steps)
    at = world.tree.posture(state.q, state.u, state.memory)
    return at.E[:, :3].ravel().copy(), at.twist.ravel().copy()


SCENES = ("chain", "joint springs", "springs", "ball springs", "motor", "drive", "four-bar", "four-bar with a motor",
          "driven bridge")


@pytest.mark.parametrize("name", some(SCENES, "four-bar"))
def test_leapfrog_is_of_order_two(tmp_path, name):
    """Beside SDIRK2 with steps much shorter: places and twists of all bodies."""
    fine = ends(tmp_path / "fine", name, "sdirk2", 1600)
    off = np.array([[np.abs(found - exact).max() for found, exact in zip(
        ends(tmp_path / f"{steps}", name, "leapfrog", steps), fine)] for steps in (100, 200)])
    orders = np.log2(off[0] / off[1])
    assert (orders > 1.8).all() and (off[1] < [2e-4, 2e-2]).all(), (orders, off)


@pytest.mark.parametrize("h, share", [(1 / 120, 0.01), (1 / 60, 0.05)])
def test_a_closed_four_bar_keeps_its_energy(tmp_path, h, share):
    """In four seconds, as a share of what it falls by: order 1 lost .3 of it."""
    bodies, joints, options = scene("four-bar")
    world = mechanism_world(tmp_path, bodies, joints, integrator="leapfrog", **options)
    state, energies, motion = world.initial_state(), [], []
    before = world.energy(state)
    for _ in range(round(4.0 / h)):
        state = world.step(state, h)
        energies.append(world.energy(state) - before)
        at = world.tree.posture(state.q, state.u, state.memory)
        motion.append(0.5 * np.einsum("na,nab,nb->", at.twist, world.tree.inertia, at.twist))
        assert world.poses(state)["loops"].max() < 1e-9
    assert np.abs(energies).max() < share * max(motion), np.abs(energies).max() / max(motion)


@pytest.mark.parametrize("damping", [0.0, 1e4])
def test_what_is_stiff_comes_to_rest(tmp_path, damping):
    """A joint a thousand times stiffer than steps can follow, started off its rest, does not ring on."""
    bodies, joints = double_pendulum((0.0, 0.0))
    joints[1] |= {"stiffness": [1e7], "damping": [damping], "start": [0.01], "rest": [0.0]}
    world = mechanism_world(tmp_path, bodies, joints, integrator="leapfrog", gravity=[0, 0, 0])
    state = run(world, 1 / 120, 40)
    assert abs(state.q[1]) < 1e-8 and abs(state.u[1]) < 1e-6


def test_leapfrog_goes_on_with_the_same_bytes_from_any_step(tmp_path):
    """All that a step of a driven bridge knows of the past is in the state."""
    bodies, joints, options = scene("driven bridge")
    worlds = [mechanism_world(tmp_path / str(k), bodies, joints, integrator="leapfrog", **options) for k in range(2)]
    state = run(worlds[0], 1 / 120, 20)
    ends = [world.step(state, 1 / 120) for world in worlds]
    assert np.array_equal(ends[0].q, ends[1].q) and np.array_equal(ends[0].u, ends[1].u)
