"""The step of a mechanism in one kernel: it takes the steps that the spine takes, and MuJoCo's where the two agree."""

import numpy as np
import pytest
from mechanisms import double_pendulum, mechanism_world, random_free_tree

from benchmarks import chains
from solver.errors import StepFailed
from solver.parts.joints.tree_step import TreeStep

H = 1 / 240


@pytest.fixture
def asked(monkeypatch):
    """How often the kernel's step was taken."""
    times = []
    inner = TreeStep.step

    def counted(self, state, h):
        times.append(h)
        return inner(self, state, h)

    monkeypatch.setattr(TreeStep, "step", counted)
    return times


def through_the_spine(world, state, h, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(vars(world._kernel_steps), "fit", False)
        return world.step(state, h)


def springs():
    """A spring to the world and one between neighbours; a soft stretched one and a stiff compressed one."""
    return [{"body_a": "Upper", "point_a": [0.3, 0.1, 0.05], "body_b": "Lower", "point_b": [0.9, 0.0, 0.05],
             "stiffness": 3e3, "damping": 5.0, "rest_length": 0.8},
            {"body_a": "Upper", "point_a": [0.5, 0.0, 0.0], "point_b": [0.5, 0.2, 0.5], "stiffness": 200.0,
             "damping": 1.0, "rest_length": 0.1}]


def motored():
    bodies, joints = double_pendulum()
    joints[0] |= {"stiffness": [20.0], "damping": [0.5]}
    joints[1] |= {"motor": {"mode": {"kind": "servo", "params": {"stiffness": 50.0, "damping": 2.0}},
                            "target": [0.7]}}
    return bodies, joints


def fixed_free_tree():
    bodies, joints = random_free_tree()
    joints[1] |= {"stiffness": [5.0, 3.0, 1.0], "damping": [0.1, 0.2, 0.3],
                  "rest": [0.2, 0.1, -0.3]}
    return bodies, joints


@pytest.mark.parametrize("make, options", [
    (double_pendulum, {}), (double_pendulum, {"springs": springs()}), (double_pendulum, {"springs": springs(),
                                                                                         "beta": 1.7}),
    (motored, {}), (motored, {"springs": springs()}), (random_free_tree, {}), (fixed_free_tree, {})])
def test_it_steps_as_the_spine_does(make, options, tmp_path, asked, monkeypatch):
    world = mechanism_world(tmp_path, *make(), **options)
    quick = slow = world.initial_state()
    for k in range(100):
        quick, slow = world.step(quick, H), through_the_spine(world, slow, H, monkeypatch)
        assert len(asked) == k + 1
        assert np.abs(quick.q - slow.q).max() < 1e-11 * (1 + np.abs(slow.q).max())
        assert np.abs(quick.u - slow.u).max() < 1e-10 * (1 + np.abs(slow.u).max())
        assert quick.memory.keys() == slow.memory.keys()
        assert quick.time == slow.time
    assert np.abs(quick.q - world.q).max() > 0.1


def test_balls_turn_all_around(tmp_path, asked):
    """Their charts go with them: a step ends at every chart's centre."""
    world = mechanism_world(tmp_path, *random_free_tree())
    state = world.initial_state()
    for _ in range(200):
        state = world.step(state, H)
        assert not state.q[:3].any()
    assert len(asked) == 200


def test_springs_between_far_bodies_go_through_the_spine(tmp_path, asked):
    bodies, joints = random_free_tree()
    spring = {"body_a": "Left", "point_a": [0.5, 0, 0], "body_b": "Right", "point_b": [-0.5, 0, 0], "stiffness": 100.0}
    world = mechanism_world(tmp_path, bodies, joints, springs=[spring])
    world.step(world.initial_state(), H)
    assert not asked


def test_other_integrators_go_through_the_spine(tmp_path, asked):
    world = mechanism_world(tmp_path, *double_pendulum(), integrator="bdf2")
    world.step(world.initial_state(), H)
    assert not asked


def test_it_keeps_no_past(tmp_path):
    """Equal states give equal bytes, independent of earlier calls."""
    world = mechanism_world(tmp_path, *motored(), springs=springs())
    start = world.initial_state()
    copy_of_q = start.q.copy()
    once = world.step(start, H)
    world.step(world.step(once, H), 2 * H)
    again = world.step(start, H)
    assert np.array_equal(once.q, again.q) and np.array_equal(once.u, again.u)
    assert np.array_equal(start.q, copy_of_q)


@pytest.mark.parametrize("rate", [1e9, np.nan])
def test_what_blows_up_is_refused_with_its_body(tmp_path, asked, rate):
    world = mechanism_world(tmp_path, *double_pendulum(rates=(0.0, 0.0)))
    start = world.initial_state()
    start.u[1] = rate
    with pytest.raises(StepFailed) as caught:
        world.step(start, H)
    assert caught.value.object in world.tree.bodies
    assert asked


def test_a_joint_that_nothing_resists_names_its_body(tmp_path):
    world = mechanism_world(tmp_path, *double_pendulum())
    world.tree.inertia[1] = 0.0
    with pytest.raises(StepFailed, match="nothing resists") as caught:
        world.step(world.initial_state(), H)
    assert caught.value.object == "Robot/Lower"


@pytest.mark.parametrize("joint", ["hinge", "ball"])
def test_a_chain_with_pressed_springs_steps_as_mujocos(joint):
    """Its integrator `discrete` takes M + h D + h² K with K along the springs, as we do where they are pressed.

    From rest the step is the same; later ours takes the gyroscopic torque midway.
    """
    pytest.importorskip("mujoco")
    ours, reference = chains.Ours(12, joint), chains.MuJoCo(12, joint)
    start = ours.positions()
    for k in range(8):
        ours.step()
        reference.step()
        apart, moved = np.abs(ours.positions() - reference.positions()).max(), np.abs(ours.positions() - start).max()
        assert apart < (1e-13 if k == 0 else 2e-3 * moved)
    assert moved > 1e-3
    assert not reference.has_blown_up


@pytest.mark.parametrize("scene, looks", [({}, False), ({"ground": {"point": [0, 0, -9], "normal": [0, 0, 1]}}, True)])
def test_one_mechanism_that_nothing_can_touch_looks_for_no_contacts(tmp_path, scene, looks):
    world = mechanism_world(tmp_path, *double_pendulum(), **scene)
    assert (world.constraints is not None) == looks


@pytest.mark.parametrize("in_one_kernel", [True, False])
def test_momentum_flies_on_from_where_the_last_step_was_solved_however_long_that_was(tmp_path, in_one_kernel):
    """A free tree without weight: its linear momentum stays to the last digit, also where steps change their length."""
    world = mechanism_world(tmp_path, *random_free_tree(), gravity=[0.0, 0.0, 0.0])
    if not in_one_kernel:
        world.integrator.linear_euler = False
    state, lengths, totals = world.initial_state(), [0.02, 0.02, 0.005, 0.03, 0.01, 0.01, 0.002], []
    for h in lengths:
        state = world.step(state, h)
        at = world.tree.posture(state.q - h * state.u, state.u, state.memory)
        momentum = np.einsum("nab,nb->na", world.tree.inertia, at.twist)[:, 3:]
        totals.append(np.einsum("nab,nb->a", at.E[:, :3, :3], momentum))
    assert np.abs(np.array(totals) - totals[0]).max() <= 1e-12 * np.abs(totals[0]).max()
