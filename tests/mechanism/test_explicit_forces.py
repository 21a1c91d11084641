"""Springs, joint forces and motors that a step takes where it starts: order, single steps, how stiff they may be."""

import numpy as np
import pytest
from jointed import Dense
from mechanisms import HINGE_ALONG_Y, double_pendulum, mechanism_job, mechanism_world, random_free_tree, run
from trees import bias

from solver.errors import BadScene, StepFailed
from solver.job.load import load
from solver.parts.stage import Stage

INTEGRATORS = ["semi_implicit", "leapfrog", "backward_euler", "bdf2", "sdirk2"]
SERVO = {"target": [0.5], "mode": {"kind": "servo", "params": {"stiffness": 20.0, "damping": 1.0}}}


def pendulum(folder, integrator, implicit=False):
    """Two rods with a joint spring, a servo and a spring to the world, all damped."""
    bodies, joints = double_pendulum((0.0, 0.0))
    joints[0] |= {"stiffness": [30.0], "damping": [0.5], "rest": [0.1], "implicit": implicit}
    joints[1] |= {"motor": {**SERVO, "implicit": implicit}}
    springs = [{"body_a": "Lower", "point_a": [1.4, 0, 0], "point_b": [1.2, 0.1, 1.0], "rest_length": 0.8,
                "stiffness": 40.0, "damping": 2.0, "implicit": implicit}]
    return mechanism_world(folder, bodies, joints, springs=springs, integrator=integrator)


def slider(folder, integrator, stiffness, damping=0.0, implicit=False, **options):
    """A mass of 1 kg on a spring along a line, at 1 m from its rest."""
    joint = {"name": "Slide", "kind": "prismatic", "child": "Box", "stiffness": [stiffness], "damping": [damping],
             "rest": [-1.0], "implicit": implicit}
    return mechanism_world(folder, [{"name": "Box", "mass": 1.0}], [joint], gravity=[0, 0, 0], integrator=integrator,
                           **options)


@pytest.mark.parametrize("integrator, order", [*zip(INTEGRATORS, (1, 2, 1, 2, 2))])
def test_explicit_forces_keep_the_order(tmp_path, once, integrator, order):
    """Against implicit ones with steps much shorter: they are the same forces."""
    fine = once("explicit-pendulum", lambda: run(pendulum(tmp_path / "fine", "sdirk2", implicit=True), 0.5 / 800,
                                                 800).q)
    world = pendulum(tmp_path / "world", integrator)
    off = [np.abs(run(world, 0.5 / steps, steps).q - fine).max() for steps in (50, 100)]
    assert np.log2(off[0] / off[1]) == pytest.approx(order, abs=0.25)
    assert off[1] < (3e-3 if order == 1 else 2e-4)


def test_a_step_is_that_of_dense_equations(tmp_path):
    """M_r u = M_r u⁰ + h f with all forces at the start, springs done by hand."""
    world, h = pendulum(tmp_path, "semi_implicit"), 0.02
    state = world.step(world.step(world.initial_state(), h), h)
    after, tree, (a, b) = world.step(state, h), world.tree, state.q
    dense = Dense(tree, state.q, state.u, h)
    wrench = np.zeros((2, 6))
    end = np.array([0.4, 0, 0])  # of the spring, in the lower rod
    E, twist = dense.at.E[1], dense.at.twist[1]
    apart = np.array([1.2, 0.1, 1.0]) - E[:3, :3] @ end - E[:3, 3]
    length, velocity = np.linalg.norm(apart), E[:3, :3] @ (twist[3:] + np.cross(twist[:3], end))
    pull = 40.0 * (length - 0.8) + 2.0 * (-velocity @ apart / length)
    force = E[:3, :3].T @ (pull * apart / length)
    wrench[1] = np.concatenate([np.cross(end, force), force])
    reduced = np.array([-30.0 * (a - 0.1) - 0.5 * state.u[0], 20.0 * (0.5 - b) - 1.0 * state.u[1]])
    u = dense.inverse @ (dense.b + h * (dense.J.T @ wrench.ravel() + reduced))
    assert after.u == pytest.approx(u, rel=1e-12, abs=1e-12)
    assert np.abs(bias(tree, dense.at)).max() > 0.0  # nothing of it vanishes


def test_an_explicit_spring_leaves_the_matrix_alone(tmp_path):
    """Neither stiffness nor damping, of springs between far bodies neither: no border, no iterations."""
    bodies, joints = random_free_tree()
    springs = [{"body_a": "Left", "body_b": "Right", "point_a": [0.3, 0.1, 0], "point_b": [-0.4, 0, 0.2],
                "stiffness": 300.0, "damping": 20.0, "rest_length": 0.2, "implicit": False}]
    stiff = [{**joint, "damping": [3.0] * len(joint["rate"]), "implicit": False} for joint in joints]
    free = mechanism_world(tmp_path / "free", bodies, joints)
    sprung = mechanism_world(tmp_path / "sprung", bodies, stiff, springs=springs)
    posed = []
    for world in (free, sprung):
        state = world.initial_state()
        one = world.pose(state, Stage(0.01, 1.0, 1.0, 0.01, None, state.u))
        posed.append((one.respond(np.eye(len(state.u))), one.rhs))
    assert np.array_equal(posed[0][0], posed[1][0])
    assert np.abs(posed[0][1] - posed[1][1]).max() > 0.1
    assert not len(sprung.condensation.springs.pairs)


def recursion(integrator, h, stiffness, damping, steps):
    """Positions of the slider over the steps, by the methods' formulas for one number."""
    def f(q, u):
        return -stiffness * (q + 1.0) - damping * u

    def sdirk(q, u):
        alpha = 1.0 - 0.5**0.5
        u1 = u + alpha * h * f(q, u)
        q1 = q + alpha * h * u1
        # the pair of Ascher, Ruuth and Spiteri: δ f⁰ + (1 − δ) f¹ in all
        delta = 1.0 - 0.5 / alpha
        u2 = u + h * (delta * f(q, u) + (1.0 - delta) * f(q1, u1))
        return q + h * ((1.0 - alpha) * u1 + alpha * u2), u2

    q, u, was = [0.0], 0.0, None
    for _ in range(steps):
        last = q[-1]
        if integrator in ("sdirk2", "leapfrog") or (integrator == "bdf2" and was is None):
            place, rate = sdirk(last, u)
        elif integrator == "bdf2":
            base = last + (last - was[0]) / 3.0
            rate = u + (u - was[1]) / 3.0 + 2.0 / 3.0 * h * f(base + 2.0 / 3.0 * h * u, 2.0 * u - was[1])
            place = base + 2.0 / 3.0 * h * rate
        else:
            rate = u + h * f(last, u)
            place = last + h * rate
        was, u = (last, u), rate
        q.append(place)
    return np.array(q)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("stiffness, damping", [(400.0, 0.0), (900.0, 8.0)])
def test_steps_are_the_methods_formulas(tmp_path, integrator, stiffness, damping):
    world, h, state, found = slider(tmp_path, integrator, stiffness, damping), 0.01, None, []
    for _ in range(30):
        state = run(world, h, 1, state)
        found.append(state.q[0])
    assert found == pytest.approx(recursion(integrator, h, stiffness, damping, 30)[1:], rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("integrator, limit", [*zip(INTEGRATORS, (2.0, 2.26, 2.0, 1.92, 2.26))])
def test_how_stiff_an_explicit_spring_may_be(tmp_path, integrator, limit):
    """Bounded below ω h = limit and growing above; implicit ones are bounded however stiff."""
    h = 0.01
    below = run(slider(tmp_path / "below", integrator, (0.97 * limit / h) ** 2), h, 150)
    # what a symplectic step makes of an amplitude of 1 so near to its limit; two-step methods and SDIRK2 damp it
    assert abs(below.q[0] + 1.0) <= 1.0 / np.sqrt(1.0 - 0.97**2)
    with pytest.raises(StepFailed, match="its joint moves at|did not converge"):
        run(slider(tmp_path / "above", integrator, (1.2 * limit / h) ** 2), h, 150)
    stiff = run(slider(tmp_path / "stiff", integrator, (100.0 / h) ** 2, implicit=True), h, 150)
    assert abs(stiff.q[0] + 1.0) < 1.1


def test_an_explicit_swing_keeps_its_energy(tmp_path):
    """Semi-implicit Euler is symplectic then; with the same spring implicit nearly all is gone."""
    left = {}
    for implicit in (False, True):
        world = slider(tmp_path / str(implicit), "semi_implicit", 900.0, implicit=implicit)
        initial_energy = world.energy(world.initial_state())
        left[implicit] = world.energy(run(world, 1 / 100, 400)) / initial_energy
    assert left[False] == pytest.approx(1.0, abs=0.2) and left[True] < 1e-3


def test_what_is_too_stiff_is_reported_before_it_blows_up(tmp_path):
    """With the step that is short enough, which is."""
    world = slider(tmp_path / "long", "semi_implicit", 1e5, step=1 / 96)
    assert world.notes == ['explicit forces on "Robot/Box" are too stiff for steps of 10.4 ms, with which they blow '
                           "up: use 5.2 ms, or make them implicit"]
    assert "implicit" in world.explain(StepFailed("it grew", "Robot/Box"), world.initial_state(), 3).remedy
    world = slider(tmp_path / "short", "semi_implicit", 1e5, step=1 / 192)
    assert world.notes == [] and np.abs(run(world, 1 / 192, 400).q).max() < 10.0
    assert slider(tmp_path / "stiff", "semi_implicit", 1e5, implicit=True, step=1 / 96).notes == []


def test_efforts_and_energy_are_the_same_forces(tmp_path):
    worlds = [pendulum(tmp_path / str(implicit), "sdirk2", implicit) for implicit in (True, False)]
    state = run(worlds[0], 1 / 200, 20)
    values = [(world.energy(state), world.acceleration(state), world.poses(state)["effort"]) for world in worlds]
    for explicit, other in zip(*values):
        assert other == pytest.approx(explicit, rel=1e-12)
    assert abs(values[0][2][1]) > 1.0


def test_a_drive_cannot_be_explicit(tmp_path):
    body = {"name": "Rod", "position": [0.5, 0, 0], "mass": 2.0}
    pin = {"name": "Pin", "child": "Rod", "rotation": HINGE_ALONG_Y,
           "motor": {"mode": {"kind": "drive"}, "target": [0.0], "implicit": False}}
    with pytest.raises(BadScene, match='The drive of joint "Pin" is explicit') as raised:
        load(mechanism_job(tmp_path, [body], [pin]))
    assert "servo" in raised.value.remedy
