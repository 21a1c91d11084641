"""A new soft body's settings, SDIRK2 by Quick at 1/48 s, where surfaces touch: few iterations and no halved step."""

from dataclasses import replace

import numpy as np
import pytest
from contact_scenes import balls_in_a_bowl
from matrix import some
from touching import box, contact_job, crosses, distance, obstacle, sheet, soft
from worlds import nodes_of

from benchmarks import cloth
from benchmarks.scenes import touching
from benchmarks.scenes.touching import ball, balls_in_a_box
from solver.errors import StepFailed
from solver.job.load import load
from solver.nonlinear import initial_guess
from solver.nonlinear.contact_iterations import ContactIterations

H = 1 / 48
NEW = {"integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": "quick"}, "step": H}


def energy(part, state):
    x, v = part.coordinates.positions(state.q, state.time), part.velocity(state)
    return part.evaluate(x, state.time)[1] + 0.5 * float(part.mass @ np.einsum("ni,ni->n", v, v))


def two_balls(folder, speed, friction=0.4):
    """Two balls that fly at each other, a little beside, and the state in which they do."""
    arrays = {}
    bodies = [soft(name, *ball(0.15, 4, at), arrays, modulus=2e4)
              for name, at in (("One", [-0.17, 0.0, 0.0]), ("Other", [0.17, 0.05, 0.03]))]
    contact = {"law": {"kind": "barrier", "params": {"friction_coefficient": friction}}}
    part = nodes_of(load(contact_job(folder, bodies, [], arrays, gravity=[0, 0, 0], contact=contact, **NEW)))
    state = part.initial_state()
    u = state.u.reshape(-1, 3).copy()
    u[:, 0] = np.where(state.q.reshape(-1, 3)[:, 0] < 0.0, speed, -speed)
    return part, replace(state, u=u.ravel())


def followed(part, state, count):
    """The state after so many steps none of which is halved, and the factors of each."""
    factors, last = [], energy(part, state)
    for _ in range(count):
        before = part.factored
        state = part.step(state, H)
        factors.append(part.factored - before)
        assert distance(part, state) > 0.0
        assert not crosses(part, state)
        now = energy(part, state)
        assert now <= last + 1e-3 * float(part.mass.sum())  # lifting all of it by a tenth of a millimetre
        last = now
    return state, factors


def test_balls_that_hit_each_other_take_few_iterations(tmp_path):
    part, state = two_balls(tmp_path / "job", 2.0)
    before = part.mass @ part.velocity(state)
    state, factors = followed(part, state, 8)
    v = part.velocity(state)
    # they met and part again
    one = part.bodies_in_world[0].nodes
    assert float((part.mass[one] @ v[one])[0]) < -0.5 * float(part.mass[one].sum())
    assert np.abs(part.mass @ v - before).max() <= 0.01 * float(part.mass.sum())
    assert max(factors) <= 16 and np.mean(factors) <= 8
    assert part.counts["calmed"] == 0


def test_balls_that_roll_on_the_ground_and_rub_take_three_factors_a_stage_or_four(tmp_path):
    """An iteration that leads on needs none of its own, nor does the ground's friction where one was just made."""
    arrays = {}
    bodies = [soft(name, *ball(0.15, 4, at), arrays, modulus=2e4, friction=0.4)
              for name, at in (("One", [-0.155, 0.0, 0.149]), ("Other", [0.155, 0.01, 0.149]))]
    ground = {"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness": 1e3, "stiffness_per_area": 8e6,
              "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.4}}}
    part = nodes_of(load(contact_job(tmp_path / "job", bodies, [], arrays, ground=ground, **NEW)))
    state = part.initial_state()
    u = state.u.reshape(-1, 3).copy()
    u[:, 0] = np.where(state.q.reshape(-1, 3)[:, 0] < 0.0, 0.6, -0.3)
    _, factors = followed(part, replace(state, u=u.ravel()), 12)
    assert np.mean(factors) <= 7


def test_a_bowl_of_balls_takes_few_iterations(tmp_path):
    part = nodes_of(load(balls_in_a_bowl(tmp_path / "job", 4, 3, **NEW)))
    _, factors = followed(part, part.initial_state(), 14)
    assert max(factors) <= 40 and np.mean(factors) <= 12
    assert part.counts["calmed"] <= 1


def test_a_sheet_that_buckles_over_a_box_takes_few_factors(tmp_path):
    """Few edges of its landing turn on for many iterations, at hardly any energy and unseen. Friction looks at the
    nodes that it acts on, and not at folds that hang beside the box."""
    part = cloth.world(tmp_path / "job", 40, (cloth.BOX, np.array(cloth.SIDES, np.int32)))
    state, factors = part.initial_state(), []
    for _ in range(24):
        before = part.factored
        state = part.step(state, cloth.H)
        factors.append(part.factored - before)
        assert distance(part, state) > 0.0
        assert not crosses(part, state)
    assert max(factors) <= 9 and np.mean(factors) <= 2.8


def test_what_quick_gives_up_is_calmed_and_meets_nothing(tmp_path, monkeypatch):
    """Iterations that are too few for an impact: the step is linearised, and no longer halved till the bake ends."""
    monkeypatch.setattr(ContactIterations, "max_factorizations", 4)
    part, state = two_balls(tmp_path / "job", 2.0)
    followed(part, state, 8)
    assert part.counts["calmed"] > 0


def test_what_does_not_settle_says_where_and_what_helps(tmp_path, monkeypatch):
    monkeypatch.setattr(ContactIterations, "max_factorizations", 2)
    part, state = two_balls(tmp_path / "job", 2.0)
    with pytest.raises(StepFailed, match=r"did not converge in 2 iterations; .* is left near \(") as caught:
        followed(part, state, 8)
    assert caught.value.object in ("One", "Other") and "more room" in caught.value.remedy
    # they meet half way between their middles
    place = np.array(str(caught.value).split("near (")[1].split(")")[0].split(","), dtype=float)
    assert np.linalg.norm(place - [0.0, 0.025, 0.015]) < 0.15


def test_a_table_that_is_lifted_takes_them_along(tmp_path):
    arrays = {}
    vertices, triangles = sheet(1.0, 3)
    motion = np.repeat(vertices[None], 49, axis=0)
    motion[:, :, 2] += np.linspace(0.0, 0.6, 49)[:, None]
    job = contact_job(tmp_path / "job", [soft("Ball", *ball(0.1, 3, [0.0, 0.0, 0.11]), arrays, modulus=2e4)],
                      [obstacle("Table", vertices, triangles, arrays, motion)], arrays, **NEW)
    part = nodes_of(load(job))
    state = part.initial_state()
    for _ in range(24):
        state = part.step(state, H)
        assert distance(part, state) > 0.0
        assert not crosses(part, state)
    assert part.coordinates.positions(state.q, state.time)[:, 2].max() > 0.4


def test_the_benchmark_s_scenes_touch_from_where_they_are_measured(tmp_path):
    from benchmarks import contact
    block = touching.resting_block(tmp_path / "block", (3, 3, 2), H, True)
    state = block.initial_state()
    assert distance(block, state) < block.contacts[0].activation
    for _ in range(contact.STEPS["share"]):  # it is lifted at first, and lies then
        state = block.step(state, H)
    assert distance(block, state) < block.contacts[0].activation
    balls = touching.balls_in_a_box(tmp_path / "balls", 20, 2, H)
    state = balls.initial_state()
    for _ in range(contact.STEPS["ducks"]):
        state = balls.step(state, H)
    x = balls.coordinates.positions(state.q, state.time)
    owner = np.repeat(np.arange(21), [*(body.nodes.stop - body.nodes.start for body in balls.bodies_in_world), 4])
    pairs = np.unique(np.sort(owner[balls.contacts[0].find_active_pairs(x).nodes[:, [0, 3]]], axis=1), axis=0)
    # the lower layer and the floor, both layers, and neighbours
    assert len(pairs) > 20
    jellies = touching.ten_jellies(tmp_path / "jellies", 2, H)
    assert not crosses(jellies, jellies.initial_state())


@pytest.mark.parametrize("size, cells", some([(1.0, 2), (0.3, 1)], (0.3, 1)))
def test_what_has_nowhere_to_go_says_where_and_what_helps(tmp_path, size, cells):
    """A plate that is led through a block and the floor below it, to where nothing moves or rounding is all there is.
    """
    arrays = {}
    vertices, triangles = sheet(size, cells, z=0.112)
    motion = np.repeat(vertices[None], 49, axis=0)
    motion[1:, :, 2] = -0.3
    job = contact_job(tmp_path / "job", [soft("Block", *box((1, 1, 1), (0.1, 0.1, 0.1), (0, 0, 0.006)), arrays)],
                      [obstacle("Floor", *sheet(size, cells), arrays),
                       obstacle("Plate", vertices, triangles, arrays, motion)], arrays, **NEW)
    part = nodes_of(load(job))
    with pytest.raises(StepFailed, match=r"blocked .*near \(.*, .*, .*\) m, with .* of its motion left") as failed:
        part.step(part.initial_state(), H)
    assert "more room" in failed.value.remedy and "lower the friction" in failed.value.remedy


def test_what_touches_is_solved_from_where_the_last_factor_leads(tmp_path, monkeypatch):
    """Bodies that lie on each other move as that factor predicts, nothing meets there, and fewer are made."""
    led, from_last = [], initial_guess._extrapolate_by_last_factor

    def noted(problem, at_start):
        found = from_last(problem, at_start)
        if found is not None:
            led.append(found.merit)
            x = problem.positions(problem.velocities(found.unknowns))
            assert problem.physics.largest_step(at_start, x) == 1.0
            assert found.merit < problem.evaluate(problem.unknowns_at(at_start)).merit
        return found

    def factors(name, leads):
        monkeypatch.setattr(initial_guess, "_extrapolate_by_last_factor", leads)
        part = balls_in_a_box(tmp_path / name, 16, 3, H)
        return sum(followed(part, part.initial_state(), 6)[1])

    assert factors("led", noted) < 0.8 * factors("flown", lambda problem, at_start: None)
    assert len(led) > 5


def test_what_would_push_hard_is_solved_from_further_back(tmp_path, monkeypatch):
    """Balls that fly on as far as nothing meets would push by far more than where they end up."""
    begins, back = [], initial_guess.backtrack_to_step_start

    def noted(problem, at, at_start):
        low = back(problem, at, at_start)
        begins.append((at.merit, low.merit))
        here, there = (problem.positions(problem.velocities(end.unknowns)) for end in (at, low))
        assert problem.physics.largest_step(here, there) == 1.0
        return low

    monkeypatch.setattr(initial_guess, "_extrapolate_by_last_factor", lambda problem, at_start: None)

    def factors(name, begins_at):
        monkeypatch.setattr(initial_guess, "backtrack_to_step_start", begins_at)
        part = balls_in_a_box(tmp_path / name, 16, 3, H)
        return sum(followed(part, part.initial_state(), 6)[1])

    assert factors("back", noted) < factors("on", lambda problem, at, at_start: at)
    assert all(low <= first for first, low in begins)
    assert min(low / first for first, low in begins if first > 0.0) < 0.5


def test_a_stage_ends_where_its_next_step_leaves_no_energy(tmp_path, monkeypatch):
    """A solve on the last factor says so where another iteration would take a factor of its own."""
    monkeypatch.setattr(touching, "CELLS", (70, 6, 1))
    now, before = (touching.folded_mat(tmp_path / name, 1 / 96, True) for name in ("now", "before"))
    state, worth = now.initial_state(), ContactIterations.worth_a_solve
    state.u.reshape(-1, 3)[now.coordinates.positions(state.q, 0.0)[now.coordinates.free, 2] > 0.0, 2] -= 0.2
    for _ in range(8):
        monkeypatch.setattr(ContactIterations, "worth_a_solve", 0.0)
        other = before.step(state, 1 / 96)
        monkeypatch.setattr(ContactIterations, "worth_a_solve", worth)
        state = now.step(state, 1 / 96)
        assert np.abs(state.q - other.q).max() < 1e-4
    assert now.factored < 0.95 * before.factored
