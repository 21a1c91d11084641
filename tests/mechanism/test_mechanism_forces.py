"""Springs, joint forces, limits and motors: forces against energies, blocks against forces, and what they do."""

from dataclasses import replace

import numpy as np
import pytest
from matrix import some
from mechanisms import HINGE_ALONG_Y, double_pendulum, mechanism_job, mechanism_world, random_free_tree, run
from small_jobs import change

from solver.build.mechanisms import build_mechanisms
from solver.coordinates.joints.rotations import jacobian, quaternion
from solver.coordinates.tree import CENTRES
from solver.forces.springs import Springs
from solver.job.load import load
from solver.parts.stage import Stage


def moving(world, seed=0):
    """A state of the world that is away from everything."""
    rng = np.random.default_rng(seed)
    state = world.initial_state()
    centres = rng.normal(size=len(world.tree.fresh)).reshape(-1, 4)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    return type(state)(0.0, rng.uniform(-0.7, 0.7, len(state.q)), rng.normal(size=len(state.u)),
                       {CENTRES: centres.ravel()})


def springy(tmp_path, **options):
    """A free tree with springs to the world, to a neighbour either way around, and to a body that is neither."""
    ends = [("Trunk", None), ("Left", "Trunk"), ("Trunk", "Right"), ("Left", "Right"), ("Tip", "Right")]
    points = np.random.default_rng(6).uniform(-1, 1, (5, 2, 3)).tolist()
    springs = [{"body_a": a, "body_b": b, "point_a": points[k][0], "point_b": points[k][1],
                "stiffness": 20.0 + 7 * k, "damping": 0.5 + k} for k, (a, b) in enumerate(ends)]
    return mechanism_world(tmp_path, *random_free_tree(), springs=springs, **options)


def generalized(world, state, weight=0.0):
    """Forces of springs and joints on the rates, (m,)."""
    jointed, at = world.condensation, world.tree.posture(state.q, state.u, state.memory)
    wrench, pull = np.zeros((world.tree.count, 6)), np.zeros(world.tree.rates)
    scratch = [np.zeros((world.tree.count, 6, 6)) for _ in range(3)]
    jointed.springs.add(at.E, at.twist, None, 1.0, 0.0, weight, wrench, *scratch[:2])
    centres = state.memory.get(CENTRES, world.tree.fresh)
    jointed.on_rates.joints.add(at, state.q, state.u, centres, None, 1.0, 0.0, weight, pull, scratch[2])
    return world.tree.gather(at, wrench) + pull


def slope(function, q, step=1e-6):
    """Central differences of a number, (m,)."""
    return np.array([(function(q + step * e) - function(q - step * e)) / (2 * step) for e in np.eye(len(q))])


def stiff_joints():
    bodies, joints = random_free_tree()
    laws = [{}, {"stiffness": [3.0, 7.0, 1.0], "rest": [0.3, -0.5, 0.2]},
            {"stiffness": [4.0, 2.0], "rest": [0.2, -0.1]},
            {"stiffness": [9.0], "damping": [2.0]}]
    return bodies, [{**joint, **law} for joint, law in zip(joints, laws)]


def test_forces_are_what_the_energy_loses(tmp_path):
    for world in (springy(tmp_path), mechanism_world(tmp_path, *stiff_joints())):
        state, jointed = moving(world), world.condensation

        def energy(q, world=world, state=state, jointed=jointed):
            at = world.tree.posture(q, state.u, state.memory)
            return jointed.springs.energy(at.E) + jointed.on_rates.joints.energy(q, state.memory[CENTRES])

        assert generalized(world, state) == pytest.approx(-slope(energy, state.q), abs=1e-6)


def test_stiffness_of_a_ball_whose_axes_differ_is_the_slope_of_its_pull(tmp_path):
    """∂f/∂q is symmetric, as an energy has it; and the stage's K is −K of the axes in coordinates from its rest, which
    is where charts have their centre here."""
    world = mechanism_world(tmp_path, *stiff_joints())
    state = moving(world)
    ends = [[generalized(world, replace(state, q=state.q + way * e)) for way in (1.0, -1.0)]
            for e in 1e-6 * np.eye(len(state.q))]
    change = np.stack([(ahead - behind) / 2e-6 for ahead, behind in ends], axis=1)
    assert np.abs(change - change.T).max() <= 1e-6 * np.abs(change).max()
    assert change == pytest.approx(change.T, abs=1e-7)

    first = int(world.tree.dof[list(world.tree.joints).index("Robot/Ball")])
    batch = next(batch for batch in world.tree.batches if first in batch.entries[:, 0])
    there = batch.centres[batch.entries[:, 0] == first][0]
    centres = state.memory[CENTRES].copy()
    centres[there] = quaternion(np.array([[0.3, -0.5, 0.2]]))[0]
    state = replace(state, memory={CENTRES: centres})
    stiffness = (posed_matrix(world, state, 1.0) - posed_matrix(world, state, 0.0))[first:first + 3, first:first + 3]
    # what is no more than the least pulls alike every way, and is kept so
    J = jacobian(state.q[None, first:first + 3])[0]
    assert stiffness == pytest.approx(np.diag([2.0, 6.0, 0.0]) + J.T @ J, abs=1e-9)


@pytest.mark.parametrize("integrator", some(["bdf2", "sdirk2"], "bdf2"))
def test_a_ball_whose_axes_differ_keeps_its_energy(tmp_path, integrator):
    """Not damped, away from its rest: it swings for a second, and energy errs by the square of the step."""
    sizes = {"size_x": 0.3, "size_y": 0.2, "size_z": 0.1}
    box = {"name": "Head", "mass": 2.0, "shape": {"kind": "box", "params": sizes}}
    neck = {"name": "Neck", "kind": "spherical", "child": "Head", "stiffness": [8.0, 2.0, 0.5],
            "rest": [0.9, -0.8, 1.1], "rate": [3.0, -2.0, 1.0]}
    off = []
    for k, steps in enumerate((200, 400)):
        world = mechanism_world(tmp_path / str(k), [box], [neck], gravity=[0, 0, 0], integrator=integrator)
        state = world.initial_state()
        before, found = world.energy(state), []
        for _ in range(steps):
            state = world.step(state, 1.0 / steps)
            found.append(world.energy(state) / before - 1.0)
        off.append(np.abs(found).max())
    assert off[0] <= {"bdf2": 0.09, "sdirk2": 0.01}[integrator] and off[0] / off[1] >= 3.0


def test_damping_takes_energy_only(tmp_path):
    """Its power is −uᵀ J_rᵀ D J_r u, and its force is linear in the rates with the matrix that the stage has."""
    world = springy(tmp_path)
    state = moving(world)
    damped = generalized(world, state, 1.0) - generalized(world, state)
    assert state.u @ damped < -1e-3
    twice = type(state)(0.0, state.q, 2 * state.u, state.memory)
    assert generalized(world, twice, 1.0) - generalized(world, twice) == pytest.approx(2 * damped)
    world.pose(state, Stage(1.0, 1.0, 1.0, 0.0, None, np.zeros_like(state.u), beta=0.0))
    jointed, at = world.condensation, world.tree.posture(state.q, state.u, state.memory)
    mass = np.einsum("nab,nb->na", world.tree.inertia, at.twist)
    assert world.tree.gather(at, jointed.multiply(at.twist) - mass) == pytest.approx(-damped)


@pytest.mark.parametrize("make", [springy, lambda tmp_path: mechanism_world(tmp_path, *stiff_joints())])
def test_what_a_stage_from_elsewhere_adds_is_its_own_stiffness(tmp_path, make):
    """w and r of base ≠ q differ from those of base = q by a h K (base − q), with K as in the matrix."""
    world = make(tmp_path)
    state, jointed = moving(world), world.condensation
    away = np.random.default_rng(2).normal(size=len(state.q))
    rights = []
    for base in (state.q, state.q + away):
        posed = world.pose(state, Stage(1.0, 1.0, 1.0, 0.0, base, state.u))
        rights.append(posed.rhs.copy())
    with_stiffness = posed_matrix(world, state, 1.0)
    without = posed_matrix(world, state, 0.0)
    assert rights[1] - rights[0] == pytest.approx(-(with_stiffness - without) @ away)
    assert np.linalg.eigvalsh(with_stiffness - without).min() > -1e-9  # K is negative semi-definite
    assert jointed.factor.factored > 0


def posed_matrix(world, state, beta):
    """A, dense, by answers to unit impulses."""
    posed = world.pose(state, Stage(1.0, 1.0, 1.0, 0.0, None, state.u, beta=beta))
    return np.linalg.inv(posed.respond(np.eye(len(state.u))))


def test_stiffness_of_a_spring_in_a_point_of_the_mass_is_exact():
    """Exact for a stretched spring; for a pressed one the part that turns it over is left out."""
    E = np.tile(np.eye(4), (2, 1, 1))
    E[1, :3, 3] = [0.5, 0.2, -0.1]
    for rest in (0.3, 0.9):
        springs = Springs(np.array([[0, 1]]), np.zeros((1, 2, 3)), np.array([[10.0, 0.0, rest]]), np.array([-1, -1]))

        def force(place, springs=springs):
            moved = E.copy()
            moved[1, :3, 3] = place
            wrench, blocks = np.zeros((2, 6)), np.zeros((2, 6, 6))
            springs.add(moved, np.zeros((2, 6)), None, 1.0, 1.0, 0.0, wrench, blocks, np.zeros((2, 6, 6)))
            return wrench[1, 3:], blocks[1, 3:, 3:]

        there = E[1, :3, 3]
        K = np.array([(force(there + 1e-6 * e)[0] - force(there - 1e-6 * e)[0]) / 2e-6 for e in np.eye(3)])
        values, vectors = np.linalg.eigh(K)
        negative_part = vectors @ np.diag(np.minimum(values, 0)) @ vectors.T
        assert -force(there)[1] == pytest.approx(negative_part, abs=1e-6)
        assert springs.pairs.tolist() == [[0, 1]]
        assert springs.between[0, 3:, 3:] == pytest.approx(-force(there)[1])


def test_a_reaction_pushes_no_rate(tmp_path):
    """Jᵀ reaction = r − R u: what joints carry does no work but on their own springs."""
    world = springy(tmp_path)
    state = moving(world)
    posed = world.pose(state, Stage(0.01, 1.0, 1.0, 0.0, None, state.u)).solve()
    u = posed.rates
    at = world.tree.posture(state.q, state.u, state.memory)
    assert np.abs(posed.reaction(u)).max() > 1e-3
    assert np.abs(world.tree.gather(at, posed.reaction(u))).max() < 1e-11


def test_a_hanging_body_weighs_on_its_joint(tmp_path):
    bodies, joints = double_pendulum((0.0, 0.0))
    joints = [{**joint, "kind": "fixed", "rate": []} for joint in joints]
    bodies[0]["position"], joints[1]["position"] = [0, 0, -1.0], [0, 0, -1.5]
    world = mechanism_world(tmp_path, bodies, joints)
    state = world.initial_state()
    solved = world.pose(state, Stage(0.01, 1.0, 1.0, 0.0, None, state.u)).solve()
    at = world.tree.posture(state.q, state.u, state.memory)
    carried = np.einsum("nab,nb->a", at.E[:, :3, :3], solved.reaction(solved.rates)[:, 3:])
    assert carried == pytest.approx([0, 0, 3.0 * 9.81 * 0.01])


def hinge(**joint):
    body = {"name": "Rod", "position": [0.5, 0, 0], "mass": 2.0,
            "shape": {"kind": "box", "params": {"size_x": 1.0, "size_y": 0.1, "size_z": 0.1}}}
    return [body], [{"name": "Pin", "child": "Rod", "rotation": HINGE_ALONG_Y, **joint}]


@pytest.mark.parametrize("integrator", some(["semi_implicit", "leapfrog", "backward_euler", "bdf2", "sdirk2"],
                                            "semi_implicit", "leapfrog", "bdf2"))
def test_a_rod_falls_onto_its_limit_and_stays(tmp_path, integrator):
    world = mechanism_world(tmp_path, *hinge(low=[-2.0], high=[0.4]), integrator=integrator)
    state = run(world, 1 / 200, 400)
    assert state.q[0] == pytest.approx(0.4, abs=0.01) and abs(state.u[0]) < 0.01


def test_a_start_outside_limits_is_pulled_in_softly_and_reported(tmp_path):
    world = mechanism_world(tmp_path, *hinge(start=[1.0], low=[-0.5], high=[0.5]), gravity=[0, 0, 0])
    assert world.notes == ['"Robot": joint "Pin" starts outside its limits and is pulled in softly']
    state, fastest = world.initial_state(), 0.0
    for _ in range(400):
        state = world.step(state, 1 / 400)
        fastest = max(fastest, abs(state.u[0]))
    assert fastest == pytest.approx(1.0) and state.q[0] < 0.505


def test_a_servo_holds_its_target_and_says_its_effort(tmp_path):
    motor = {"target": [0.3], "mode": {"kind": "servo", "params": {"stiffness": 2000.0, "damping": 200.0}}}
    world = mechanism_world(tmp_path, *hinge(motor=motor), integrator="backward_euler")
    state = run(world, 1 / 100, 300)
    sag = 2.0 * 9.81 * 0.5 * np.cos(state.q[0]) / 2000.0
    assert state.q[0] == pytest.approx(0.3 + sag, abs=1e-6)
    assert world.poses(state)["effort"][0] == pytest.approx(-2.0 * 9.81 * 0.5 * np.cos(state.q[0]), rel=1e-4)


def test_a_servo_is_no_stronger_than_its_limit_and_lets_go(tmp_path):
    motor = {"target": [0.0], "limit": 5.0, "mode": {"kind": "servo", "params": {"stiffness": 2000.0, "damping": 20.0}}}
    world = mechanism_world(tmp_path, *hinge(motor=motor))
    state = run(world, 1 / 100, 20)
    assert world.poses(state)["effort"][0] == pytest.approx(-5.0) and state.q[0] > 0.1
    world = mechanism_world(tmp_path, *hinge(motor={**motor, "limit": None, "until": 3}))
    at_first, fallen = run(world, 1 / 96, 8), run(world, 1 / 96, 40)
    assert abs(at_first.q[0]) < 0.02 and fallen.q[0] > 0.4 and world.poses(fallen)["effort"][0] == 0.0


def test_a_servo_follows_a_target_over_time(tmp_path):
    """Its damping resists the difference of the rates, so that it does not lag."""
    samples = np.sin(np.arange(49) / 48 * 2 * np.pi)[:, None]
    motor = {"target": "arrays/target.npy", "mode": {"kind": "servo", "params": {"stiffness": 500.0, "damping": 500.0}}}
    world = mechanism_world(tmp_path, *hinge(motor=motor), arrays={"target": samples}, end=25, gravity=[0, 0, 0],
                            integrator="sdirk2")
    state = run(world, 1 / 240, 180)
    assert state.q[0] == pytest.approx(np.sin(0.75 * 2 * np.pi), abs=0.02)


def test_a_speed_motor_turns_at_its_speed(tmp_path):
    motor = {"target": [4.0], "mode": {"kind": "speed", "params": {"damping": 300.0}}}
    world = mechanism_world(tmp_path, *hinge(motor=motor), gravity=[0, 0, 0])
    assert run(world, 1 / 100, 50).u[0] == pytest.approx(4.0, abs=1e-3)


def test_a_ball_is_pulled_to_its_target(tmp_path):
    body = {"name": "Head", "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.2, "size_z": 0.1}}}
    motor = {"target": [1.0, -1.5, 2.0], "mode": {"kind": "servo", "params": {"stiffness": 50.0, "damping": 10.0}}}
    neck = {"name": "Neck", "kind": "spherical", "child": "Head", "motor": motor}
    world = mechanism_world(tmp_path, [body], [neck], gravity=[0, 0, 0])
    state = run(world, 1 / 100, 400)
    assert world.tree.absolute(state.q, state.memory) == pytest.approx([1.0, -1.5, 2.0], abs=1e-4)


def test_what_nothing_holds_has_no_constraints(tmp_path):
    """A tree by itself in the air; with a ground, an obstacle, a second body that is free or its own bodies it has."""
    tree = random_free_tree()
    assert mechanism_world(tmp_path, *tree).constraints is None
    ground = {"point": [0, 0, -9], "normal": [0, 0, 1]}
    assert mechanism_world(tmp_path, *tree, ground=ground).constraints is not None
    wall = [*tree[0], {"name": "Wall", "position": [5, 0, 0]}]
    fixed = [*tree[1], {"name": "Weld", "kind": "fixed", "child": "Wall"}]
    assert mechanism_world(tmp_path, wall, fixed).constraints is not None
    job = mechanism_job(tmp_path, *tree)
    change(job, "mechanisms.0.self_collisions", True)
    assert build_mechanisms(load(job)).constraints is not None


def test_a_step_by_land_is_the_worlds_step(tmp_path):
    world = springy(tmp_path)
    state, h = world.initial_state(), 0.01
    stage = Stage(h, 1.0, 1.0, h, None, state.u)
    by_hand = world.tree.centre_charts(world.finish_linear_stage(world.pose(state, stage), stage, state))
    after = world.step(state, h)
    assert (by_hand.q == after.q).all() and (by_hand.u == after.u).all()


def test_the_acceleration_is_what_short_steps_have(tmp_path):
    world = springy(tmp_path, integrator="sdirk2")
    state = moving(world)
    after = world.step(state, 1e-6)
    assert (after.u - state.u) / 1e-6 == pytest.approx(world.acceleration(state), rel=1e-3, abs=1e-3)
