"""Friction against closed forms: blocks on slopes, sliding to a stop, on a belt; and the laws by themselves.

The slope is gravity that leans, over a level ground.
"""

from dataclasses import replace

import numpy as np
import pytest
from bodies import box, make, nearest
from matrix import some

from solver.contact.find.ground import Ground
from solver.contact.laws.coulomb import Coulomb
from solver.contact.laws.filter import Filter
from solver.contact.laws.interface import SlidingNodes
from solver.coordinates.prescribed import Motion
from solver.state import State
from solver.world.ground_friction import FORCE

G, MU, SIZE = 9.81, 0.3, (0.08, 0.08, 0.04)
CORNERS = [(0, 0, 0.04), (0.08, 0, 0.04), (0.08, 0.08, 0.0), (0, 0.08, 0.0)]
SMALL, LARGE = 1 / 120, 1 / 25
METHODS = ["vanilla", "conjac"]


def block(method, law="coulomb", slope=0.0, mu=MU, speed=0.0, stiffness=2000.0, lifted=0.0, **settings):
    """(world, state) of a soft block as deep in the ground as its weight presses it, or `lifted` above that [m]."""
    nodes, tets = box((4, 4, 2), SIZE)
    angle = np.arctan(slope)
    settings.setdefault("dynamic", [nearest(nodes, corner) for corner in CORNERS] if method == "conjac" else [])
    world = make(nodes, tets, young=3e5, beta=1.0, method=method, ground=(0.0, stiffness),
                 friction=law and (law, mu), gravity=G * np.array([np.sin(angle), 0.0, -np.cos(angle)]), **settings)
    depth = world.mass.sum() * G * np.cos(angle) / (stiffness * (nodes[:, 2] == 0).sum())
    free = world.coordinates.free
    q = nodes[free] + [0.0, 0.0, lifted - depth]
    return world, State(0.0, q.ravel(), np.tile([speed, 0.0, 0.0], (len(free), 1)).ravel())


def velocity(world, state):
    """Return the velocity of the centre of mass [m/s]."""
    return world.mass @ world.velocity(state) / world.mass.sum()


def centre(world, state):
    return world.mass @ world.coordinates.positions(state.q, state.time) / world.mass.sum()


def run(world, state, steps, h):
    for _ in range(steps):
        state = world.step(state, h)
    return state


@pytest.mark.parametrize("h", [SMALL, LARGE])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("slope", some([0.1, 0.2, 0.28], 0.28))
def test_a_block_sticks_below_atan_mu(method, slope, h):
    world, state = block(method, slope=slope)
    settled = run(world, state, round(0.2 / h), h)
    after = run(world, settled, round(0.4 / h), h)
    crept = np.linalg.norm((centre(world, after) - centre(world, settled))[:2])
    assert crept <= 1e-4 * 0.5 * G * slope * 0.4**2
    assert np.linalg.norm(centre(world, after) - centre(world, state)) <= 1e-3 * SIZE[0]


def test_a_block_that_stands_on_a_slope_falls_asleep_and_stays():
    world, state = block("conjac", slope=0.2, adaptive=True)
    after = run(world, state, 90, 1 / 60)
    assert not after.memory["liveliness.awake"].any()
    assert np.linalg.norm(centre(world, after) - centre(world, state)) <= 1e-3 * SIZE[0]
    assert np.linalg.norm(velocity(world, after)) <= 1e-5


@pytest.mark.parametrize("h", [SMALL, LARGE])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("slope", [0.35, 0.6])
def test_above_it_it_slides_with_the_closed_form_s_acceleration(method, slope, h):
    world, state = block(method, slope=slope)
    before = run(world, state, round(0.2 / h), h)
    after = run(world, before, round(0.2 / h), h)
    gained = (velocity(world, after) - velocity(world, before)) / (round(0.2 / h) * h)
    angle = np.arctan(slope)
    exact = G * (np.sin(angle) - MU * np.cos(angle))
    assert gained[0] == pytest.approx(exact, abs=4e-3 * G)
    assert abs(gained[1]) <= 4e-3 * G


@pytest.mark.parametrize(("integrator", "method"), some([
    ("sbdf2", "conjac"), ("ssdirk2", "conjac"), ("ssdirk2", "vanilla"), ("backward_euler", "vanilla"),
    ("bdf2", "vanilla"), ("sdirk2", "vanilla"), ("generalized_alpha", "vanilla"), ("backward_euler", "conjac"),
    ("bdf2", "conjac"), ("sdirk2", "conjac")],
    ("sbdf2", "conjac"), ("ssdirk2", "vanilla"), ("bdf2", "vanilla"), ("sdirk2", "vanilla"),
    ("generalized_alpha", "vanilla")))
def test_other_integrators_brake_as_much(integrator, method):
    params = {"spectral_radius": 0.5} if integrator == "generalized_alpha" else {}
    for slope in (0.2, 0.6):
        world, state = block(method, slope=slope, integrator=integrator, **params)
        before = run(world, state, 10, 1 / 60)
        after = run(world, before, 10, 1 / 60)
        gained = (velocity(world, after) - velocity(world, before))[0] * 6.0
        angle = np.arctan(slope)
        assert gained == pytest.approx(max(0.0, G * (np.sin(angle) - MU * np.cos(angle))), abs=3e-3 * G)


@pytest.mark.parametrize(("law", "h"), [("coulomb", SMALL), ("coulomb", LARGE), ("filter", SMALL)])
@pytest.mark.parametrize("method", METHODS)
def test_a_sliding_block_stops_after_its_braking_distance(method, law, h):
    """v² / (2 μ g), less half a step's way: velocities change before positions. The filter alone creeps on at last."""
    speed = 0.8
    world, state = block(method, law, speed=speed)
    after = run(world, state, round(speed / (MU * G) / h) + 3, h)
    way = (centre(world, after) - centre(world, state))[0]
    exact = speed**2 / (2.0 * MU * G)
    assert way + 0.5 * h * speed == pytest.approx(exact, rel=0.03 if law == "coulomb" else 0.05)
    assert np.linalg.norm(velocity(world, after)[:2]) <= (1e-3 if law == "coulomb" else 0.03) * speed
    if law == "coulomb":
        later = run(world, after, 5, h)
        assert abs((centre(world, later) - centre(world, after))[0]) <= 1e-4 * exact


def test_the_filter_does_not_hold_a_block_on_a_slope():
    """It creeps at the speed at which a step's weight equals the momentum of what touches: why Coulomb is there.

    That is their speed before friction takes all of it, node by node; the body is left with three quarters of it.
    """
    (world, state), (plain, _) = (block("vanilla", law, slope=0.2) for law in ("filter", None))
    after, touches = run(world, state, 60, SMALL), world.rest[:, 2] == 0.0
    before_friction = plain.velocity(plain.step(after, SMALL))[touches, 0]
    weight = SMALL * G * np.sin(np.arctan(0.2)) * world.mass.sum()
    assert world.mass[touches] @ before_friction == pytest.approx(weight, rel=3e-4)
    then = world.step(after, SMALL)
    assert SMALL * then.memory[FORCE][:, 0].sum() == pytest.approx(-weight, rel=3e-4)
    assert velocity(world, then)[0] == pytest.approx(0.73 * weight / world.mass[touches].sum(), rel=0.01)


@pytest.mark.parametrize("method", some(METHODS, "conjac"))
def test_a_resting_body_has_no_friction(method):
    rubbed, plain = (block(method, law, quasistatic_start=False) for law in ("coulomb", None))
    a, b = (run(world, run(world, state, 90, LARGE), 5, LARGE) for world, state in (rubbed, plain))
    assert np.abs(velocity(rubbed[0], a)).max() <= 1e-7
    # what friction has locked in is inside the body: as a whole it is where it would be without
    assert np.abs(centre(rubbed[0], a) - centre(plain[0], b)).max() <= 1e-4 * SIZE[0]


@pytest.mark.parametrize("h", [SMALL, LARGE])
@pytest.mark.parametrize("method", METHODS)
def test_a_block_dropped_on_a_belt_reaches_its_speed(method, h):
    belt, mu, height = 0.5, 0.5, 0.002
    world, state = block(method, mu=mu, lifted=height)
    path = np.outer(np.arange(200) * 0.01, [belt, 0.0, 0.0])
    world.ground = replace(world.ground, plane=Ground(path[0], np.array([0, 0, 1.0]), motion=Motion(path, 0.01)))
    speeds = []
    for _ in range(round(0.6 / h)):
        state = world.step(state, h)
        speeds.append(velocity(world, state)[0])
    # at large steps it still hops, and sways by a share of it
    assert np.mean(speeds[-4:]) == pytest.approx(belt, rel=2e-3)
    assert speeds[-1] == pytest.approx(belt, rel=4e-3)
    assert max(speeds) <= belt * 1.05
    # no sooner than μ times its weight and the momentum of a bounce allow
    reached = (np.flatnonzero(np.array(speeds) >= 0.9 * belt)[0] + 1) * h
    assert 0.9 * belt / (mu * G) - 2.0 * np.sqrt(2.0 * height / G) - h <= reached <= 0.35


@pytest.mark.parametrize("mu, stiffness, h", [(0.35, 2000.0, LARGE), (0.35, 500.0, LARGE), (0.35, 2000.0, 1 / 100)])
def test_a_tipping_block_rubs_by_what_presses_at_the_end_of_its_step(mu, stiffness, h):
    """A tall one thrown along the ground: friction tips it, which shifts its load to the nodes in front and lifts those
    behind. While all slide each is braked by μ times its own share, which is what its depth at the step's end says."""
    size = (0.04, 0.04, 0.1)
    nodes, tets = box((2, 2, 5), size)
    world = make(nodes, tets, young=3e5, beta=1.0, method="vanilla", ground=(0.0, stiffness), friction=("coulomb", mu))
    bottom, weight = nodes[:, 2] == 0.0, world.mass.sum() * G
    state = State(0.0, (nodes - [0.0, 0.0, weight / (stiffness * bottom.sum())]).ravel(),
                  np.tile([1.0, 0.0, 0.0], (len(nodes), 1)).ravel())
    shifted = []
    for _ in range(3):
        state = world.step(state, h)
        assert world.velocity(state)[bottom, 0].min() > 0.1  # all slide
        load = stiffness * np.maximum(-world.coordinates.positions(state.q, state.time)[bottom, 2], 0.0)
        force = np.linalg.norm(state.memory[FORCE][bottom], axis=1)
        assert np.abs(force - mu * load).max() <= 0.01 * mu * load.sum()
        assert force.sum() == pytest.approx(mu * load.sum(), rel=0.01)
        shifted.append(load.max() - load.min())
    assert max(shifted) > 0.25 * weight


@pytest.mark.parametrize("law", ["coulomb", "filter"])
@pytest.mark.parametrize("method", METHODS)
def test_friction_takes_energy_in_every_step(method, law):
    """r · (v before + v after) is its contribution to ½ uᵀ A u; never positive, for any state."""
    world, start = block(method, law, slope=0.3, solve_impacts=False)  # the impulses are those of linear solves
    rng = np.random.default_rng(3)
    work = []
    for _ in range(12):
        turned = start.u + 0.4 * rng.normal(size=3)[np.arange(start.u.size) % 3] + 0.02 * rng.normal(size=start.u.shape)
        asked = []
        impulses = world.ground.friction.impulses

        def seen(rubbing, respond, impulses=impulses, asked=asked):
            r = impulses(rubbing, respond)
            asked.append((rubbing, r, rubbing.slip + rubbing.along(respond(r))))
            return r

        world.ground.friction.impulses = seen
        try:
            world.step(State(0.0, start.q, turned), 1 / 60)
        finally:
            world.ground.friction.impulses = impulses
        for rubbing, r, slip in asked:
            work.append(float(np.vdot(r, rubbing.slip + slip)))
            size = np.linalg.norm(r, axis=1)
            assert np.abs(np.einsum("ka,ka->k", r, rubbing.normal)).max() <= 1e-12 * size.max()  # nothing along n
    assert sum(joules < 0.0 for joules in work) >= 6 and max(work) <= 0.0


@pytest.mark.parametrize("method", METHODS)
def test_a_run_with_friction_never_has_more_energy_than_it_started_with(method):
    world, state = block(method, speed=1.0)

    def energy(state):
        x, v = world.coordinates.positions(state.q, state.time), world.velocity(state)
        return 0.5 * world.mass @ np.einsum("na,na->n", v, v) + world.evaluate(x, state.time)[1]

    before = energy(state)
    for _ in range(60):
        state = world.step(state, 1 / 60)
        assert energy(state) <= before * (1.0 + 1e-9)


def test_a_body_in_the_air_is_left_alone():
    """Two bodies of one ConJac world: friction of one does not brake the other."""
    nodes, tets = box((2, 2, 2), (0.04, 0.04, 0.04))
    both = np.concatenate([nodes, nodes + [0.2, 0.0, 0.1]])
    corners = [nearest(both, corner) for corner in [(0, 0, 0), (0.04, 0.04, 0.04), (0.2, 0, 0.1), (0.24, 0.04, 0.14)]]
    after = []
    for law in (None, ("coulomb", MU)):
        world = make(both, np.concatenate([tets, tets + len(nodes)]), dynamic=corners, ground=(0.001, 2000.0),
                     friction=law, solve_impacts=False)  # a solved one is exact to its tolerance
        free = world.coordinates.free
        u = np.tile([1.0, 0.0, 0.0], (len(free), 1))
        after.append(world.step(State(0.0, both[free].ravel(), u.ravel()), 1 / 60).u.reshape(-1, 3))
    touched, flying = np.abs(after[1] - after[0])[: len(nodes)], np.abs(after[1] - after[0])[len(nodes):]
    assert touched.max() > 1e-2 and flying.max() <= 1e-12


def dragged(count, speed=0.1, **settings):
    """A block with so many dynamic nodes, held at the top, its bottom 1 mm deep in a ground that moves on [m/s]."""
    nodes, tets = box((4, 4, 2), SIZE)
    top = np.flatnonzero(nodes[:, 2] > 0.04 - 1e-9)
    dynamic = [nearest(nodes, (0.04, 0.04, 0.02))][:count]
    world = make(nodes, tets, young=3e4, beta=1.0, ground=(0.001, 300.0), pinned=top, dynamic=dynamic,
                 friction=("coulomb", MU), gravity=(0, 0, 0), **settings)
    path = np.outer(np.arange(100) * 0.02, [speed, 0.0, 0.0]) + [0, 0, 0.001]
    world.ground = replace(world.ground, plane=Ground(path[0], np.array([0, 0, 1.0]), motion=Motion(path, 0.02)))
    return world, nodes, top


@pytest.mark.parametrize("count, speed, settings", [
    (0, 0.1, {"method": "vanilla"}), (1, 0.1, {}), (0, 0.1, {}), (0, 3.0, {}),
    (1, 0.1, {"adaptive": True, "threshold": 1e9}), (0, 0.1, {"integrator": "backward_euler"}),
    pytest.param(1, 0.1, {"integrator": "backward_euler"}, marks=pytest.mark.long),
    pytest.param(1, 0.1, {"integrator": "sdirk2"}, marks=pytest.mark.long)])
def test_a_pinned_body_is_dragged_by_the_ground_as_far_as_its_stiffness_lets_it(count, speed, settings):
    """It slides at last, under μ times its load; where nothing is dynamic, or all asleep on a kept factor, too."""
    world, nodes, top = dragged(count, speed, **settings)
    bottom, law = nodes[:, 2] == 0.0, world.ground
    state = run(world, world.initial_state(), 40, 1 / 60)
    assert "adaptive" not in settings or world.linear.factored < 40
    x = world.coordinates.positions(state.q, state.time)
    force = world.evaluate(x, state.time)[0]  # elastic and of the ground
    load = (law.stiffness[bottom] * np.maximum(0.001 - x[bottom, 2], 0.0)).sum()
    assert -force[bottom, 0].sum() == pytest.approx(MU * load, rel=0.02)
    assert np.array_equal(x[top], nodes[top])


def test_friction_of_a_solved_stage_wakes_nobody():
    """While all sleep and the rest is pinned nothing has a velocity, whatever rubs."""
    world, _, _ = dragged(1, adaptive=True, threshold=1e9, integrator="backward_euler")
    state = run(world, world.initial_state(), 3, 1 / 60)
    assert state.memory["friction.force"].any() and not state.u.any()


def rubbing_of(slip, pressing, mass=1.0):
    count = len(slip)
    up = np.tile([0.0, 0.0, 1.0], (count, 1))
    return SlidingNodes(np.arange(count), up, slip, pressing, 0.0, np.full(count, mass), np.zeros((count, 3)))


def test_coulomb_s_law_holds_at_every_contact():
    """Some stick, some slide, on a random symmetric W: slip is zero, or the impulse is against it and at its bound."""
    rng = np.random.default_rng(5)
    root = rng.normal(size=(60, 6))
    compliance = root @ root.T + np.eye(60)
    slip = rng.normal(size=(20, 3)) * [1, 1, 0]
    rubbing = rubbing_of(slip, rng.uniform(0.0, 2.0, 20) * (np.arange(20) % 5 > 0))
    r = Coulomb({"friction_coefficient": 0.7}).impulses(rubbing, lambda r: (compliance @ r.ravel()).reshape(-1, 3))
    left = rubbing.along(slip + (compliance @ r.ravel()).reshape(-1, 3))
    size, most = np.linalg.norm(r, axis=1), 0.7 * rubbing.normal_impulse
    assert (size <= most * (1 + 1e-12)).all() and np.abs(r[:, 2]).max() == 0.0
    speed = np.linalg.norm(left, axis=1)
    slides = speed > 0.03
    assert 2 <= slides[most > 0].sum() <= (most > 0).sum() - 2
    assert speed[~slides].max() <= 1e-2
    wanted = -most[slides, None] * left[slides] / speed[slides, None]
    assert np.abs(r[slides] - wanted).max() <= 5e-3 * most.max()


@pytest.mark.parametrize("method", METHODS)
def test_what_friction_was_saves_time_and_changes_no_answer(method):
    """A block that stands: from its memory Coulomb's law asks less than half as often, to the same velocities."""
    world, state = block(method, slope=0.2)
    state = run(world, state, 40, 1 / 60)
    asked, impulses = [], world.ground.friction.impulses

    def counted(rubbing, respond):
        def ask(r):
            asked[-1] += 1
            return respond(r)
        return impulses(rubbing, ask)

    world.ground.friction.impulses = counted
    afters = []
    for memory in (state.memory, {}, {"friction.force": np.ones((3, 3))}):
        asked.append(0)
        afters.append(world.step(State(state.time, state.q, state.u, memory), 1 / 60))
    assert "friction.force" in state.memory
    assert asked[0] < 0.5 * asked[1] and asked[1] == asked[2]
    slipped = 1 / 60 * G * 0.2
    assert np.abs(afters[0].u - afters[1].u).max() <= 5e-3 * slipped
    # in the air nothing is remembered
    up = State(state.time, state.q + 0.1, state.u, state.memory)
    assert "friction.force" not in world.step(up, 1 / 60).memory


def test_the_filter_stops_a_node_s_own_mass_or_brakes_it():
    rubbing = rubbing_of(np.array([[0.3, -0.4, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 0.0]]), np.array([5.0, 5.0, 5.0]), 2.0)
    r = Filter({"friction_coefficient": 0.3}).impulses(rubbing, None)
    assert r == pytest.approx(np.array([[-0.6, 0.8, 0.0], [-0.9, -1.2, 0.0], [0.0, 0.0, 0.0]]))


@pytest.mark.long
def test_what_conjac_corrects_slides_no_faster_than_friction_leaves():
    """The paper's bunny dropped on its feet: where velocities have stopped, positions have too."""
    from benchmarks.scenes.bunny import drop, scene

    slip = drop(scene("feet", "coulomb"))[0]["slip_mm_s"]
    assert slip["moved"] <= 3.0 * slip["left"] + 20.0
