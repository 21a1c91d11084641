"""Jointed bodies against closed forms and an accurate ODE on coordinates of its own: orders, momentum, oscillations."""

import numpy as np
import pytest
from jointed import solved_stages
from matrix import some
from mechanisms import double_pendulum, mechanism_world, random_free_tree, run
from scipy.integrate import solve_ivp

SPAN = 0.5


def accurate_double_pendulum(rates, span=SPAN):
    """q and u of `double_pendulum` by Lagrange's equations in the rods' angles against the horizon, 1e-12."""
    m1, m2, arm, length, second, g = 2.0, 1.0, 0.3, 0.6, 0.4, 9.81
    i1, i2 = m1 / 12 * (0.6**2 + 0.1**2), m2 / 12 * (0.8**2 + 0.1**2)

    def slope(_, y):
        (a, b), (va, vb) = y[:2], y[2:]
        mass = np.array([[i1 + m1 * arm**2 + m2 * length**2, m2 * length * second * np.cos(a - b)],
                         [m2 * length * second * np.cos(a - b), i2 + m2 * second**2]])
        load = [-m2 * length * second * np.sin(a - b) * vb**2 + (m1 * arm + m2 * length) * g * np.cos(a),
                m2 * length * second * np.sin(a - b) * va**2 + m2 * second * g * np.cos(b)]
        return np.concatenate([y[2:], np.linalg.solve(mass, load)])

    end = solve_ivp(slope, (0, span), [0, 0, rates[0], rates[0] + rates[1]], method="DOP853", rtol=1e-12,
                    atol=1e-13).y[:, -1]
    return np.array([end[0], end[1] - end[0], end[2], end[3] - end[2]])


def error(folder, integrator, steps, rates, **options):
    state = run(mechanism_world(folder, *double_pendulum(rates), integrator=integrator, **options), SPAN / steps, steps)
    return np.abs(np.concatenate([state.q, state.u]) - accurate_double_pendulum(rates)).max()


@pytest.mark.parametrize(("integrator", "order"), [("semi_implicit", 1), ("leapfrog", 2), ("backward_euler", 1),
                                                   ("bdf2", 2), ("sdirk2", 2)])
def test_a_double_pendulum_falls_at_the_order_of_its_integrator(tmp_path, integrator, order):
    first, second = (error(tmp_path, integrator, steps, (1.5, -2.0)) for steps in (200, 400))
    assert np.log2(first / second) == pytest.approx(order, abs=0.1)


@pytest.mark.long
@pytest.mark.parametrize("integrator", some(["bdf2", "sdirk2"], "bdf2"))
def test_a_double_pendulum_is_right_to_a_millionth_at_a_tenth_of_a_millisecond(tmp_path, integrator):
    """Its angles, that is; its rates, which reach 10 rad/s by then, to 2e-5."""
    state = run(mechanism_world(tmp_path, *double_pendulum((0.0, 0.0)), integrator=integrator), 1e-4, 5000)
    exact = accurate_double_pendulum((0.0, 0.0))
    assert np.abs(state.q - exact[:2]).max() < 1e-6 and np.abs(state.u - exact[2:]).max() < 2e-5


def mass_on_a_spring(*, stiffness=40.0, damping=0.0, joint=False):
    """A ball of 2 kg that slides along X, held by a spring to the world or by its joint's own."""
    body = {"name": "Ball", "position": [0.5, 0, 0], "mass": 2.0, "shape": {"kind": "sphere"}}
    slide = {"name": "Rail", "kind": "prismatic", "child": "Ball", "rotation": [0.5**0.5, 0, 0.5**0.5, 0],
             "start": [0.5], "rest": [0.3]}
    spring = {"body_a": None, "body_b": "Ball", "point_a": [-1, 0, 0], "point_b": [0.5, 0, 0], "stiffness": stiffness,
              "damping": damping, "rest_length": 1.3}
    if joint:
        return [body], [{**slide, "stiffness": [stiffness], "damping": [damping]}], []
    return [body], [slide], [spring]


@pytest.mark.parametrize("joint, integrator, damping", some(
    [(joint, integrator, damping) for joint in (False, True) for integrator in ("sdirk2", "bdf2")
     for damping in (0.0, 6.0)],
    (False, "sdirk2", 0.0), (True, "sdirk2", 6.0), (False, "bdf2", 6.0), (True, "bdf2", 0.0)))
def test_a_mass_on_a_spring_swings_as_its_closed_form(tmp_path, joint, integrator, damping):
    bodies, joints, springs = mass_on_a_spring(damping=damping, joint=joint)
    world = mechanism_world(tmp_path, bodies, joints, springs=springs, gravity=[0, 0, 0], integrator=integrator)
    after, decay = 0.7, damping / 4.0
    swing = np.sqrt(20.0 - decay**2)
    place = 0.2 * np.exp(-decay * after) * (np.cos(swing * after) + decay / swing * np.sin(swing * after))
    rate = -0.2 * np.exp(-decay * after) * 20.0 / swing * np.sin(swing * after)
    ends = [run(world, after / steps, steps) for steps in (200, 400)]
    first, second = (np.hypot(end.q[0] - 0.3 - place, (end.u[0] - rate) / swing) for end in ends)
    assert second < 3e-5 and np.log2(first / second) == pytest.approx(2, abs=0.15)


def test_the_linear_step_damps_as_beta_says(tmp_path):
    """q' = q + h u', (m + β h² k) u' = m u − h k q on a rail: semi-implicit Euler by hand."""
    bodies, joints, springs = mass_on_a_spring(damping=3.0)
    for beta in (0.5, 1.0):
        world = mechanism_world(tmp_path, bodies, joints, springs=springs, gravity=[0, 0, 0], beta=beta)
        h, q, u = 0.02, 0.5, 0.0
        for _ in range(30):
            u = (2.0 * u - h * 40.0 * (q - 0.3)) / (2.0 + h * 3.0 + beta * h**2 * 40.0)
            q += h * u
        state = run(world, h, 30)
        assert state.q[0] == pytest.approx(q, abs=1e-12) and state.u[0] == pytest.approx(u, abs=1e-12)


def momentum(world, state):
    """Linear and angular about the world's origin, (6,) [N s, N m s]."""
    at = world.tree.posture(state.q, state.u, state.memory)
    rotation, place = at.E[:, :3, :3], at.E[:, :3, 3]
    own = np.einsum("nab,nb->na", world.tree.inertia, at.twist)
    linear = np.einsum("nab,nb->na", rotation, own[:, 3:])
    angular = np.einsum("nab,nb->na", rotation, own[:, :3]) + np.cross(place, linear)
    return np.concatenate([linear.sum(axis=0), angular.sum(axis=0)])


@pytest.mark.parametrize("integrator", some(["bdf2", "sdirk2"], "bdf2"))
def test_a_free_flying_tree_keeps_its_momentum_to_the_order(tmp_path, integrator):
    """Over two seconds, in which charts are moved along."""
    world = mechanism_world(tmp_path, *random_free_tree(), integrator=integrator, gravity=[0, 0, 0])
    before, off = momentum(world, world.initial_state()), []
    for steps in (200, 400):
        state = run(world, 2.0 / steps, steps)
        off.append(np.abs(momentum(world, state) - before).max())
        assert "joints.centres" in state.memory
    assert np.abs(before).max() > 1 and off[1] < 2e-2 and 3.0 < off[0] / off[1] < 6.0


@pytest.mark.parametrize("h", [1 / 24, 1 / 100])
def test_a_thrown_plate_tumbles_without_gaining_energy(tmp_path, h):
    """Five seconds about its middle axis, which it leaves: at a frame a step too, by the plainest integrator."""
    plate = {"name": "Plate", "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.1, "size_z": 0.02}}}
    world = mechanism_world(tmp_path, [plate], [{"name": "Free", "kind": "free", "child": "Plate",
                                                 "rate": [0.3, 10.0, 0.2, 1.0, 0, 0]}], gravity=[0, 0, 0])
    state, spins = world.initial_state(), []
    before = world.energy(state)
    for _ in range(round(5 / h)):
        state = world.step(state, h)
        spins.append(state.u[1])
    assert min(spins) < -5.0 and world.energy(state) == pytest.approx(before, rel=1e-9)
    assert state.u[3:] == pytest.approx([1.0, 0, 0])


@pytest.mark.parametrize("spin", some([5.0, 10.0], 10.0))
def test_a_nut_that_flips_keeps_energy_and_spin_for_ten_seconds(tmp_path, spin):
    """Dzhanibekov's: about its middle axis, by the default integrator. Rates are those of midway through a step: there
    the spin points where it did; at a step's end it is read as turned by half a step more or less."""
    nut = {"name": "Nut", "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.2, "size_z": 0.1}}}
    world = mechanism_world(tmp_path, [nut], [{"name": "Free", "kind": "free", "child": "Nut",
                                               "rate": [0.01, spin, 0.02, 0.3, 0, 0]}], gravity=[0, 0, 0])
    state, h, spins, found = world.initial_state(), 1 / 120, [], []
    energy = world.energy(state)

    def angular(back):
        at = world.tree.posture(state.q - back * state.u, state.u, state.memory)
        return at.E[0, :3, :3] @ (world.tree.inertia[0] @ at.twist[0])[:3]

    before = angular(0.0)
    size = np.linalg.norm(before)
    for _ in range(1200):
        state = world.step(state, h)
        spins.append(state.u[1])
        found.append([np.linalg.norm(angular(0.0)) / size - 1.0, world.energy(state) / energy - 1.0,
                      np.linalg.norm(angular(0.5 * h) - before) / size])
    assert min(spins) < -0.9 * spin and max(spins[len(spins) // 2:]) > 0.9 * spin  # over, and back again
    assert (np.abs(found).max(axis=0) <= [1e-11, 1e-11, 1e-3]).all()


GROUND = {"point": [0, 0, 0], "normal": [0, 0, 1]}
FLIPS = 2.94, 8.46  #: when the nut below turns over [s]: Leapfrog at 1/480 s, SDIRK2 at 1/2000 s without keeping spin


@pytest.mark.parametrize("integrator", some(["leapfrog", "sdirk2", "sdirk23", "bdf2"], "leapfrog", "sdirk2"))
def test_a_nut_turns_over_when_it_should(tmp_path, integrator):
    """Dzhanibekov's: how soon hangs on how far it is from its middle axis, so a small loss of energy or spin shows."""
    nut = {"name": "Nut", "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.2, "size_z": 0.1}}}
    world = mechanism_world(tmp_path, [nut], [{"name": "Free", "kind": "free", "child": "Nut",
                                               "rate": [0.01, 5.0, 0.02, 0.3, 0, 0]}], gravity=[0, 0, -9.81],
                            integrator=integrator)
    state, h, spins, energies = world.initial_state(), 1 / 120, [5.0], []
    for _ in range(1200):
        state = world.step(state, h)
        twist = world.tree.posture(state.q, state.u, state.memory).twist[0, :3]
        energies.append(twist @ world.tree.inertia[0, :3, :3] @ twist)
        spins.append(twist[1])
    spins = np.array(spins)
    over = np.flatnonzero(spins[:-1] * spins[1:] < 0)
    assert (over + spins[over] / (spins[over] - spins[over + 1])) * h == pytest.approx(FLIPS, abs=0.02)
    assert np.ptp(energies) <= 1e-10 * energies[0]


def test_what_strikes_or_is_driven_is_not_taken_to_turn_freely(tmp_path):
    """A box that falls on the ground askew loses what it should: as before, to the last bit, while it touches."""
    box = {"name": "Box", "position": [0, 0, 0.2], "mass": 1.0,
           "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.2, "size_z": 0.1}}}
    joints = [{"name": "Free", "kind": "free", "child": "Box", "rate": [0.5, 3.0, 0.2, 0, 0, 0]}]
    world = mechanism_world(tmp_path, [box], joints, integrator="sdirk2", ground=GROUND)
    stages, state, rested = solved_stages(world), world.initial_state(), False
    for _ in range(240):
        before, state = state, world.step(state, 1 / 120)
        solution = stages[-1].constraint_solution
        if solution is not None and solution.on_bodies is not None and solution.on_bodies[0].any():
            assert world._tumbling.with_invariants(before, state, solution) is state
            rested = True
    assert rested and np.abs(state.u[[0, 1, 5]]).max() < 1e-6  # it slides and turns on its face


def test_charts_brought_home_say_the_same_as_charts_moved_along(tmp_path):
    world = mechanism_world(tmp_path, *random_free_tree())
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(2, 4))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    q, u = rng.uniform(-1.5, 1.5, 12), rng.normal(size=12)
    state = type(world.initial_state())(0.0, q, u, {"joints.centres": centres.ravel()})
    found = [world.tree.posture(moment.q, moment.u, moment.memory)
             for moment in (state, world.tree.recentre(state), world.tree.centre_charts(state))]
    for other in found[1:]:
        assert other.E == pytest.approx(found[0].E, abs=1e-12)
        assert other.twist == pytest.approx(found[0].twist, abs=1e-12)
    assert (world.tree.centre_charts(state).q[[0, 1, 2, 6, 7, 8]] == 0.0).all() and (state.q == q).all()


def test_re_centring_of_charts_changes_no_motion(tmp_path):
    """A spinning top of fixed axis turns at its rate, however often its chart is moved along."""
    body = {"name": "Top", "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.3, "size_z": 0.1}}}
    for integrator in ("semi_implicit", "leapfrog", "backward_euler", "bdf2", "sdirk2"):
        world = mechanism_world(tmp_path, [body], [{"name": "Free", "kind": "free", "child": "Top",
                                                    "rate": [0, 0, 3.0, 0, 0, 0]}],
                                gravity=[0, 0, 0], integrator=integrator)
        state = run(world, 0.05, 100)
        E = world.poses(state)["pose"][0]
        assert np.arctan2(E[1, 0], E[0, 0]) == pytest.approx((15.0 + np.pi) % (2 * np.pi) - np.pi, abs=1e-9)
        assert world.tree.posture(state.q, state.u, state.memory).twist[0, 2] == pytest.approx(3.0, abs=1e-10)


def test_a_frame_in_a_corner_changes_no_motion(tmp_path):
    """A rod given as a hull whose own frame stands at its end, turned, swings as the same rod given as a box."""
    body, hinge = double_pendulum()[0][0], double_pendulum()[1][0]
    corners = np.array(np.meshgrid([0.0, 0.6], [-0.05, 0.05], [-0.05, 0.05])).reshape(3, -1).T
    turned = corners @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    hull = {"name": "Upper", "mass": 2.0, "shape": {"kind": "hull"}, "vertices": "arrays/corners.npy",
            "rotation": [0.5**0.5, 0, 0, -(0.5**0.5)]}
    box = mechanism_world(tmp_path / "box", [body], [hinge])
    same = mechanism_world(tmp_path / "hull", [hull], [hinge], arrays={"corners": turned})
    ends = [run(world, 1 / 100, 60) for world in (box, same)]
    assert ends[1].q == pytest.approx(ends[0].q, rel=1e-9) and abs(ends[0].q[0]) > 1.0
    shown = [world.poses(end)["pose"][0] for world, end in zip((box, same), ends)]
    middle = shown[1] @ [*turned.mean(axis=0), 1.0]
    assert middle == pytest.approx(shown[0][:, 3], abs=1e-9)


def test_the_start_stands_where_the_scene_says(tmp_path):
    """Whatever the coordinates read there, and wherever a body's own frame and its centre of mass are."""
    bodies, joints = random_free_tree()
    bodies[0] = {**bodies[0], "rotation": [0.9, 0.1, -0.3, 0.2], "position": [0.1, 0.2, 0.3]}
    joints[0] = {**joints[0], "start": [0.3, -0.2, 0.5, 1.0, 2.0, 3.0]}
    joints[1] = {**joints[1], "start": [0.2, 0.4, -0.6], "rotation": [1.0, 0.5, 0, 0]}
    joints[3] = {**joints[3], "start": [0.25]}
    corners = np.array([[0, 0, 0], [0.4, 0, 0], [0, 0.3, 0], [0, 0, 0.2]])
    bodies[1] = {**bodies[1], "shape": {"kind": "hull"}, "vertices": "arrays/corners.npy"}
    world = mechanism_world(tmp_path, bodies, joints, arrays={"corners": corners})
    poses = world.poses(world.initial_state())["pose"]
    assert poses[:, :3, 3] == pytest.approx(np.array([b.get("position", [0, 0, 0]) for b in bodies]), abs=1e-12)
    assert poses[1, :3, :3] == pytest.approx(np.eye(3), abs=1e-12)
    w, x, y, z = np.array([0.9, 0.1, -0.3, 0.2]) / np.linalg.norm([0.9, 0.1, -0.3, 0.2])
    assert poses[0, :3, 0] == pytest.approx([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
