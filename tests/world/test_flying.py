"""Soft bodies on bones in free flight: linear and angular momentum, and bodies that Keep Spin does not change."""

import json
from dataclasses import replace

import numpy as np
import pytest
from matrix import some
from small_jobs import change
from test_joined_jobs import arm_job, world_of

from solver import catalogue
from solver.coupling.free_bones import FreeBones
from solver.forces.springs import Springs

H = 1 / 48
DOWN = np.array([0.0, 0.0, -9.81])
TIGHT = {"kind": "newton_d", "params": {"tolerance": 1e-11}}


def thrown(folder, kind="semi_implicit", method="vanilla", *, keep=None, gravity=(0.0, 0.0, 0.0), more=None, **scene):
    """Two bones on a hinge with a soft bar between them, thrown so that they tumble and bend, and their first state.
    more: a further body of the mechanism, and its joint."""
    params = {} if keep is None else {"keep_spin": keep}
    job = arm_job(folder, method=method, kind="free", integrator={"kind": kind, "params": params}, stage_solver=TIGHT,
                  gravity=list(gravity))
    change(job, "mechanisms.0.joints.0.rate", [1.0, 2.0, -1.5, 0.3, -0.2, 0.4])
    change(job, "mechanisms.0.joints.1.rate", [3.0])
    for key, value in scene.items():
        change(job, key.replace("__", "."), value)
    if more is not None:
        written = json.loads((job / "scene.json").read_text())["mechanisms"][0]
        for key, entry in zip(("bodies", "joints"), more):
            change(job, f"mechanisms.0.{key}", [*written[key], entry])
    world = world_of(job)
    soft, bones = world.split_state(world.initial_state())
    at = world.parts[1].tree.posture(bones.q, bones.u, bones.memory)
    turn, twist = at.E[0, :3, :3], at.twist[0]
    rigid = np.cross(turn @ twist[:3], world.parts[0].rest - at.E[0, :3, 3]) + turn @ twist[3:]
    soft = replace(soft, u=rigid[world.parts[0].coordinates.free].ravel())
    return world, world.merge_states([soft, bones])


def momenta(world, state):
    """Linear, and angular about the centre of mass, (3,) each; and the whole mass."""
    soft, bones = world.split_state(state)
    tree = world.parts[1].tree
    at, mass = tree.posture(bones.q, bones.u, bones.memory), world.parts[0].mass
    x = world.parts[0].coordinates.positions(soft.q, soft.time, soft.carrier_motion)
    p = mass[:, None] * world.parts[0].velocity(soft)
    linear, angular, moment, total = p.sum(axis=0), np.cross(x, p).sum(axis=0), mass @ x, mass.sum()
    for E, twist, inertia in zip(at.E, at.twist, tree.inertia):
        own = inertia @ twist
        push = E[:3, :3] @ own[3:]
        linear, angular = linear + push, angular + E[:3, :3] @ own[:3] + np.cross(E[:3, 3], push)
        moment, total = moment + inertia[5, 5] * E[:3, 3], total + inertia[5, 5]
    return linear, angular - np.cross(moment / total, linear), total


def kinetic(world, state):
    soft, bones = world.split_state(state)
    return (0.5 * world.parts[0].mass @ np.square(world.parts[0].velocity(soft)).sum(axis=1)
            + replace(world.parts[1], notes=[]).energy(bones))


def run(world, state, steps, h=H):
    for k in range(steps):
        state = world.step(replace(state, time=k * h), h)
    return state


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_keep_spin_keeps_both_momenta_of_flesh_on_bones(tmp_path, method):
    for keep in (False, True):
        world, state = thrown(tmp_path / str(keep), method=method, keep=keep)
        linear, angular, _ = momenta(world, state)
        energy = kinetic(world, state)
        after = run(world, state, 48)
        linear_then, angular_then, _ = momenta(world, after)
        if not keep:
            assert np.linalg.norm(angular_then) <= 0.7 * np.linalg.norm(angular)
            continue
        assert np.abs(linear_then - linear).max() <= 1e-11 * np.abs(linear).max()
        assert np.abs(angular_then - angular).max() <= 1e-11 * np.abs(angular).max()
        # what the two bones have against each other is braked, what they have together is not
        assert 0.95 <= kinetic(world, after) / energy <= 1.0


KEEPING = [key for key, entry in catalogue.family("integrator").items()
           if any(param.key == "keep_spin" for param in entry.params)]


@pytest.mark.parametrize("kind", KEEPING)
def test_every_integrator_that_may_keep_spin_does(tmp_path, kind):
    world, state = thrown(tmp_path, kind, keep=True)
    before, after = momenta(world, state)[:2], momenta(world, run(world, state, 24))[:2]
    for now, then in zip(before, after):
        assert np.abs(then - now).max() <= 1e-12 * np.abs(now).max()


def test_it_falls_as_a_point_does_and_mass_damping_brakes_both(tmp_path):
    damping = {"kind": "rayleigh", "params": {"mass_damping": 1.0, "stiffness_damping": 0.0}}
    for name, scene in (("free", {}), ("damped", {"bodies__0__damping": damping})):
        world, state = thrown(tmp_path / name, keep=True, gravity=DOWN, **scene)
        linear, angular, total = momenta(world, state)
        factor = 1.0 if name == "free" else 1.0 / (1.0 + H * world.parts[0].mass.sum() / total)
        linear_then, angular_then, _ = momenta(world, run(world, state, 24))
        for _ in range(24):
            linear = factor * (linear + H * total * DOWN)
        assert np.abs(linear_then - linear).max() <= 1e-10 * np.abs(linear).max()
        assert np.abs(angular_then - factor**24 * angular).max() <= 1e-10 * np.abs(angular).max()


SOFT = {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 2e3, "poisson_ratio": 0.4}}
SOLVING = some(["backward_euler", "bdf2", "sdirk2"], "bdf2", "sdirk2")


@pytest.mark.parametrize("kind", SOLVING)
@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_integrators_that_solve_their_stages_keep_both(tmp_path, kind, method):
    """To their order alone they lost up to .04 of them in these steps."""
    world, state = thrown(tmp_path / "job", kind, method, gravity=DOWN, stage_solver={"kind": "quick"},
                          bodies__0__material=SOFT)
    linear, angular, total = momenta(world, state)
    linear_then, angular_then, _ = momenta(world, run(world, state, 8, 1 / 40))
    linear = linear + 0.2 * total * DOWN
    assert np.abs(linear_then - linear).max() <= 1e-11 * np.abs(linear).max()
    assert np.abs(angular_then - angular).max() <= 1e-11 * np.abs(angular).max()


def test_what_flies_is_at_its_place_to_the_integrator_s_order(tmp_path):
    """A velocity that restores momentum is of the order of a step's error."""
    def end(steps):
        world, state = thrown(tmp_path / str(steps), "sdirk2", bodies__0__material=SOFT)
        return world.parts[0].nodes_at(world.split_state(run(world, state, steps, 0.1 / steps))[0])[0]

    exact = end(96)
    off = [np.abs(end(steps) - exact).max() for steps in (12, 24)]
    assert off[0] / off[1] >= 0.9 * 2.0**2


@pytest.mark.parametrize("kind", SOLVING)
def test_flesh_that_touches_its_own_bones_in_flight_keeps_both(tmp_path, kind):
    """Contact within a tree has no resultant and no moment: of a bar with a rib of its upper bone."""
    rib = {"name": "Rib", "position": [0.1, 0.05, -0.028], "mass": 0.1,
           "shape": {"kind": "box", "params": {"size_x": 0.08, "size_y": 0.05, "size_z": 0.05}}}
    world, state = thrown(tmp_path / "job", kind, stage_solver={"kind": "quick"}, contact={}, bodies__0__material=SOFT,
                          more=(rib, {"name": "Root", "kind": "fixed", "child": "Rib", "parent": "Upper",
                                      "position": [0.0, 0.05, -0.028]}))
    linear, angular, _ = momenta(world, state)
    touched = 0
    for k in range(12):
        state = world.step(replace(state, time=k * H), H)
        touched += len(world.contact_forces(state))
    linear_then, angular_then, _ = momenta(world, state)
    assert touched
    assert np.abs(linear_then - linear).max() <= 1e-11 * np.abs(linear).max()
    assert np.abs(angular_then - angular).max() <= 1e-11 * np.abs(angular).max()


@pytest.mark.parametrize("kind", ["bdf2", "sdirk2"])
def test_a_stop_that_is_struck_in_flight_takes_no_linear_momentum(tmp_path, kind):
    """In the step that strikes flesh brings its momentum as its bones do."""
    world, state = thrown(tmp_path / "job", kind, mechanisms__0__joints__1__low=[-0.005],
                          mechanisms__0__joints__1__high=[0.005])
    linear, angular, _ = momenta(world, state)
    after = world.step(state, H)
    assert world.parts[1].impacts.count and world.split_state(after)[1].q[-1] == pytest.approx(0.005, abs=1e-6)
    linear_then, angular_then, _ = momenta(world, after)
    assert np.abs(linear_then - linear).max() <= 1e-9 * np.abs(linear).max()
    assert np.abs(angular_then - angular).max() <= 0.05 * np.abs(angular).max()


def acted_on(support):
    """Return settings of a scene in which something acts on the bones or on the flesh."""
    return {"hinge": {"mechanisms__0__joints__0__kind": "revolute", "mechanisms__0__joints__0__rate": [1.0]},
            "damper": {"mechanisms__0__joints__0__damping": [0.1] * 6},
            "pin": {"bodies__0__pin": {"nodes": "arrays/dynamic.npy"}, "bodies__0__dynamic": {}},
            "spring": {"mechanisms__0__springs": [{"body_a": "Upper", "point_a": [0, 0, 0], "body_b": None,
                                                   "point_b": [0, 0, 1.0], "stiffness": 3.0}]},
            "drive": {"mechanisms__0__joints__0__motor": {"mode": {"kind": "drive"}, "target": [0.0] * 6}},
            "ground": {"ground": {"point": [0.0, 0.0, -0.0751], "normal": [0.0, 0.0, 1.0]},
                       "gravity": [0.0, 0.0, -9.81]}}[support]


def in_bytes(state):
    return state.q.tobytes(), state.u.tobytes()


SUPPORTS = ["hinge", "damper", "pin", "spring", "drive", "ground"]


@pytest.mark.parametrize("support", SUPPORTS)
def test_what_something_holds_is_left_as_it_is(tmp_path, support):
    """Keep Spin changes no byte."""
    ends = []
    for keep in (False, True):
        (tmp_path / str(keep)).mkdir()
        ends.append(thrown(tmp_path / str(keep), keep=keep, **acted_on(support)))
    states = [run(world, state, 6) for world, state in ends]
    assert in_bytes(states[0]) == in_bytes(states[1])


@pytest.mark.parametrize("support", SUPPORTS)
def test_momentum_that_comes_from_outside_is_not_taken_back(tmp_path, support, monkeypatch):
    """Restoring momentum after solved stages changes no byte."""
    ends = []
    for restores in (True, False):
        if not restores:
            monkeypatch.setattr(FreeBones, "restore_momenta", lambda self, before, after, h: [*after])
        (tmp_path / str(restores)).mkdir()
        ends.append(run(*thrown(tmp_path / str(restores), "sdirk2", stage_solver={"kind": "quick"},
                                **acted_on(support)), 4))
    assert in_bytes(ends[0]) == in_bytes(ends[1])


@pytest.mark.parametrize("kind", ["semi_implicit", "sdirk2"])
def test_what_is_grabbed_in_flight_goes_along(tmp_path, kind):
    """A spring that joins a bone to a point of the world from some step on, as a hand in live mode does."""
    world, state = thrown(tmp_path / "job", kind, keep=True if kind == "semi_implicit" else None)
    state = run(world, state, 2)
    before, bones = momenta(world, state)[0], world.parts[1]
    bones.exchange_springs(Springs(np.array([[-1, 0]]), np.array([[[0, 0, 3.0], [0, 0, 0]]]),
                                   np.array([[50.0, 0.0, 0.0]]), bones.tree.parent))
    after = momenta(world, run(world, state, 6))[0]
    assert after[2] - before[2] >= 0.5 * 6 * H * 50.0 * 2.0


def test_what_bones_carry_flies_on_with_them_where_steps_change_their_length(tmp_path):
    """Without Keep Spin: linear momentum, with bones and the nodes on them where the last step was solved."""
    world, state = thrown(tmp_path)
    totals = []
    for h in (0.02, 0.02, 0.005, 0.03, 0.01, 0.002):
        state = world.step(state, h)
        soft, bones = world.split_state(state)
        at = world.parts[1].tree.posture(bones.q - h * bones.u, bones.u, bones.memory)
        attached, v = world.parts[0].coordinates.attached, world.parts[0].velocity(soft)
        v[attached.nodes] = attached.velocities(at.E, at.twist)
        momentum = np.einsum("nab,nb->na", world.parts[1].tree.inertia, at.twist)[:, 3:]
        totals.append(np.einsum("nab,nb->a", at.E[:, :3, :3], momentum) + world.parts[0].mass @ v)
    assert np.abs(np.array(totals) - totals[0]).max() <= 1e-11 * np.abs(totals[0]).max()
