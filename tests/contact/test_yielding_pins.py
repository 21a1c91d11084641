"""Animated pins that press their part through something: told with the place, or giving way where they may."""

import numpy as np
import pytest
from small_jobs import change
from touching import QUICK, box, contact_job, crosses, distance, obstacle, sheet, soft
from worlds import nodes_of

from solver.build.world import build
from solver.errors import BadScene, Diverged, StepFailed
from solver.job.load import load
from solver.simulate import Halved, advance

H = 1 / 96


def pressed(folder, down=0.3, **scene):
    """A block whose lower face is pinned and goes down through a sheet and up again, in half a second each way."""
    arrays = {}
    nodes, tets = box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.1))
    pinned = np.flatnonzero(nodes[:, 2] < 0.101)
    times = np.arange(49) / 48
    way = down * np.minimum(1.0 - np.abs(2.0 * times - 1.0), 1.0)
    arrays["motion"] = nodes[pinned] - way[:, None, None] * [0.0, 0.0, 1.0]
    body = soft("Block", nodes, tets, arrays, modulus=3e4, pinned=pinned)
    body["pin"]["node_motion"] = "arrays/motion.npy"
    return contact_job(folder, [body], [obstacle("Table", *sheet(1.0, 3), arrays)], arrays,
                       **{"stage_solver": {"kind": "quick"}, **scene})


def test_hard_pins_are_reported_with_the_position(tmp_path):
    part = nodes_of(load(pressed(tmp_path / "job")))
    state = part.initial_state()
    with pytest.raises(StepFailed, match=r'^the pin of "Block" is blocked by "Table" near \(') as refused:
        for _ in range(48):
            state = part.step(state, H)
    assert "Pins Yield" in refused.value.remedy


def test_where_pins_are_stuck_is_found_in_a_few_factors(tmp_path):
    """It took sixty in each step that was tried."""
    part = nodes_of(load(pressed(tmp_path / "job")))
    state, before = part.initial_state(), 0
    with pytest.raises(StepFailed, match='is blocked by "Table"'):
        for _ in range(48):
            before = part.linear.factored
            state = part.step(state, H)
    assert part.linear.factored - before <= 20


def test_shorter_steps_before_stuck_pins_are_named_take_few_factors(tmp_path):
    """With all steps that were tried, down to a sixteenth, it took 240."""
    part = nodes_of(load(pressed(tmp_path / "job")))
    state, before, halved = part.initial_state(), 0, Halved()
    with pytest.raises(Diverged, match='the pin of "Block" is blocked by "Table" near'):
        for _ in range(48):
            before = part.linear.factored
            state = advance(part, state, H, 1, halved=halved, largest=0.5)
    assert part.linear.factored - before <= 60
    assert len(halved) == 4


@pytest.mark.parametrize("method,integrator", [("vanilla", "backward_euler"), ("vanilla", "semi_implicit"),
                                               pytest.param("conjac", "sdirk2", marks=pytest.mark.long)])
def test_yielding_pins_stay_before_what_is_in_their_way_and_come_back(tmp_path, method, integrator):
    job = pressed(tmp_path / "job", method={"kind": method}, integrator={"kind": integrator})
    change(job, "bodies.0.pins_yield", True)
    part = nodes_of(load(job))
    state, pins = part.initial_state(), part.pulls[-1]
    deepest, notes_before = np.inf, len(part.notes)
    for k in range(96):
        state = part.step(state, H)
        x = part.coordinates.positions(state.q, state.time)
        assert not crosses(part, state) and distance(part, state) > 0.0
        deepest = min(deepest, float(x[:27, 2].min()))
        if k == 12:  # in the air it goes where it is told, but for a hair
            assert np.abs(x[pins.nodes] - pins.targets.at(state.time)).max() < 0.004
    # 20 cm below the table is where they were told to go
    assert 0.0 < deepest < 0.01
    assert np.abs(x[pins.nodes] - pins.targets.at(state.time)).max() < 0.01
    yielding_notes = [note for note in part.notes[notes_before:] if "give way" in note]
    assert len(yielding_notes) == 1 and '"Block"' in yielding_notes[0]
    assert "at frame 5" in yielding_notes[0] and "near (" in yielding_notes[0]
    assert any("gave way by up to 0.2" in sentence for sentence in part.summary)


def test_a_number_is_no_answer(tmp_path):
    job = pressed(tmp_path / "job")
    change(job, "bodies.0.pins_yield", 3)
    with pytest.raises(BadScene, match="pins_yield"):
        load(job)


def on_a_bone(folder, bone, down=0.3, **scene):
    """A block whose lower face hangs on a bone, over a sheet; told to go through it and up again as the block above."""
    arrays = {}
    nodes, tets = box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.1))
    times = np.arange(49) / 48
    arrays["way"] = np.tile(np.eye(4), (49, 1, 1))
    arrays["way"][:, 2, 3] = 0.2 - down * np.minimum(1.0 - np.abs(2.0 * times - 1.0), 1.0)
    arrays["held"] = np.flatnonzero(nodes[:, 2] < 0.101).astype(np.int32)
    body = soft("Block", nodes, tets, arrays, modulus=3e4, pins_yield=True,
                attach=[{"mechanism": "Rig", "body": "Bone", "nodes": "arrays/held.npy"}])
    mechanism = {"name": "Rig", "bodies": [{"name": "Bone", "position": [0.0, 0.0, 0.2], **bone}]}
    return contact_job(folder, [body], [obstacle("Table", *sheet(1.0, 3), arrays)], arrays, mechanisms=[mechanism],
                       **{"stage_solver": {"kind": "quick"}, **scene})


def test_flesh_gives_way_to_what_an_animated_bone_drives_it_through(tmp_path):
    job = on_a_bone(tmp_path / "job", {"motion": "arrays/way.npy"})
    world = build(load(job), lambda *_: None)[0]
    state, part = world.initial_state(), world.parts[0]
    deepest, soft_pins = np.inf, part.pulls[-1]
    for k in range(96):
        state = world.step(state, H)
        mine = world.split_state(state)[0]
        x = part.coordinates.positions(mine.q, mine.time, mine.carrier_motion)
        assert part.contacts[0].surfaces.intersection(x) is None
        deepest = min(deepest, float(x[:27, 2].min()))
        if k == 12:
            assert np.linalg.norm(soft_pins._goals(x, 0.0) - x[soft_pins.nodes], axis=1).max() < 0.004
    assert 0.0 < deepest < 0.01
    assert x[soft_pins.nodes] == pytest.approx(part.rest[soft_pins.nodes], abs=0.01)
    assert any('What bones hold of "Block" gave way by up to 0.2' in sentence for sentence in part.summary)
    # as it was, it has no way through
    change(job, "bodies.0.pins_yield", False)
    world = build(load(job), lambda *_: None)[0]
    state = world.initial_state()
    with pytest.raises(StepFailed, match="near"):
        for _ in range(48):
            state = world.step(state, H)


def test_a_bone_carries_the_flesh_that_its_pins_hold(tmp_path):
    """Without weight: the flesh is thrown and takes the bone along, and together they keep their momentum."""
    shape = {"kind": "box", "params": {"size_x": 0.1, "size_y": 0.1, "size_z": 0.1}}
    job = on_a_bone(tmp_path / "job", {"shape": shape, "density": 500.0}, gravity=[0.0, 0.0, 0.0])
    world = build(load(job), lambda *_: None)[0]
    state, [flesh, bones] = world.initial_state(), world.parts
    soft, joints = world.split_state(state)
    soft.u.reshape(-1, 3)[:, 0] = 0.3
    state = world.merge_states([soft, joints])
    mass, bone = flesh.mass, bones.tree.inertia[0]
    before = 0.3 * mass.sum()
    for _ in range(24):
        state = world.step(state, H)
    soft, joints = world.split_state(state)
    at = bones.tree.posture(joints.q, joints.u, joints.memory)
    of_bone = at.E[0, :3, :3] @ (bone[3:, 3:] @ at.twist[0, 3:])
    of_flesh = (mass[:, None] * flesh.velocity(soft)).sum(axis=0)
    assert of_bone[0] > 0.05 * before
    assert (of_bone + of_flesh)[0] == pytest.approx(before, rel=1e-3)


def fork(folder, yields):
    """A fork that collides with itself: the pinned outer sides of its prongs pass each other and come back, as an
    armpit's skin is brought through skin by its bones, in half a second."""
    nodes, tets = box((6, 2, 4), (0.3, 0.1, 0.2))
    x, z = nodes[tets].mean(axis=1)[:, [0, 2]].T
    used, tets = np.unique(tets[(x < 0.1) | (x > 0.2) | (z < 0.05)], return_inverse=True)
    nodes, tets = nodes[used], tets.reshape(-1, 4).astype(np.int32)
    outer = np.flatnonzero((nodes[:, 2] > 0.09) & (np.abs(nodes[:, 0] - 0.15) > 0.15 - 1e-9))
    way = 0.16 * np.minimum(1.0 - np.abs(np.arange(25) / 12.0 - 1.0), 1.0)
    arrays = {"motion": nodes[outer] + (way[:, None] * np.sign(0.15 - nodes[outer, 0]))[:, :, None] * [1.0, 0.0, 0.0]}
    body = soft("Fork", nodes, tets, arrays, modulus=3e4, pinned=outer, pins_yield=yields, touches=["Fork"])
    body["pin"]["node_motion"] = "arrays/motion.npy"
    return nodes_of(load(contact_job(folder, [body], [], arrays, end=13, step=2 * H, gravity=[0.0, 0.0, 0.0], **QUICK)))


def test_skin_that_pins_bring_through_skin_stays_before_it_and_is_not_drawn_out(tmp_path):
    part = fork(tmp_path / "yields", True)
    state, longest = part.initial_state(), 0.0
    corners = part.tets[:, [0, 0, 0, 1, 1, 2]], part.tets[:, [1, 2, 3, 2, 3, 3]]
    lengths = [np.linalg.norm(np.subtract(*(part.rest[end] for end in corners)), axis=2)]
    for _ in range(16):
        state = part.step(state, 2 * H)
        x = part.coordinates.positions(state.q, state.time)
        assert not crosses(part, state)
        lengths.append(np.linalg.norm(np.subtract(*(x[end] for end in corners)), axis=2))
        longest = max(longest, float((lengths[-1] / lengths[0]).max()))
    # 2.6 at most; bones stretch the skin of a torso's armpit by 2.9 before anything touches
    assert 1.5 < longest < 3.0
    assert any("gave way by up to 0.0" in sentence for sentence in part.summary)
    part = fork(tmp_path / "hard", False)
    state = part.initial_state()
    with pytest.raises(StepFailed, match='pin of "Fork" is blocked .* of its motion left'):
        for _ in range(24):
            state = part.step(state, 2 * H)
