"""Soft bodies and rigid ones touch each other, both ways: corners of rigid surfaces ride on joints."""

import numpy as np
import pytest
from matrix import some
from small_jobs import change
from touching import box, contact_job, hollow, obstacle, sheet, soft

from solver.build.rigid_skins import BY_SIZE
from solver.build.world import build
from solver.errors import BadScene, StepFailed
from solver.job.load import load
from solver.nonlinear.bounded import Bounded
from solver.parts.loads import Loads
from solver.parts.stage import NodeStage
from solver.state import State

RIGID = {"name": "Box", "position": [0.02, 0.01, 0.29], "rotation": [0.99, 0.05, 0.1, 0.0], "density": 1000.0,
         "shape": {"kind": "box", "params": {"size_x": 0.12, "size_y": 0.12, "size_z": 0.08}}}


def rigid_on_jelly(folder, floor=True, mechanism=None, **scene):
    """A box over a block of jelly on a sheet."""
    # with ConJac four of its corners and a node in its middle keep their inertia
    arrays = {"dynamic": np.array([2, 11, 22, 38, 47], np.int32)}
    bodies = [soft("Jelly", *box((3, 3, 2), (0.3, 0.3, 0.2), (-0.15, -0.15, 0.01)), arrays, modulus=2e4,
                   dynamic={"nodes": "arrays/dynamic.npy"})]
    obstacles = [obstacle("Floor", *sheet(2.0, 3), arrays)] if floor else []
    return contact_job(folder, bodies, obstacles, arrays, mechanisms=[mechanism or {"name": "M", "bodies": [RIGID]}],
                       **scene)


def made(job):
    return build(load(job), lambda *_: None)[0]


def looked_at(world, state):
    """Positions of all nodes; asserts that nothing crosses."""
    part, mine = world.parts[0], world.split_state(state)[0]
    x = part.coordinates.positions(mine.q, mine.time, mine.carrier_motion)
    law = part.contacts[0]
    assert law.surfaces.intersection(x) is None
    assert (law.find_active_pairs(x).work[:, 16] > 0.0).all()
    return x


@pytest.mark.parametrize("integrator,solver,h", some(
    [("sdirk2", "quick", 1 / 48), ("backward_euler", "newton_d", 1 / 96), ("semi_implicit", "newton_d", 1 / 96)],
    ("sdirk2", "quick", 1 / 48)))
def test_a_rigid_box_that_falls_on_jelly_lies_on_it(tmp_path, integrator, solver, h):
    world = made(rigid_on_jelly(tmp_path / "job", integrator={"kind": integrator}, stage_solver={"kind": solver},
                                step=h))
    state = world.initial_state()
    riders, jelly = world.parts[0].coordinates.attached.nodes, world.parts[0].bodies_in_world[0].nodes
    pressed, top = np.inf, np.inf
    for _ in range(round(0.4 / h)):
        state = world.step(state, h)
        x = looked_at(world, state)
        pressed = min(pressed, x[jelly, 2].max())
        top = min(top, x[riders, 2].min())
    # it has pressed the jelly down and lies on it, where it would have fallen by 0.78 m
    assert pressed < 0.205
    assert 0.15 < top < 0.215
    assert np.ptp(x[riders], axis=0).max() < 0.16


def test_only_what_nothing_moves_is_prescribed(tmp_path):
    path = np.repeat(np.eye(4)[None], 49, axis=0)
    path[:, 2, 3] = 0.6
    arrays = {"path": path}
    bodies = [soft("Jelly", *box(at=(0.0, 0.0, 0.05)), arrays, pinned=[0, 1])]
    led = RIGID | {"name": "Led", "motion": "arrays/path.npy", "position": [0.0, 0.0, 0.6], "rotation": [1, 0, 0, 0]}
    world = made(contact_job(tmp_path / "job", bodies, [obstacle("Floor", *sheet(1.0, 1), arrays)], arrays,
                             mechanisms=[{"name": "M", "bodies": [led, RIGID]}]))
    nodes, floor, corners = world.parts[0].bodies_in_world[0].nodes.stop, 4, 8
    expected = np.zeros(nodes + floor + 2 * corners, bool)
    expected[[0, 1]] = expected[nodes : nodes + floor + corners] = True
    assert world.parts[0].contacts[0].surfaces.is_prescribed.tolist() == expected.tolist()


def momenta(world, state):
    """Linear [N s] and about the origin [N m s], of the soft body and of the rigid one, (2, 2, 3)."""
    [part, jointed] = world.parts
    (flesh, bones), x = world.split_state(state), looked_at(world, state)
    v = part.velocity(flesh)
    p = part.mass[:, None] * v
    tree = jointed.tree
    at = tree.posture(bones.q, bones.u, bones.memory)
    turn, place, twist = at.E[0, :3, :3], at.E[0, :3, 3], at.twist[0]
    inertia = tree.inertia[0]
    linear = turn @ (inertia[3:, 3:] @ twist[3:])
    own = turn @ (inertia[:3, :3] @ twist[:3])
    return np.array([[p.sum(axis=0), np.cross(x, p).sum(axis=0)], [linear, own + np.cross(place, linear)]])


@pytest.mark.parametrize("friction,method", some([(0.0, "vanilla"), (0.5, "vanilla"), (0.5, "conjac")],
                                                 (0.5, "vanilla"), (0.5, "conjac")))
def test_what_one_gains_the_other_loses(tmp_path, friction, method):
    """A box flies at a block of jelly: neither is held, nothing weighs."""
    job = rigid_on_jelly(tmp_path / "job", floor=False, gravity=[0.0, 0.0, 0.0], method={"kind": method},
                         stage_solver={"kind": "newton_d", "params": {"tolerance": 1e-12, "iterations": 300}},
                         contact={"law": {"kind": "barrier", "params": {"friction_coefficient": friction}}})
    change(job, "mechanisms.0.bodies.0.friction", friction)
    world = made(job)
    state = world.initial_state()
    u = state.u.copy()
    u[-6:] = [0.3, 0.1, 0.0, 0.0, 0.0, -1.5]
    state = State(state.time, state.q, u, state.memory)
    before = momenta(world, state)
    for _ in range(8):
        state = world.step(state, 1 / 96)
    after = momenta(world, state)
    given = np.abs(after[0, 0] - before[0, 0]).max()
    assert given > 0.1 * np.abs(before).max()
    assert np.abs(after.sum(axis=0) - before.sum(axis=0))[0].max() <= 1e-9 * given


def energy(world, state):
    [part, jointed] = world.parts
    (flesh, bones), x = world.split_state(state), looked_at(world, state)
    v = part.velocity(flesh)
    return (part.evaluate(x, state.time)[1] + jointed.energy(bones)
            + 0.5 * float(part.mass @ np.einsum("ni,ni->n", v, v)))


@pytest.mark.long
def test_a_rigid_box_bounces_on_jelly_that_follows_dynamic_nodes(tmp_path):
    """ConJac: most of the jelly balances with the box, and both never gain by that."""
    job = rigid_on_jelly(tmp_path / "job", method={"kind": "conjac"}, integrator={"kind": "sdirk2"},
                         stage_solver={"kind": "quick"}, step=1 / 48)
    world = made(job)
    state = world.initial_state()
    riders, jelly = world.parts[0].coordinates.attached.nodes, world.parts[0].bodies_in_world[0].nodes
    last, heights = energy(world, state), []
    start, mass = last, float(world.parts[0].mass.sum())
    for _ in range(20):
        state = world.step(state, 1 / 48)
        now, x = energy(world, state), looked_at(world, state)
        assert now <= last + 2e-3 * mass  # lifting the jelly by a fifth of a millimetre
        last = now
        heights.append(x[riders, 2].mean())
    # it fell by a few centimetres and has come up again, where it would have fallen by 0.85 m
    assert 0.2 < min(heights) < 0.25 < heights[-1] < heights[0]
    assert x[jelly, 2].max() < 0.23
    assert last < start - 0.2


def on_a_rod(arrays):
    """A block whose middle hangs on a rod."""
    nodes, tets = box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.1))
    hanging = soft("Flesh", nodes, tets, arrays, modulus=2e4, dynamic={"nodes": "arrays/all.npy"})
    arrays["held"] = np.flatnonzero(np.abs(nodes[:, 0]) < 1e-9).astype(np.int32)
    arrays["all"] = np.setdiff1d(np.arange(27), arrays["held"]).astype(np.int32)
    hanging["attach"] = [{"mechanism": "M", "body": "Rod", "nodes": "arrays/held.npy"}]
    rod = {"name": "M", "bodies": [{"name": "Rod", "position": [0.0, 0.0, 0.2], "density": 1000.0,
                                    "shape": {"kind": "box", "params": {"size_x": 0.02, "size_y": 0.3,
                                                                        "size_z": 0.02}}}]}
    return hanging, rod


@pytest.mark.parametrize("hangs", some([False, True], True))
def test_with_all_nodes_dynamic_conjac_is_vanilla_beside_joints(tmp_path, hangs):
    """Without friction, whose normal forces depend on the iteration."""
    ends = []
    for method in ("vanilla", "conjac"):
        scene = {"stage_solver": {"kind": "newton_d", "params": {"tolerance": 1e-10, "iterations": 300}},
                 "contact": {"law": {"kind": "barrier", "params": {"friction_coefficient": 0.0}}},
                 "method": {"kind": method}}
        if hangs:
            arrays = {}
            flesh, rod = on_a_rod(arrays)
            job = contact_job(tmp_path / method, [flesh], [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays,
                              mechanisms=[rod], **scene)
        else:
            job = rigid_on_jelly(tmp_path / method, **scene)
            change(job, "mechanisms.0.bodies.0.friction", 0.0)
            np.save(job / "arrays" / "dynamic.npy", np.arange(48, dtype=np.int32))
        world = made(job)
        state = world.initial_state()
        u = state.u.copy()
        u[-6:] = [0.0, 0.0, 0.0, 0.0, 0.0, -2.0] if hangs else [0.3, 0.1, 0.0, 0.0, 0.0, -2.0]
        state = State(state.time, state.q, u, state.memory)
        for _ in range(8):
            state = world.step(state, 1 / 96)
        touching = world.parts[0].contacts[0].find_active_pairs(looked_at(world, state)).nodes
        assert len(touching)
        ends.append(state)
    assert ends[1].q == pytest.approx(ends[0].q, abs=1e-8)
    assert ends[1].u == pytest.approx(ends[0].u, abs=1e-6)


def test_forces_on_both_sides_cancel(tmp_path):
    world = made(rigid_on_jelly(tmp_path / "job", integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}))
    state, part = world.initial_state(), world.parts[0]
    for _ in range(24):
        state = world.step(state, 1 / 96)
        found = part.contacts[0].find_active_pairs(looked_at(world, state))
        is_attached = np.isin(found.nodes, part.coordinates.attached.nodes)
        if is_attached.any():
            break
    x, forces = looked_at(world, state), found.forces
    size = np.abs(forces).max()
    assert np.abs(forces.sum(axis=1)).max() <= 1e-12 * size
    assert np.abs(np.cross(x[found.nodes], forces).sum(axis=1)).max() <= 1e-12 * size
    assert size > 0.0 and is_attached.any()


def test_bones_feel_nothing_at_corners_that_touch_nothing(tmp_path):
    """Rows of the stage's matrix in them are empty, so joint rates are eliminated over the others alone."""
    world = made(rigid_on_jelly(tmp_path / "job", integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}))
    state, part = world.initial_state(), world.parts[0]
    prescribed = part.coordinates.prescribed
    loads = Loads(part.condensation.mesh)
    stage = NodeStage(1.0, 0.01, 1.0, 0.0, None, np.zeros((len(part.mass), 3)), None)
    columns = np.random.default_rng(1).normal(size=(len(part.mass), 3, 4))
    counts = []
    for _ in range(24):
        state = world.step(state, 1 / 96)
        mine = world.split_state(state)[0]
        x = part.coordinates.positions(mine.q, mine.time, mine.carrier_motion)
        lin = part.linearise_at(x, np.zeros_like(x), mine.time)
        loaded = loads.find_loaded_prescribed(lin, stage)
        every = loads.on_prescribed(lin, stage, columns, np.arange(len(prescribed)))
        assert np.array_equal(loads.on_prescribed(lin, stage, columns, loaded), every[loaded])
        assert not np.delete(every, loaded, axis=0).any()
        counts.append(len(loaded))
    assert min(counts) == 0 < max(counts) < len(prescribed)


def test_a_hinged_rod_falls_on_jelly_and_stays_above_it(tmp_path):
    rod = {"name": "Arm", "bodies": [{"name": "Rod", "position": [0.0, 0.0, 0.32],
                                      "shape": {"kind": "capsule", "params": {"radius": 0.03, "length": 0.6}},
                                      "rotation": [0.7071067811865476, 0.0, 0.7071067811865476, 0.0]}],
           "joints": [{"name": "Hinge", "child": "Rod", "kind": "revolute", "position": [-0.4, 0.0, 0.32],
                       "rotation": [0.7071067811865476, 0.7071067811865476, 0.0, 0.0]}]}
    world = made(rigid_on_jelly(tmp_path / "job", mechanism=rod, integrator={"kind": "sdirk2"},
                                stage_solver={"kind": "quick"}, step=1 / 48))
    state = world.initial_state()
    riders = world.parts[0].coordinates.attached.nodes
    for _ in range(24):
        state = world.step(state, 1 / 48)
        x = looked_at(world, state)
    # its end hangs over the block's edge, where it would have swung down to the floor and through it
    assert 0.08 < x[riders, 2].min() < 0.22


def test_a_rigid_body_that_moves_as_animated_pushes(tmp_path):
    """A bone without joints, which is keyframed: it comes from the side."""
    arrays = {}
    motion = np.repeat(np.eye(4)[None], 49, axis=0)
    motion[:, 0, 3] = np.linspace(-0.3, 0.3, 49)
    motion[:, 2, 3] = 0.11
    arrays["bone"] = motion
    bone = {"name": "Bone", "motion": "arrays/bone.npy", "position": [-0.3, 0.0, 0.11],
            "shape": {"kind": "sphere", "params": {"radius": 0.08}}}
    bodies = [soft("Jelly", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.01)), arrays, modulus=2e4)]
    job = contact_job(tmp_path / "job", bodies, [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays,
                      mechanisms=[{"name": "M", "bodies": [bone]}], integrator={"kind": "sdirk2"},
                      stage_solver={"kind": "quick"}, step=1 / 48)
    world = made(job)
    state, soft_part = world.initial_state(), world.parts[0]
    for _ in range(36):
        state = world.step(state, 1 / 48)
        mine = world.split_state(state)[0]
        x = soft_part.coordinates.positions(mine.q, mine.time, mine.carrier_motion)
        assert soft_part.contacts[0].surfaces.intersection(x) is None
    assert x[soft_part.bodies_in_world[0].nodes, 0].mean() > 0.05


def test_what_moves_far_away_pulls_at_nothing(tmp_path):
    """Semi-Implicit Euler's right-hand side once added the motion of a distant obstacle to another node."""
    states = []
    for moves in (False, True):
        arrays = {}
        vertices, triangles = sheet(0.5, 2)
        vertices = vertices + [0.0, 0.0, 3.0]
        motion = np.repeat(vertices[None], 49, axis=0)
        motion[:, :, 0] += np.linspace(0.0, 0.4 if moves else 0.0, 49)[:, None]
        pinned = np.arange(9)
        bodies = [soft("Jelly", *box((2, 2, 2), (0.2, 0.2, 0.2)), arrays, modulus=2e4, pinned=pinned)]
        job = contact_job(tmp_path / str(moves), bodies, [obstacle("Far", vertices, triangles, arrays, motion)], arrays,
                          integrator={"kind": "semi_implicit"})
        world = made(job)
        state = world.initial_state()
        for _ in range(6):
            state = world.step(state, 1 / 96)
        states.append(state.q)
    assert np.array_equal(*states)


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_flesh_on_a_bone_is_the_bone_s_surface(tmp_path, method):
    """A block that hangs on a rod stands around it: that is no crossing, and the rod has no surface of its own."""
    arrays = {}
    nodes, tets = box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.5))
    hanging = soft("Flesh", nodes, tets, arrays, modulus=2e4)
    arrays["held"] = np.flatnonzero(np.abs(nodes[:, 0]) < 1e-9).astype(np.int32)
    hanging["attach"] = [{"mechanism": "M", "body": "Rod", "nodes": "arrays/held.npy"}]
    rod = {"name": "M", "bodies": [{"name": "Rod", "position": [0.0, 0.0, 0.6], "density": 1000.0,
                                    "shape": {"kind": "box", "params": {"size_x": 0.02, "size_y": 0.3,
                                                                        "size_z": 0.02}}}]}
    job = contact_job(tmp_path / "job", [hanging], [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays,
                      mechanisms=[rod], method={"kind": method}, integrator={"kind": "sdirk2"},
                      stage_solver={"kind": "quick"}, step=1 / 48)
    world = made(job)
    state, lowest = world.initial_state(), np.inf
    for _ in range(24):
        state = world.step(state, 1 / 48)
        x = looked_at(world, state)
        lowest = min(lowest, x[:27, 2].min())
    # they fell by half a metre together; what balances has nothing that damps it, and bounces as a spring does
    assert 0.0 < lowest < 0.05 and x[:27, 2].min() < (0.05 if method == "vanilla" else 0.5)


def test_a_bone_that_drives_flesh_into_the_floor_is_reported_with_the_position(tmp_path):
    """The nodes below the rod are grown on it, and the drive asks for more than the floor leaves room for."""
    arrays = {}
    nodes, tets = box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.02))
    driven = soft("Flesh", nodes, tets, arrays, modulus=2e4)
    arrays["held"] = np.flatnonzero(np.abs(nodes[:, 0]) < 1e-9).astype(np.int32)
    driven["attach"] = [{"mechanism": "M", "body": "Rod", "nodes": "arrays/held.npy"}]
    slide = {"name": "Slide", "child": "Rod", "kind": "prismatic", "position": [0.0, 0.0, 0.12],
             "motor": {"mode": {"kind": "drive"}, "target": "arrays/down.npy"}}
    arrays["down"] = np.linspace(0.0, -0.3, 49)[:, None]
    rod = {"name": "M", "bodies": [{"name": "Rod", "position": [0.0, 0.0, 0.12], "density": 1000.0,
                                    "shape": {"kind": "box", "params": {"size_x": 0.02, "size_y": 0.3,
                                                                        "size_z": 0.02}}}], "joints": [slide]}
    job = contact_job(tmp_path / "job", [driven], [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays,
                      mechanisms=[rod], integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}, step=1 / 48)
    world = made(job)
    state = world.initial_state()
    with pytest.raises(StepFailed, match=r"would be pressed near \([-\d., e]+\) m through something"):
        for _ in range(24):
            state = world.step(state, 1 / 48)
            looked_at(world, state)
    assert 0.0 < looked_at(world, state)[arrays["held"], 2].min() < 0.021


@pytest.mark.parametrize("kind,params,volume", [("box", (0.2, 0.3, 0.4), 0.024), ("sphere", (0.5,), 0.5236),
                                                ("capsule", (0.2, 0.5), 0.0963)])
def test_shapes_have_closed_surfaces_that_face_outwards(kind, params, volume):
    from solver.coordinates.inertia import mesh

    solid = mesh(*BY_SIZE[kind](*params))
    assert solid.mass == pytest.approx(volume, rel=0.07)
    assert solid.mass <= volume * 1.001


def test_bodies_that_do_not_agree_are_reported_with_what_moves_most_where_and_when(tmp_path, monkeypatch):
    monkeypatch.setattr(Bounded, "tries", 2)
    job = rigid_on_jelly(tmp_path / "job", integrator={"kind": "backward_euler"}, step=1 / 48,
                         stage_solver={"kind": "newton_d", "params": {"iterations": 2}})
    world = made(job)
    state = world.initial_state()
    with pytest.raises(StepFailed, match=r"did not converge in 2 iterations; positions near \(.*\) m still change by "
                                         r"[\d.e-]+ m, [\d.]+ s") as caught:
        for _ in range(20):
            state = world.step(state, 1 / 48)
    place = np.array(str(caught.value).split("(")[1].split(")")[0].split(", "), dtype=float)
    x = looked_at(world, state)
    node = int(np.linalg.norm(x - place, axis=1).argmin())
    assert np.linalg.norm(x[node] - place) < 0.05 and caught.value.object == world.parts[0].body_of(node)


def test_a_rigid_body_in_a_soft_one_is_refused_by_name(tmp_path):
    job = rigid_on_jelly(tmp_path / "job")
    change(job, "mechanisms.0.bodies.0.position", [0.0, 0.0, 0.2])
    with pytest.raises(BadScene, match='"Box"|"Jelly"'):
        made(job)


@pytest.mark.parametrize("integrator, solver", [("backward_euler", "newton_d"), ("sdirk2", "quick")])
def test_a_belt_brings_flesh_on_a_bone_to_a_wall_and_not_into_it(tmp_path, integrator, solver):
    """The ground's friction would bring it farther in a step than what is left before the wall."""
    nodes, tets = box()
    arrays = {"top": np.flatnonzero(nodes[:, 2] > 0.099).astype(np.int32),
              "belt": np.outer(np.arange(49) / 48, [2.0, 0.0, 0.0])}
    cart = {"name": "Cart", "position": [0.05, 0.05, 0.15], "mass": 0.5,
            "shape": {"kind": "box", "params": {"size_x": 0.05, "size_y": 0.05, "size_z": 0.05}}}
    root = {"name": "Root", "kind": "free", "child": "Cart", "position": cart["position"]}
    world = made(contact_job(
        tmp_path / "job", [soft("Jelly", nodes, tets, arrays, modulus=5e4, attach=[
            {"mechanism": "M", "body": "Cart", "nodes": "arrays/top.npy"}])],
        [obstacle("Wall", *hollow((0.05, 0.5, 0.3), (0.102, -0.2, -0.1)), arrays)], arrays, step=1 / 48,
        mechanisms=[{"name": "M", "bodies": [cart], "joints": [root]}],
        ground={"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness": 2e4, "motion": "arrays/belt.npy",
                "friction": {"kind": "coulomb", "params": {"friction_coefficient": 1.0}}},
        integrator={"kind": integrator}, stage_solver={"kind": solver}))
    state, reached = world.initial_state(), []
    for _ in range(16):
        state = world.step(state, 1 / 48)
        reached.append(looked_at(world, state)[: len(nodes), 0].max())
    # it trembles there: the belt drags on
    assert np.median(reached) > 0.1015 and max(reached) < 0.102
