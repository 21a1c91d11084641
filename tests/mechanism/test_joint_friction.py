"""Scenes with friction inside joints, through their integrators and beside all that holds from outside."""

import numpy as np
import pytest
from jointed import solved_stages
from matrix import crossed, some
from mechanisms import mechanism_job, mechanism_world
from test_constraints import four_bar, hinge, rod

from solver.bearings.bearings import BearingContacts
from solver.bearings.bisp import Bisp
from solver.build.mechanisms import build_mechanisms
from solver.errors import BadScene
from solver.frames.write import FrameStore
from solver.job.load import load
from solver.simulate import Timeline, simulate
from solver.world.joints_with_friction import FRICTION, JointsWithFriction, StageRows

BEARING = {"mu": 0.3, "radius": 0.04, "length": 0.1}
BISP = {"kind": "bisp", "params": {"passes": 50, "agreement": 1e-8}}


def world_of(folder, bodies, joints, law=BISP, **options):
    return mechanism_world(folder, bodies, joints, joint_friction=law, **options)


def pendulum(**friction):
    """Two rods that hang out to the side."""
    bodies = [rod("Upper", (0, 0), (0.5, 0)), rod("Lower", (0.5, 0), (1.0, 0))]
    joints = [hinge("Top", "Upper", None, (0, 0), friction=BEARING | friction),
              hinge("Middle", "Lower", "Upper", (0.5, 0), friction=BEARING | friction)]
    return bodies, joints


def ran(world, steps, h):
    state = world.initial_state()
    for _ in range(steps):
        state = world.step(state, h)
    return state


def test_a_rough_pendulum_comes_to_rest_and_stays(tmp_path):
    world = world_of(tmp_path, *pendulum(radius=0.1, mu=0.5))
    state = ran(world, 500, 0.01)
    assert np.abs(state.u).max() < 1e-6
    assert abs(state.q[0] - 0.5 * np.pi) > 0.02  # it does not hang straight down: the pin holds it
    still = state.q.copy()
    for _ in range(50):
        state = world.step(state, 0.01)
    assert np.abs(state.q - still).max() < 1e-7
    assert state.memory[FRICTION].shape == (2,)
    law = world.constraints
    assert isinstance(law,
                      JointsWithFriction) and law.unsettled == 0 and law.stages == 550 and law.sweeps < 6 * law.stages


def test_every_integrator_brakes_alike(tmp_path):
    exact = ran(world_of(tmp_path / "fine", *pendulum()), 600, 0.0005)
    plain = ran(world_of(tmp_path / "smooth", *pendulum(), {"kind": "none"}), 600, 0.0005)
    away = np.abs(plain.q - exact.q).max()
    for integrator, most in (("backward_euler", 0.4), ("bdf2", 0.05), ("sdirk2", 0.05)):
        state = ran(world_of(tmp_path / integrator, *pendulum(), integrator=integrator), 100, 0.003)
        assert np.abs(state.q - exact.q).max() < most * away


def test_staggered_projections_agree_with_springs_and_motors_around(tmp_path):
    bodies, joints = pendulum()
    joints[0] |= {"stiffness": [20.0], "damping": [0.5]}
    joints[1] |= {"motor": {"mode": {"kind": "servo", "params": {"stiffness": 5.0, "damping": 0.2}}, "target": [0.4]}}
    springs = [{"point_a": [0.25, 0, 0], "point_b": [0.75, 0, 0.3], "body_a": "Upper", "body_b": "Lower",
                "stiffness": 40.0, "damping": 1.0}]
    bisp = world_of(tmp_path / "bisp", bodies, joints, springs=springs)
    law = {"kind": "staggered", "params": {"passes": 300, "agreement": 1e-8}}
    staggered = world_of(tmp_path / "sp", bodies, joints, law, springs=springs)
    smooth = world_of(tmp_path / "none", bodies, joints, {"kind": "none"}, springs=springs)
    state = ran(bisp, 20, 0.005)
    one, other, plain = (world.step(state, 0.005).u for world in (bisp, staggered, smooth))
    assert np.abs(plain - one).max() > 1e-4
    assert np.abs(other - one).max() < 1e-4 * np.abs(plain - one).max()


@pytest.mark.parametrize("driven", [False, True])
def test_what_joints_carry_does_no_work_with_loops_and_drives(tmp_path, driven):
    bodies, joints, loops = four_bar()
    if driven:
        joints[0] |= {"motor": {"mode": {"kind": "drive"}, "target": [0.0]}}
    joints[1] |= {"stiffness": [3.0], "damping": [0.1]}
    world = world_of(tmp_path, bodies, [joint | {"friction": BEARING} for joint in joints],
                     loops=[loop | {"friction": BEARING} for loop in loops])
    stages = solved_stages(world)
    state = ran(world, 10, 0.005)
    last_stage = stages[-1]
    rows = StageRows(last_stage, last_stage.owner.factor.solve(last_stage.rhs), world.constraints.bearings,
                     world.constraints.rows(last_stage))
    at = BearingContacts(world.constraints.bearings, rows.parent, rows.dof, rows.E, rows.X, rows.S)
    along = 0.005 * state.memory[FRICTION]
    solved = rows.solve(at.rows.G.T @ along)
    transmitted = Bisp.compute_reactions(rows, solved, at, along)
    assert along.shape == (5,) and np.abs(along[:4]).min() > 0.0
    assert np.abs(np.einsum("ma,ma->m", rows.S, transmitted)).max() < 1e-10 * np.abs(transmitted).max()
    # the loop pulls on its two bodies as the joints feel it
    assert np.abs(solved.in_loops).max() > 1e-3


@pytest.mark.parametrize("integrator", ["semi_implicit", "leapfrog", "bdf2"])
def test_a_bearing_carries_what_a_stop_holds_as_it_carries_a_spring(tmp_path, integrator):
    """A weight that spins on a sleeve and hangs beside it: whether a stop or a spring keeps it from sliding down, the
    sleeve carries the same and brakes alike. A motor against a stop turns nothing, and brakes nothing besides."""
    weight = 2.0 * 9.81
    bodies = [{"name": "Weight", "mass": 2.0, "position": [0.2, 0, 0], "is_collider": False,
               "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.1, "size_z": 0.1}}}]
    ends = []
    for name, limit in (("stop", {"low": [-1e3, 0.0], "high": [1e3, 1.0]}),
                        ("spring", {"stiffness": [0.0, 1e5], "rest": [0.0, weight / 1e5]})):
        joints = [{"name": "Sleeve", "kind": "cylindrical", "child": "Weight", "rate": [3.0, 0.0],
                   "friction": BEARING | {"mu": 0.1}, **limit}]
        world = world_of(tmp_path / name, bodies, joints, integrator=integrator)
        state, rates = world.initial_state(), []
        for _ in range(60):
            state = world.step(state, 0.005)
            rates.append(state.u[0])
        assert abs(state.q[1]) < 1e-6
        ends.append(rates)
    assert 0.5 < ends[0][-1] < 2.5
    assert ends[0] == pytest.approx(ends[1], rel=1e-3)


def test_friction_in_the_loop_brakes_too(tmp_path):
    bodies, joints, loops = four_bar()
    energies = []
    for k, friction in enumerate(({}, {"friction": BEARING})):
        world = world_of(tmp_path / str(k), bodies, joints, BISP, loops=[loop | friction for loop in loops],
                         integrator="sdirk2")
        state = ran(world, 80, 0.005)
        energies.append(world.energy(state) - world.energy(world.initial_state()))
        assert world.poses(state)["loops"].max() < 1e-9
    assert abs(energies[0]) < 0.01 and energies[1] < -0.02


def test_more_friction_needs_more_torque(tmp_path):
    """A crank driven at constant speed: the torque that the drive takes, averaged over a turn, rises with μ."""
    torques = []
    for k, mu in enumerate((0.0, 0.2, 0.4)):
        bodies, joints, loops = four_bar()
        bearing = BEARING | {"mu": mu}
        turn = np.linspace(0.0, 2.0 * np.pi, 25)[:, None]
        joints[0] |= {"motor": {"mode": {"kind": "drive"}, "target": "arrays/turn.npy"}}
        world = world_of(tmp_path / str(k), bodies, [joint | {"friction": bearing} for joint in joints],
                         loops=[loop | {"friction": bearing} for loop in loops], arrays={"turn": turn},
                         end=25, samples=1)
        state, effort = world.initial_state(), []
        for _ in range(100):
            state = world.step(state, 0.01)
            effort.append(world.poses(state)["effort"][0])
        torques.append(effort)
    means = [np.mean(torque[5:]) for torque in torques]
    assert means[0] < means[1] < means[2]
    assert min(torques[0]) < 0.0  # the linkage pushes the motor where nothing rubs


def test_the_same_bytes_twice_and_after_a_snapshot(tmp_path):
    world, other = (world_of(tmp_path / name, *pendulum()) for name in ("one", "two"))
    state = ran(world, 20, 0.01)
    again = ran(other, 10, 0.01)
    other.forget_past()
    resumed = world_of(tmp_path / "three", *pendulum())
    for _ in range(10):
        again = resumed.step(again, 0.01)
    assert state.q.tobytes() == again.q.tobytes() and state.u.tobytes() == again.u.tobytes()


def test_a_joint_without_a_bearing_is_refused(tmp_path):
    bodies, joints = pendulum()
    joints[1] |= {"kind": "fixed"}
    with pytest.raises(BadScene, match=r'Joint "Middle" has friction, but the kind "Fixed" has no bearing.*s\[1\]'):
        world_of(tmp_path, bodies, joints)


@pytest.mark.parametrize("what", ["ring", "ground"])
def test_staggered_projections_agree_in_a_ring_and_on_the_ground(tmp_path, what):
    """A four-bar linkage that swings, two rods of which one has come down on rough ground and slides."""
    if what == "ring":
        bodies, joints, loops = four_bar()
        joints, ground, steps = [{**joint, "friction": BEARING} for joint in joints], None, 40
    else:
        (bodies, joints), loops, steps = pendulum(), [], 51
        bodies = [{**body, "is_collider": True} for body in bodies]
        ground = {"point": [0, 0, -0.35], "normal": [0, 0, 1],
                  "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.4}}}
    laws = {"bisp": BISP, "none": {"kind": "none"},
            "staggered": {"kind": "staggered", "params": {"passes": 1000, "agreement": 1e-8}}}
    worlds = {name: world_of(tmp_path / name, bodies, joints, law, loops=loops, ground=ground)
              for name, law in laws.items()}
    state = ran(worlds["bisp"], steps, 0.005)
    stages = solved_stages(worlds["bisp"])
    u = {name: world.step(state, 0.005).u for name, world in worlds.items()}
    rows = worlds["bisp"].condensation.constraints.rows(stages[-1])
    assert len(rows.loops) == (2 if what == "ring" else 0) and (len(rows.contacts) > 0) == (what == "ground")
    changed = np.abs(u["none"] - u["bisp"]).max()
    assert changed > 1e-4 and np.abs(u["staggered"] - u["bisp"]).max() < 1e-3 * changed


@pytest.mark.parametrize("beyond", ["loop", "limits", "drive"])
def test_staggered_projections_are_refused_where_they_know_nothing(tmp_path, beyond):
    bodies, joints, loops = four_bar()
    joints[0] |= {"friction": BEARING}
    if beyond == "loop":
        loops[0]["friction"] = BEARING
    elif beyond == "limits":
        joints[1] |= {"low": [-1.0], "high": [1.0]}
    else:
        joints[1] |= {"motor": {"mode": {"kind": "drive"}, "target": [0.0]}}
    with pytest.raises(BadScene, match="Choose BISP"):
        world_of(tmp_path, bodies, joints, {"kind": "staggered"}, loops=loops)


def test_no_friction_is_asked_for(tmp_path):
    bodies, joints = pendulum()
    plain = world_of(tmp_path / "a", bodies, joints, {"kind": "none"})
    smooth = world_of(tmp_path / "b", bodies, [{k: v for k, v in joint.items() if k != "friction"} for joint in joints])
    assert not isinstance(plain.constraints, JointsWithFriction) and not isinstance(smooth.constraints,
                                                                                    JointsWithFriction)


def test_friction_that_does_not_settle_is_reported_once_with_its_steps(tmp_path):
    law = {"kind": "bisp", "params": {"passes": 2, "agreement": 1e-12}}
    world = world_of(tmp_path / "a", *pendulum(), law)
    ran(world, 30, 0.01)
    rubs = world.constraints
    assert isinstance(rubs, JointsWithFriction) and 0 < rubs.unsettled <= 30
    assert f"Friction inside joints did not converge in {rubs.unsettled} of 30 steps: raise Passes of the joint " \
        "friction or lower the step" in world.summary
    calm = world_of(tmp_path / "b", *pendulum())
    ran(calm, 30, 0.01)
    assert not any("did not converge" in sentence for sentence in calm.summary)
    logged: list[str] = []
    job = load(mechanism_job(tmp_path / "c", *pendulum(), joint_friction=law))
    job.cache.mkdir()
    simulate(build_mechanisms(job), Timeline.of(job.scene.time), FrameStore(job.cache), log=logged.append)
    assert len([line for line in logged if "did not converge in" in line]) == 1


@pytest.mark.parametrize("kind", ["revolute", "spherical", "cylindrical"])
@pytest.mark.parametrize("ground", [{}, {"ground": {"point": [0, 0, -0.5], "normal": [0, 0, 1]}}])
def test_no_bearing_brakes_by_more_than_its_load_allows_at_the_defaults(tmp_path, kind, ground):
    """|β| ≤ μ |α| of each line's tangents along a run, α the loads that bound it in the last pass."""
    length, friction = 0.3, {"mu": 0.5, "radius": 0.03, "length": 0.05}
    bodies = [{**rod(f"L{i}", (length * i, 0), (length * (i + 1), 0)), "is_collider": True} for i in range(4)]
    joints = [{"name": f"J{i}", "child": f"L{i}", "parent": f"L{i - 1}" if i else None, "kind": kind,
               "position": [length * i, 0, 0], "rotation": [0.5**0.5, -0.4, 0.3, 0.2], "friction": friction}
              for i in range(4)]
    world = world_of(tmp_path, bodies, joints, {"kind": "bisp"}, **ground)
    law, seen = world.constraints, []
    rub = law.law.solve

    def spied(rows, bearings, warm):
        answer = rub(rows, bearings, warm)
        at = BearingContacts(bearings, rows.parent, rows.dof, rows.E, rows.X, rows.S)
        seen.append((np.abs(answer.friction.value), at.bounds(answer.loads)))
        return answer

    law.law.solve = spied
    ran(world, 60, 1 / 240)
    for impulse, bound in seen:
        assert (impulse - bound).max() <= 1e-8 * bound.max()
    assert len(seen) == 60 and np.mean([(impulse > 0.99 * bound).any() for impulse, bound in seen]) > 0.5


@pytest.mark.parametrize("integrator", some(["semi_implicit", "leapfrog", "bdf2"], "semi_implicit", "leapfrog"))
def test_without_friction_it_is_the_plain_step_beside_loops_limits_and_contacts(tmp_path, integrator):
    """μ = 0: BISP's own way through all that holds from outside leads where the plain one does."""
    bodies, joints, loops = four_bar()
    flap = [rod("Flap", (2.0, 0), (2.4, 0)), {**rod("Stone", (3.0, 0), (3.4, 0.1)), "is_collider": True}]
    joints += [hinge("Stop", "Flap", None, (2.0, 0), low=[-1.0], high=[0.2])]
    ends = []
    for name, law in (("plain", {"kind": "none"}), ("bisp", BISP)):
        world = world_of(tmp_path / name, bodies + flap, [joint | {"friction": BEARING | {"mu": 0.0}}
                                                          for joint in joints], law, loops=loops,
                         ground={"point": [0, 0, -0.3], "normal": [0, 0, 1], "friction": {
                             "kind": "coulomb", "params": {"friction_coefficient": 0.5}}}, integrator=integrator)
        assert isinstance(world.constraints, JointsWithFriction) == (name == "bisp")
        ends.append(ran(world, 80, 0.005))
    assert ends[0].q[int(world.tree.dof[list(world.tree.bodies).index("Robot/Flap")])] == pytest.approx(0.2, abs=1e-6)
    np.testing.assert_allclose(ends[1].q, ends[0].q, atol=1e-8)
    np.testing.assert_allclose(ends[1].u, ends[0].u, atol=1e-6)


@pytest.mark.parametrize("integrator, mu", crossed(["leapfrog", "backward_euler", "bdf2", "sdirk2"], [0.3, 0.6]))
def test_balls_that_rub_settle_at_a_tight_tolerance(tmp_path, integrator, mu):
    """A ball has three slip directions and three unknowns: passes suffice, and no stage continues because of their
    errors."""
    friction = {"mu": mu, "radius": 0.03, "length": 0.05}
    bodies = [rod(f"L{i}", (0.3 * i, 0), (0.3 * (i + 1), 0)) for i in range(4)]
    joints = [{"name": f"J{i}", "child": f"L{i}", "parent": f"L{i - 1}" if i else None, "kind": "spherical",
               "position": [0.3 * i, 0, 0], "rotation": [0.5**0.5, -0.4, 0.3, 0.2], "friction": friction}
              for i in range(4)]
    world = world_of(tmp_path, bodies, joints, integrator=integrator, tolerance=1e-11)
    state, before = world.initial_state(), world.energy(world.initial_state())
    for _ in range(60):
        state = world.step(state, 1 / 240)
        assert world.energy(state) <= before + 1e-6
        before = world.energy(state)
    law = world.constraints
    assert state.memory[FRICTION].shape == (12,) and np.abs(state.u).max() > 1.0
    assert law.unsettled == 0 and law.sweeps <= 8 * law.stages and law.stages <= 10 * 60
