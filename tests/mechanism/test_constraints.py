"""Scenes of mechanisms with loops, drives, limits and contacts, through their integrators."""

import numpy as np
import pytest
from jointed import solved_stages
from matrix import some
from mechanisms import HINGE_ALONG_Y, mechanism_job, mechanism_world, run

from solver.build.constraints import notes_of
from solver.cli import main
from solver.errors import BadInput, StepFailed

CRANK, COUPLER, ROCKER, BASE = 0.3, 0.8, 0.6, 0.9
DENSITY = 1000.0


def rod(name, start, end, mass=1.0):
    """A thin box from one point of the x-z plane to another."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    along = end - start
    angle = -np.arctan2(along[1], along[0])  # about Y
    return {"name": name, "mass": mass, "position": [*(0.5 * (start + end) * [1, 1])[:1], 0, 0.5 * (start + end)[1]],
            "rotation": [np.cos(angle / 2), 0, np.sin(angle / 2), 0], "is_collider": False,
            "shape": {"kind": "box", "params": {"size_x": float(np.hypot(*along)), "size_y": 0.02, "size_z": 0.02}}}


def hinge(name, child, parent, at, **more):
    return {"name": name, "child": child, "parent": parent, "position": [at[0], 0, at[1]], "rotation": HINGE_ALONG_Y,
            **more}


def four_bar(crank=0.7, **motor):
    """Crank and coupler from the origin, rocker from (BASE, 0), joined by a loop."""
    end = CRANK * np.array([np.cos(crank), np.sin(crank)])
    to = np.array([BASE, 0.0]) - end
    d = np.hypot(*to)
    angle = np.arctan2(to[1], to[0]) + np.arccos((COUPLER**2 + d**2 - ROCKER**2) / (2 * COUPLER * d))
    top = end + COUPLER * np.array([np.cos(angle), np.sin(angle)])
    bodies = [rod("Crank", (0, 0), end), rod("Coupler", end, top), rod("Rocker", (BASE, 0), top)]
    joints = [hinge("A", "Crank", None, (0, 0), **motor), hinge("B", "Coupler", "Crank", end),
              hinge("D", "Rocker", None, (BASE, 0))]
    loops = [{"name": "C", "kind": "point_on_line", "body_a": "Coupler", "body_b": "Rocker",
              "position": [top[0], 0, top[1]], "rotation": HINGE_ALONG_Y}]
    return bodies, joints, loops


def built(folder, bodies, joints, **options):
    return mechanism_world(folder, bodies, joints, gravity=options.pop("gravity", [0, 0, -9.81]), **options)


def planks(sag):
    """Five in a row between two places of the world, whose joints hang down by `sag` metres in the middle."""
    across = np.linspace(-0.5, 0.5, 6)
    points = np.stack([across, sag * (4.0 * across**2 - 1.0)], axis=1)
    bodies = [rod(f"Plank {k}", points[k], points[k + 1]) for k in range(5)]
    joints = [hinge(f"Joint {k}", f"Plank {k}", f"Plank {k - 1}" if k else None, points[k]) for k in range(5)]
    loops = [{"name": "Far End", "kind": "hinge", "body_a": "Plank 4", "position": [0.5, 0, 0],
              "rotation": HINGE_ALONG_Y}]
    return bodies, joints, loops


@pytest.mark.parametrize("integrator", ["semi_implicit", "sdirk2"])
def test_a_ring_that_is_stretched_straight_is_named_where_it_cannot_move(tmp_path, capsys, integrator):
    """A bridge of planks modelled level: nothing of its settings would help, but for slack."""
    bodies, joints, loops = planks(0.0)
    job = mechanism_job(tmp_path / "level", bodies, joints, loops=loops, integrator=integrator, gravity=[0, 0, -9.81])
    assert main(["bake", str(job)], read_stdin=False) == 3
    printed = capsys.readouterr().err
    assert '"Far End" closes is stretched straight' in printed and "leave it some slack" in printed
    assert "Lower the step" not in printed
    bodies, joints, loops = planks(0.1)
    world = built(tmp_path / "slack", bodies, joints, loops=loops, integrator=integrator)
    assert world.suggest_remedy(world.initial_state()) == ""
    assert loop_of(world, run(world, 1 / 48, 48)) < 1e-9


@pytest.mark.parametrize("crank", [0.0, 0.7, 2.0, np.pi])
def test_a_ring_that_turns_is_not_taken_for_a_straight_one(tmp_path, crank):
    """At 0 and π its crank is in one line with the base, and it turns on all the same."""
    bodies, joints, loops = four_bar(crank)
    world = built(tmp_path, bodies, joints, loops=loops)
    assert world.suggest_remedy(world.initial_state()) == ""


def loop_of(world, state):
    return float(world.poses(state)["loops"].max())


def test_loops_that_cannot_be_compared_are_reported(tmp_path):
    """Because nothing resists a joint: the world continues, and its notes say what is unknown."""
    bodies, joints, loops = four_bar()
    world = built(tmp_path, bodies, joints, loops=loops)
    assert notes_of(world, world.constraints, [], {}) == []
    for inertia in (world.tree.inertia, world.condensation.diagonal):
        inertia[1:] = 0.0
    [note] = notes_of(world, world.constraints, [], {})
    assert note.startswith("Whether loops are redundant could not be determined, since its joint has a "
                           "direction that nothing resists")


def test_semi_implicit_steps_lose_energy_half_as_much_with_half_the_step(tmp_path):
    bodies, joints, loops = four_bar()
    world = built(tmp_path, bodies, joints, loops=loops, integrator="semi_implicit")
    start = world.initial_state()
    coarse, fine = (world.energy(start) - world.energy(run(world, h, round(2 / h))) for h in (0.0025, 0.00125))
    assert 0.4 * coarse < fine < 0.6 * coarse and coarse < 1.38  # of 3 J between top and bottom


@pytest.mark.parametrize("integrator, bound", some(
    [("sdirk2", 0.003), ("bdf2", 0.03), ("semi_implicit", 1.38), ("leapfrog", 1.38)],
    ("sdirk2", 0.003), ("semi_implicit", 1.38), ("leapfrog", 1.38)))
def test_a_four_bar_linkage_swings_with_its_loop_closed(tmp_path, integrator, bound):
    bodies, joints, loops = four_bar()
    world = built(tmp_path, bodies, joints, loops=loops, integrator=integrator)
    state, energies = world.initial_state(), []
    h = 0.0025 if integrator == "semi_implicit" else 0.005
    for _ in range(round(2 / h)):
        state = world.step(state, h)
        assert loop_of(world, state) < 1e-9
        energies.append(world.energy(state))
    assert np.abs(np.array(energies) - energies[0]).max() < bound  # of 3 J between top and bottom
    assert integrator != "semi_implicit" or np.diff(energies).max() < 0.0
    assert abs(state.q[0]) > 0.5
    # rates keep it closed too
    posture = world.linearise(state).posture
    assert np.abs(world.constraints.loops.rows(posture.E)[0].velocity(posture.twist, state.u)).max() < 1e-8


@pytest.mark.long
def test_loops_hold_for_a_minute_without_energy_drifting(tmp_path):
    bodies, joints, loops = four_bar()
    world = built(tmp_path, bodies, joints, loops=loops, integrator="sdirk2")
    state = world.initial_state()
    start, worst = world.energy(state), 0.0
    for _ in range(12000):
        state = world.step(state, 0.005)
        worst = max(worst, loop_of(world, state))
    assert worst < 1e-8
    assert abs(world.energy(state) - start) < 0.25


SWING, PERIOD, SPAN = 0.8, 0.5, 0.4


def torque_error(folder, integrator, h):
    """Return the error of the torque that turns a rod by a sine, (largest, at the end) [N m]."""
    samples, speed = 8, 2 * np.pi / PERIOD
    target = SWING * np.sin(speed * np.arange(24 * samples + 1) / (24 * samples))[:, None]
    bodies = [{"name": "Rod", "mass": 2.0, "position": [0.3, 0, 0], "is_collider": False,
               "shape": {"kind": "box", "params": {"size_x": 0.6, "size_y": 0.05, "size_z": 0.05}}}]
    joints = [hinge("Pin", "Rod", None, (0, 0), motor={"mode": {"kind": "drive"}, "target": "arrays/target.npy"},
                    rate=[SWING * speed])]
    world = built(folder, bodies, joints, integrator=integrator, end=25, samples=samples, arrays={"target": target})
    inertia = 2.0 / 12 * (0.6**2 + 0.05**2) + 2.0 * 0.3**2
    state, worst = world.initial_state(), 0.0
    for k in range(round(SPAN / h)):
        state = world.step(state, h)
        t = h * (k + 1)
        angle = SWING * np.sin(speed * t)
        assert state.q[0] == pytest.approx(angle, abs=2e-5)
        exact = -inertia * speed**2 * angle - 2.0 * 9.81 * 0.3 * np.cos(angle)  # the hinge turns x down
        if k > 2:
            worst = max(worst, abs(world.poses(state)["effort"][0] - exact))
    return worst


@pytest.mark.parametrize("integrator, order, largest", [("semi_implicit", 1, 3.0), ("leapfrog", 1, 3.0),
                                                        ("backward_euler", 1, 2.0), ("sdirk2", 1, 1.4),
                                                        ("bdf2", 2, 0.2)])
def test_the_torque_of_a_driven_pendulum_is_that_of_its_closed_form(tmp_path, integrator, order, largest):
    """It swings between 30 N m both ways. A stage of SDIRK2 knows accelerations to first order."""
    first, second = (torque_error(tmp_path / f"{h}", integrator, h) for h in (0.01, 0.005))
    assert first < largest and np.log2(first / second) == pytest.approx(order, abs=0.15)


def test_a_drive_lets_go_and_one_with_a_limit_gives_way(tmp_path):
    bodies, joints = [rod("Rod", (0, 0), (0.6, 0), 2.0)], [hinge("Pin", "Rod", None, (0, 0), motor={
        "mode": {"kind": "drive"}, "target": [0.0], "until": 7})]
    world = built(tmp_path / "a", bodies, joints, end=25)
    state = run(world, 0.01, 24)
    assert abs(state.q[0]) < 1e-9
    assert run(world, 0.01, 10, state).q[0] > 0.03
    joints[0]["motor"] = {"mode": {"kind": "drive"}, "target": [0.0], "limit": 3.0}
    world = built(tmp_path / "b", bodies, joints, end=25)
    state = run(world, 0.01, 10)
    assert state.q[0] > 0.01 and world.poses(state)["effort"][0] == pytest.approx(-3.0)
    joints[0]["motor"]["limit"] = 8.0
    world = built(tmp_path / "c", bodies, joints, end=25)
    state = run(world, 0.01, 10)
    assert abs(state.q[0]) < 1e-9 and world.poses(state)["effort"][0] == pytest.approx(-2.0 * 9.81 * 0.3)


def test_a_pendulum_stops_at_its_limit_and_is_pulled_in_from_outside(tmp_path):
    bodies, joints = [rod("Rod", (0, 0), (0.6, 0))], [hinge("Pin", "Rod", None, (0, 0), low=[-1.0], high=[0.4])]
    world = built(tmp_path / "a", bodies, joints)
    state, farthest = world.initial_state(), 0.0
    for _ in range(100):
        state = world.step(state, 0.01)
        farthest = max(farthest, state.q[0])
    assert farthest == pytest.approx(0.4, abs=1e-9) and state.q[0] == pytest.approx(0.4, abs=1e-9)
    joints[0] |= {"low": [-1.0], "high": [-0.5]}
    world = built(tmp_path / "b", bodies, joints)
    assert any("starts outside its limits" in note for note in world.notes)
    state, fastest = world.initial_state(), 0.0
    for _ in range(100):
        state = world.step(state, 0.01)
        fastest = max(fastest, abs(state.u[0]))
    # by as much as a limit pushes, no faster
    assert state.q[0] == pytest.approx(-0.5, abs=1e-3) and fastest == pytest.approx(1.0, abs=1e-6)


def test_needless_loops_are_named(tmp_path):
    bodies, joints, loops = four_bar()
    world = built(tmp_path / "a", bodies, joints, loops=loops)
    assert not world.notes
    world = built(tmp_path / "b", bodies, joints, loops=[{**loops[0], "kind": "hinge"}])
    assert [note for note in world.notes if "constrain already" in note and note.endswith(": C")]
    state = run(world, 0.005, 100)
    assert loop_of(world, state) < 1e-9


def test_bodies_of_a_scene_touch_ground_obstacles_and_other_mechanisms(tmp_path):
    cube = {"kind": "box", "params": {"size_x": 0.2, "size_y": 0.2, "size_z": 0.2}}
    lift = np.tile(np.eye(4), (2 * 24 + 1, 1, 1))
    lift[:, 0, 3], lift[:, 2, 3] = 2.0, 0.1 + 0.2 * np.arange(49) / 48.0
    bodies = [{"name": "Cube", "position": [0, 0, 0.1], "shape": cube},
              {"name": "Lift", "position": [2, 0, 0.1], "shape": cube, "motion": "arrays/lift.npy"},
              {"name": "Load", "position": [2, 0, 0.3], "shape": cube}]
    world = built(tmp_path, bodies, [], end=25, samples=2, arrays={"lift": lift},
                  ground={"point": [0, 0, 0], "normal": [0, 0, 1],
                          "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}})
    state = run(world, 1 / 96, 96)
    pose = world.poses(state)["pose"]
    assert pose[0, :3, 3] == pytest.approx([0, 0, 0.1], abs=1e-6)
    assert pose[2, :3, 3] == pytest.approx([2, 0, 0.5], abs=1e-4)


def test_a_loop_that_is_torn_apart_fails_the_step(tmp_path):
    bodies, joints, loops = four_bar()
    # two drives that no linkage can follow at once
    joints[0]["motor"] = {"mode": {"kind": "drive"}, "target": [0.0]}
    joints[2]["motor"] = {"mode": {"kind": "drive"}, "target": [1.0]}
    world = built(tmp_path, bodies, joints, loops=loops)
    with pytest.raises(StepFailed, match="stays open|contradict"):
        run(world, 0.01, 2)


def test_what_is_driven_all_the_way_goes_through_the_ground_and_its_limits_as_reported(tmp_path):
    """A box driven down through the ground, an arm on it driven beyond its limit, and a free ball beside that lands."""
    down = [0.0, 0.0, 0.0, 0.0, 0.0, -0.5]
    box = {"kind": "box", "params": {"size_x": 0.2, "size_y": 0.2, "size_z": 0.2}}
    bodies = [{"name": "Box", "position": [0, 0, 0.15], "shape": box},
              {"name": "Arm", "position": [0.3, 0, 0.15], "shape": box},
              {"name": "Ball", "position": [2, 0, 0.3], "shape": {"kind": "sphere", "params": {"radius": 0.1}}}]
    samples = np.linspace(0.0, 1.0, 5)[:, None]
    joints = [{"name": "Box", "child": "Box", "kind": "free", "position": [0, 0, 0.15],
               "motor": {"mode": {"kind": "drive"}, "target": "arrays/down.npy"}},
              hinge("Arm", "Arm", "Box", (0.15, 0.15), low=[-0.1], high=[0.1],
                    motor={"mode": {"kind": "drive"}, "target": "arrays/turn.npy"})]
    world = built(tmp_path, bodies, joints, end=3, samples=2, ground={"point": [0, 0, 0], "normal": [0, 0, 1]},
                  arrays={"down": samples * down, "turn": samples * [0.6]})
    state = world.initial_state()
    for _ in range(80):
        state = world.step(state, 1 / 24 / 40)
    at = world.poses(state)["pose"]
    assert at[0, 2, 3] == pytest.approx(0.15 - 0.5, abs=1e-9)
    assert np.arccos(at[1, 0, 0]) == pytest.approx(0.6, abs=1e-8)
    assert at[2, 2, 3] == pytest.approx(0.3 - 0.5 * 9.81 / 144, abs=2e-3)


def test_a_link_passes_through_the_fixed_body_that_it_hangs_on(tmp_path):
    bodies = [rod("arm", (0, -1), (0, 0)), rod("forearm", (0, 0), (1, 0))]
    joints = [{**hinge("screwed", "arm", None, (0, 0)), "kind": "fixed"}, hinge("elbow", "forearm", "arm", (0, 0))]
    free = built(tmp_path / "free", bodies, joints)
    touching = built(tmp_path / "touching", [{**body, "is_collider": True} for body in bodies], joints)
    fallen = run(free, 0.01, 20)
    assert abs(fallen.q[0]) > 0.1
    np.testing.assert_allclose(run(touching, 0.01, 20).q, fallen.q, atol=1e-12)


def test_what_cannot_be_computed_of_loops_is_reported(tmp_path):
    """Bodies so light that nothing finite answers for a push on them, where they are not refused for that."""
    bodies, joints, loops = four_bar()
    for body in bodies:
        body["mass"] = 1e-310
    try:
        with np.errstate(all="ignore"):
            world = built(tmp_path / "a", bodies, joints, loops=loops)
    except BadInput as refusal:
        assert "mass" in str(refusal)
    else:
        assert any(note.startswith("Whether loops are redundant") and "not finite" in note for note in world.notes)


@pytest.mark.parametrize("integrator", ["semi_implicit", "leapfrog", "sdirk2"])
@pytest.mark.parametrize("rubs", [False, True])
def test_a_linkage_starts_at_rates_that_its_loop_and_drives_allow(tmp_path, integrator, rubs):
    """A crank that is thrown takes coupler and rocker along from the first frame on, with the momentum that it has: so
    the first step changes rates by what a step does, and takes no energy for what could not move so."""
    bodies, joints, loops = four_bar()
    joints[0]["rate"] = [4.0]
    more = {}
    if rubs:
        joints = [joint | {"friction": {"mu": 0.01, "radius": 0.01, "length": 0.02}} for joint in joints]
        more = {"joint_friction": {"kind": "bisp", "params": {"passes": 50, "agreement": 1e-8}}}
    world = built(tmp_path / "thrown", bodies, joints, loops=loops, integrator=integrator, gravity=[0, 0, 0], **more)
    state = world.initial_state()
    posture = world.linearise(state).posture
    assert np.abs(world.constraints.loops.rows(posture.E)[0].velocity(posture.twist, state.u)).max() < 1e-12
    # what the joints' impulses leave of the thrown crank: M (u − u⁰) = Gᵀ λ, so no work on motions that the loop allows
    J = world.tree.jacobian(posture).reshape(world.tree.count, 6, -1)
    mass = np.einsum("nar,nab,nbs->rs", J, world.tree.inertia, J)
    assert state.u @ mass @ (state.u - [4.0, 0.0, 0.0]) == pytest.approx(0.0, abs=1e-12)
    assert np.abs(state.u).min() > 0.1
    after = world.step(state, 1e-4)
    assert np.abs(after.u - state.u).max() < 0.02 * np.abs(state.u).max()
    assert world.energy(after) == pytest.approx(world.energy(state), rel=1e-2)


def test_a_driven_joint_starts_at_the_rate_that_it_is_given(tmp_path):
    turn = np.linspace(0.0, 2.0, 9)[:, None]
    bodies, joints, loops = four_bar(motor={"mode": {"kind": "drive"}, "target": "arrays/turn.npy"})
    world = built(tmp_path, bodies, joints, loops=loops, arrays={"turn": turn}, end=9, samples=1)
    state = world.initial_state()
    assert state.u[0] == pytest.approx(0.25 * 24, rel=1e-9)
    posture = world.linearise(state).posture
    assert np.abs(world.constraints.loops.rows(posture.E)[0].velocity(posture.twist, state.u)).max() < 1e-12


def test_what_closes_a_loop_is_no_part_of_the_momentum_that_flies_on(tmp_path):
    """A linkage that tumbles through the air, without weight: what it has where steps are solved stays the same."""
    bodies, joints, loops = four_bar()
    ground = rod("Base", (0, 0), (BASE, 0))
    joints = [{"name": "Fly", "kind": "free", "child": "Base", "rate": [0.5, 2.0, -1.0, 0.3, 0.2, -0.4]},
              *({**joint, "parent": joint.get("parent") or "Base"} for joint in joints)]
    joints[1]["rate"] = [6.0]
    world = built(tmp_path, [ground, *bodies], joints, loops=loops, gravity=[0, 0, 0])
    stages, state, found = solved_stages(world), world.initial_state(), []
    for _ in range(60):
        before, state = state, world.step(state, 0.01)
        at = world.tree.posture(before.q, stages[-1].constraint_solution.rates, before.memory)
        momentum = np.einsum("nab,nb->na", world.tree.inertia, at.twist)[:, 3:]
        found.append(np.einsum("nab,nb->a", at.E[:, :3, :3], momentum))
        assert loop_of(world, state) < 1e-9
    assert np.abs(np.array(found) - found[0]).max() <= 1e-11 * np.abs(found[0]).max()
