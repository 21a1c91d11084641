"""Jobs whose soft bodies hang on bones, from scene.json to frames."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from bodies import NONE, make
from bones import Chain, Link, carried_step
from jointed import solved_stages
from matrix import some
from mechanisms import HINGE_ALONG_Y
from small_jobs import box_job, box_tets, change
from worlds import world_of as scene_world

from solver.build.volumes import volumes_of
from solver.cli import main
from solver.coordinates.attached import Attached
from solver.errors import BadInput, BadScene, Diverged, StepFailed
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import Timeline, advance_frame
from solver.world.world import World

BOX = {"kind": "box", "params": {"size_x": 0.2, "size_y": 0.05, "size_z": 0.05}}
CELLS = (4, 2, 2)


def arm_job(folder, *, end=4, method="conjac", rate=(0.0, 0.0), kind="revolute", **scene):
    """A soft bar of 20 cm glued to two boxes on hinges, its left face to the upper one and its right face to the lower,
    which lies beyond; one dynamic node in the middle."""
    job = box_job(folder, end=end, motion=False, step=1 / 48, cells=CELLS,
                  method={"kind": method, "params": {"beta": 1.0}})
    nodes, _ = box_tets(CELLS)
    for name, value in (("left", 0.0), ("right", 0.2)):
        np.save(job / "arrays" / f"{name}.npy", np.flatnonzero(np.abs(nodes[:, 0] - value) < 1e-9).astype(np.int32))
    middle = np.argmin(np.linalg.norm(nodes - [0.1, 0.05, 0.05], axis=1))
    np.save(job / "arrays" / "dynamic.npy", np.array([middle], np.int32))
    bodies = [{"name": "Upper", "position": [0.0, 0.05, -0.05], "mass": 0.3, "shape": BOX},
              {"name": "Lower", "position": [0.2, 0.05, -0.05], "mass": 0.2, "shape": BOX}]
    joints = [{"name": "Shoulder", "child": "Upper", "position": [-0.1, 0.05, -0.05], "rotation": HINGE_ALONG_Y,
               "rate": [rate[0]]},
              {"name": "Elbow", "child": "Lower", "parent": "Upper", "position": [0.1, 0.05, -0.05],
               "rotation": HINGE_ALONG_Y, "rate": [rate[1]]}]
    if kind == "free":
        joints[0] = {"name": "Shoulder", "child": "Upper", "kind": "free", "rate": [0.0, 0.0, 0.0, *rate, 0.0]}
    change(job, "bodies.0.pin", {})
    change(job, "mechanisms", [{"name": "Arm", "bodies": bodies, "joints": joints}])
    change(job, "bodies.0.attach", [{"mechanism": "Arm", "body": "Upper", "nodes": "arrays/left.npy"},
                                    {"mechanism": "Arm", "body": "Lower", "nodes": "arrays/right.npy"}])
    for key, value in scene.items():
        change(job, key, value)
    return job


def world_of(job) -> World:
    read = load(job)
    return scene_world(read, volumes=volumes_of(read, lambda *_: None))


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_a_job_steps_as_the_arrays_do(tmp_path, method):
    """Against the dense articulated body of the tests, which was written from the recursion alone."""
    h = 1 / 48
    world = world_of(arm_job(tmp_path, method=method, rate=(1.0, -2.0)))
    state = world.initial_state()

    inertia = [m / 12 * np.array([2 * 0.05**2, 0.2**2 + 0.05**2, 0.2**2 + 0.05**2]) for m in (0.3, 0.2)]
    y, half = np.array([0, 1.0, 0]), np.array([0.1, 0, 0])
    chain = Chain([Link(-1, np.array([-0.1, 0.05, -0.05]), half, y, 0.3, inertia[0]),
                   Link(0, half, half, y, 0.2, inertia[1])])
    joints = replace(chain.start([0.0, 0.0]), u=np.array([1.0, -2.0]))
    nodes, tets = box_tets(CELLS)
    left, right = (np.load(tmp_path / "arrays" / f"{name}.npy") for name in ("left", "right"))
    both = np.concatenate([left, right])
    attached = Attached.at(both, np.repeat([0, 1], [len(left), len(right)]).astype(np.int32), nodes[both],
                           chain.bodies(joints).E)
    arrays = make(nodes, tets, young=2e4, poisson=0.4, attached=attached, rates=2, method=method, beta=1.0,
                  dynamic=np.load(tmp_path / "arrays/dynamic.npy") if method == "conjac" else NONE)
    soft = arrays.initial_state(arrays.coordinates.attached.carrier_motion(chain.bodies(joints)))
    for _ in range(10):
        state = world.step(state, h)
        soft, joints = carried_step(arrays, chain, soft, joints, h)
    mine, others = world.split_state(state)
    assert np.abs(others.q - joints.q).max() <= 1e-9 and np.abs(joints.q).min() > 0.05
    x = world.parts[0].coordinates.positions(mine.q, mine.time, mine.carrier_motion)
    assert np.abs(x - arrays.coordinates.positions(soft.q, soft.time, soft.carrier_motion)).max() <= 1e-9


def test_what_is_asked_of_one_state_is_no_answer_to_another(tmp_path):
    """Positions of nodes on bones belong to the given state, independent of earlier queries of other states."""
    world = world_of(arm_job(tmp_path, rate=(2.0, -3.0)))
    early = world.initial_state()
    late = early
    for _ in range(6):
        late = world.step(late, 1 / 48)
    soft = world.split_state(early)[0]
    at_once = world.parts[0].velocity(soft), world.parts[0].evaluate(
        world.parts[0].coordinates.positions(soft.q, soft.time, soft.carrier_motion), soft.time)[0]
    world.split_state(late)
    world.step(late, 1 / 48)
    again = world.parts[0].velocity(soft), world.parts[0].evaluate(
        world.parts[0].coordinates.positions(soft.q, soft.time, soft.carrier_motion), soft.time)[0]
    assert all(np.array_equal(a, b) for a, b in zip(at_once, again))
    assert np.abs(world.parts[0].velocity(world.split_state(late)[0]) - at_once[0]).max() > 0.1


def test_a_step_with_flesh_leaves_bones_as_they_are_alone(tmp_path):
    """The part that flesh adds to their equations is given with a stage, and nothing of it is left in the next."""
    world = world_of(arm_job(tmp_path, rate=(2.0, -3.0)))
    jointed, state = world.parts[1], world.initial_state()
    asked = np.eye(jointed.unknowns)

    def alone():
        return jointed.condensation.by_inertia(jointed.linearise(world.split_state(state)[1]), 0.0)(asked)

    before = alone()
    world.step(state, 1 / 48)
    assert np.array_equal(alone(), before)


@pytest.mark.parametrize("integrator", some(["semi_implicit", "bdf2"], "bdf2"))
def test_a_joined_bake_is_resumed_to_the_same_bytes_and_has_poses(tmp_path, integrator):
    whole, parted = (arm_job(tmp_path / name, end=9, kind="free", rate=(0.3, 0.2), integrator={"kind": integrator})
                     for name in ("whole", "parted"))
    change(whole, "time.snapshot_every", 2)
    change(parted, "time.snapshot_every", 2)
    assert main(["bake", str(whole)], read_stdin=False) == 0
    assert main(["bake", str(parted), "--frames", "1-6"], read_stdin=False) == 0
    assert main(["bake", str(parted), "--resume"], read_stdin=False) == 0
    one, two = Cache(whole / "cache"), Cache(parted / "cache")
    assert len(two.manifest["runs"]) == 2 and two.manifest["runs"][1]["from"] > 1
    for frame in range(1, 10):
        assert one.vertices(frame).tobytes() == two.vertices(frame).tobytes()
        assert one.poses(frame)["pose"].tobytes() == two.poses(frame)["pose"].tobytes()
    assert any("18 soft nodes ride on 2 rigid bodies" in note for note in one.manifest["notes"])

    # attached faces went where the boxes did
    nodes, _ = box_tets(CELLS)
    left = np.load(whole / "arrays/left.npy")
    pose = one.poses(9)["pose"][0]
    there = (nodes[left] - [0.0, 0.05, -0.05]) @ pose[:3, :3].T + pose[:3, 3]
    assert np.abs(one.vertices(9)[left] - there).max() < 1e-6 and np.abs(there - nodes[left]).max() > 0.1


@pytest.mark.long
def test_a_free_fall_and_a_long_spin_keep_what_they_should(tmp_path):
    """A spinning ragdoll of two boxes and flesh: charts move along, the centre flies as a stone, the spin stays."""
    job = arm_job(tmp_path, kind="free", gravity=[0, 0, -9.81], rate=(0.0, 0.0))
    world = world_of(job)
    tree, state = world.parts[1].tree, world.initial_state()
    soft, joints = world.split_state(state)
    # all of it turns about its common centre at 6 rad/s
    spin = np.array([1.0, 2.0, 6.0])
    E = tree.posture(joints.q, joints.u, joints.memory).E
    mass, mine = tree.inertia[:, 5, 5], world.parts[0].mass
    x = world.parts[0].coordinates.positions(soft.q, 0.0, soft.carrier_motion)
    centre = (mass @ E[:, :3, 3] + mine @ x) / (mass.sum() + mine.sum())
    u = np.zeros_like(joints.u)
    u[:6] = [*spin, *np.cross(spin, -centre)]  # the joint's frame stands in the origin
    free = world.parts[0].coordinates.free
    state = world.merge_states([replace(soft, u=np.cross(spin, x - centre)[free].ravel()), replace(joints, u=u)])

    def momentum(state):
        soft, joints = world.split_state(state)
        at = tree.posture(joints.q, joints.u, joints.memory)
        x, v = world.parts[0].coordinates.positions(soft.q, soft.time,
                                                    soft.carrier_motion), world.parts[0].velocity(soft)
        p, total = mine[:, None] * v, np.zeros(6)
        heart = mine @ x
        for R, t, I, phi in zip(at.E[:, :3, :3], at.E[:, :3, 3], tree.inertia, at.twist):
            h = I @ phi
            total += [*(R @ h[3:]), *(R @ h[:3] + np.cross(t, R @ h[3:]))]
            heart = heart + I[5, 5] * t
        heart /= mine.sum() + mass.sum()
        total += [*p.sum(axis=0), *np.cross(x, p).sum(axis=0)]
        return heart, total[:3], total[3:] - np.cross(heart, total[:3])

    first, h, steps = momentum(state), 1 / 960, 480
    assert np.abs(first[1]).max() < 1e-9
    for _ in range(steps):
        state = world.step(state, h)
    heart, linear, angular = momentum(state)
    t = steps * h
    assert np.abs(state.memory["1/joints.centres"]).max() > 0.5  # the chart was moved
    assert heart == pytest.approx(first[0] + [0, 0, -0.5 * 9.81 * t * (t + h)], abs=0.005)
    assert np.linalg.norm(angular - first[2]) < 0.06 * np.linalg.norm(first[2])


@pytest.mark.parametrize("path, value, message", [
    ("integrator", {"kind": "tr_bdf2"}, "TR-BDF2 does not move jointed bodies.*Use Semi-Implicit Euler, .*Backward"),
    ("joint_friction", {"kind": "staggered"}, "ignores the pull of \"Ear\".*Use BISP"),
    ("method.params.adaptive", True, "cannot sleep where \"Ear\" hangs on bones"),
    ("mechanisms.0.joints", [], None),
])
def test_what_bones_and_flesh_cannot_do_is_reported(tmp_path, path, value, message):
    job = arm_job(tmp_path)
    change(job, path, value)
    if message is None:  # boxes that fly freely carry flesh as well as others
        assert len(world_of(job).initial_state().u) == 12 + 3 * 27
        return
    with pytest.raises(BadScene, match=message):
        load(job)


def test_nodes_on_a_body_that_is_prescribed_move_as_it_does(tmp_path):
    """And those on a body that nothing moves stand still: neither costs a column."""
    job = arm_job(tmp_path)
    turns = np.linspace(0.0, 0.6, 7)
    frames = np.tile(np.eye(4), (7, 1, 1))
    frames[:, 0, 0] = frames[:, 1, 1] = np.cos(turns)
    frames[:, 0, 1], frames[:, 1, 0] = -np.sin(turns), np.sin(turns)
    frames[:, :3, 3] = [0.2, 0.05, -0.05]
    np.save(job / "arrays" / "told.npy", frames)
    change(job, "mechanisms.0.joints", [{"name": "Shoulder", "child": "Upper", "kind": "fixed"}])
    change(job, "mechanisms.0.bodies.1.motion", "arrays/told.npy")
    world = world_of(job)
    soft = world.parts[0]
    assert not world.couplings and soft.coordinates.carriers == 0
    state = world.initial_state()
    for _ in range(6):
        state = world.step(state, 1 / 48)
    mine = world.split_state(state)[0]
    x = soft.coordinates.positions(mine.q, mine.time)
    nodes, _ = box_tets(CELLS)
    left, right = (np.load(job / "arrays" / f"{name}.npy") for name in ("left", "right"))
    end = frames[-1, :3, :3] @ (nodes[right] - frames[0, :3, 3])[:, :, None]
    assert x[left] == pytest.approx(nodes[left], abs=1e-14)
    assert x[right] == pytest.approx(end[:, :, 0] + frames[0, :3, 3], abs=1e-12)

    # with a hinge again both are there
    change(job, "mechanisms.0.joints", [{"name": "Shoulder", "child": "Upper", "rotation": HINGE_ALONG_Y}])
    world = world_of(job)
    assert len(world.couplings) == 1 and world.parts[0].coordinates.carriers == 1
    state = world.step(world.initial_state(), 1 / 48)
    assert len(world.parts[0].coordinates.prescribed) == len(left) + len(right) and np.abs(state.u[-1]) > 1e-3


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_joints_feel_what_flesh_pulls_at_their_bodies(tmp_path, method):
    """With a bearing flesh acts on bodies, not rates: without friction the same motion, and joints carry the rest."""
    jobs = [arm_job(tmp_path / kind, method=method, rate=(1.0, -2.0))
            for kind in ("none", "bisp")]
    change(jobs[1], "joint_friction", {"kind": "bisp"})
    change(jobs[1], "mechanisms.0.joints.1.friction", {"mu": 0.0, "radius": 0.02, "length": 0.04})
    worlds = [world_of(job) for job in jobs]
    assert [world.parts[0].coordinates.carriers for world in worlds] == [2, 12]
    ends, stages = [], [solved_stages(world.parts[1]) for world in worlds]
    for world in worlds:
        state = world.initial_state()
        for _ in range(8):
            state = world.step(state, 1 / 48)
        ends.append(state)
    assert np.abs(ends[0].q - ends[1].q).max() <= 1e-9 and np.abs(ends[0].q[-2:]).min() > 0.02

    # what joints carry pushes no hinge along its axis, and holds bones and flesh up against their weight
    world = worlds[1].parts[1]
    posed = stages[1][-1]
    u = ends[1].u[-2:]
    reaction = posed.reaction(u)
    scale = np.abs(reaction).max()
    assert np.abs(world.tree.gather(posed.lin.posture, reaction)).max() <= 1e-9 * scale and scale > 1e-3


def test_a_bearing_brakes_by_what_flesh_pulls(tmp_path):
    """Without weight only the pull of stretched flesh loads the elbow, and its friction lets the arm swing less."""
    swings = []
    for mu in (0.0, 1.5):
        job = arm_job(tmp_path / f"{mu}", rate=(0.0, 3.0), gravity=[0.0, 0.0, 0.0])
        change(job, "joint_friction", {"kind": "bisp"})
        change(job, "mechanisms.0.joints.1.friction", {"mu": mu, "radius": 0.02, "length": 0.04})
        world = world_of(job)
        state, angles = world.initial_state(), []
        for _ in range(40):
            state = world.step(state, 1 / 96)
            angles.append(state.q[-1])
        swings.append(np.abs(np.diff(angles)).sum())
    assert swings[1] < 0.9 * swings[0]


def test_a_step_that_fails_is_halved_and_names_the_body(tmp_path):
    job = arm_job(tmp_path)
    world = world_of(job)
    timeline = Timeline.of(load(job).scene.time)
    state = world.initial_state()
    good = advance_frame(world, state, timeline, 2)
    assert np.isfinite(good.q).all() and json.loads((job / "scene.json").read_text())["mechanisms"]
    wild = replace(state, u=np.full_like(state.u, 1e9))
    with pytest.raises(Diverged, match="Ear|Upper|Lower"):
        advance_frame(world, wild, timeline, 2)
    with pytest.raises(StepFailed):
        world.step(replace(state, u=np.full_like(state.u, np.nan)), 1 / 48)


def test_flesh_on_bones_says_why_it_has_no_acceleration_of_its_own(tmp_path):
    """Requested by integrators from outside, which the loader does not know."""
    world = scene_world(load(arm_job(tmp_path)))
    [ride] = world.couplings
    with pytest.raises(BadScene, match="solved together.*Use an integrator that begins with no accelerations"):
        ride.system.acceleration(ride.merge_states(world.split_state(world.initial_state())))


def test_what_flesh_and_bones_remember_stands_in_one_layout(tmp_path):
    """Each part has its own keys and its own share of a history; a snapshot of another layout is refused."""
    world = world_of(arm_job(tmp_path, kind="free", rate=(0.3, 0.2), integrator={"kind": "bdf2"}))
    state = world.initial_state()
    for k in range(3):
        state = world.step(replace(state, time=k / 48), 1 / 48)
    flesh, bones = world.split_state(state)
    assert {key.partition("/")[0] for key in state.memory} == {"0", "1"}
    assert len(flesh.memory["bdf2.q"]) == len(flesh.q) and len(bones.memory["bdf2.q"]) == len(bones.q) == 7
    again = world.merge_states(world.split_state(state), state)
    assert again.memory.keys() == state.memory.keys() and np.array_equal(again.q, state.q)
    # one part of both, as it was before: joints with keys of their own, or the whole history with the flesh
    whole = np.concatenate([flesh.memory["bdf2.q"], bones.memory["bdf2.q"]])
    for key, value in (("0/joints/joints.h", np.ones(1)), ("2/bdf2.h", np.ones(1)), ("0/bdf2.q", whole)):
        with pytest.raises(BadInput, match="kept what parts remember elsewhere") as refused:
            world.step(replace(state, memory={**state.memory, key: value}), 1 / 48)
        assert "Free the cache" in str(refused.value)


def test_attachments_that_make_no_sense_are_refused(tmp_path):
    world = world_of(arm_job(tmp_path))
    [soft, bones], [ride] = world.parts, world.couplings
    with pytest.raises(BadScene, match="The carrier of a part is not in the scene"):
        World([soft], couplings=[ride])
    with pytest.raises(BadScene, match="is carried itself, or a part has two carriers"):
        World([soft, bones], couplings=[ride, ride])
    back = SimpleNamespace(parts=(bones, soft), notes=[])
    with pytest.raises(BadScene, match="is carried itself"):
        World([soft, bones], couplings=[ride, back])


@pytest.mark.parametrize("kind", ["vanilla", "conjac"])
def test_flesh_that_flies_with_bones_is_braked_by_a_ground_that_rubs(tmp_path, kind):
    """In linearised steps of both; the ground is a ceiling, since its bones are below the flesh."""
    ends = []
    for law in ({}, {"friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}}):
        ceiling = {"point": [0.0, 0.0, 0.12], "normal": [0.0, 0.0, -1.0], "stiffness": 2e3}
        job = arm_job(tmp_path / f"{len(law)}", method=kind, kind="free", gravity=[0.0, 0.0, 9.81],
                      ground=ceiling | law)
        change(job, "mechanisms.0.joints.0.rate", [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        world = world_of(job)
        state, touched = world.initial_state(), 0
        for _ in range(12):
            state = world.step(state, 1 / 96)
            touched += len(world.parts[0].touching(world.split_state(state)[0])) > 0
        assert touched > 3
        ends.append(state.u @ state.u)
    assert ends[1] < 0.8 * ends[0], ends
