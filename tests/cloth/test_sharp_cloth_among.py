"""Cloth with Sharp Edges touches soft bodies, other cloth and rigid bodies, and hangs on bones: both ways."""

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from cloth_jobs import Quiet, cloth_body, cloth_job
from matrix import some
from sheets import grid

from solver.build.world import build
from solver.coupling.staggered import ACTING, CARRIED_OVER
from solver.errors import BadScene
from solver.frames.read import Cache
from solver.job.load import load
from solver.parts.eol.solving import Solving
from solver.simulate import advance, bake

H, DENSITY, WIDE = 1 / 96, 0.3, 0.4


def jelly(cells=3, size=0.1):
    """Nodes and tetrahedra of a cube around the origin, six to a cell."""
    line = np.linspace(-size / 2, size / 2, cells + 1)
    nodes = np.stack(np.meshgrid(line, line, line, indexing="ij"), -1).reshape(-1, 3)
    steps = (cells + 1) ** np.arange(2, -1, -1)
    tets = [[corner @ steps + sum(steps[list(order[:k])]) for k in range(4)]
            for corner in np.ndindex(cells, cells, cells) for order in permutations(range(3))]
    tets = np.array(tets, np.int32)
    turned = np.linalg.det(nodes[tets[:, 1:]] - nodes[tets[:, :1]]) < 0.0
    tets[turned] = tets[turned][:, [0, 2, 1, 3]]
    return nodes, tets


def towel(arrays, height, cells=8, **more):
    vertices, triangles = grid(cells, cells, WIDE, WIDE)
    flat = np.column_stack([vertices[:, :2] - WIDE / 2, np.full(len(vertices), height)])
    return cloth_body("Towel", flat, triangles, arrays, area_density=DENSITY, thickness=1e-3, drag=0.0,
                      air_friction=0.0, eulerian={}, laws=more)


def rail(mass, speed, **joint):
    """A mechanism of one bar that flies up, at a speed [m/s]."""
    bar = {"name": "Rail", "shape": {"kind": "box", "params": {"size_x": 0.5, "size_y": 0.04, "size_z": 0.04}},
           "density": mass / (0.5 * 0.04 * 0.04)}
    return {"name": "Rig", "bodies": [bar], "joints": [{"name": "Free", "child": "Rail", "kind": "free",
                                                        "rate": [0, 0, 0, 0, 0, speed], **joint}]}


def hung(folder, mass, speed=1.0, end=5):
    """A towel that hangs on a bar which flies up."""
    arrays = {}
    vertices, triangles = grid(8, 8, WIDE, WIDE)
    places = np.column_stack([vertices[:, 0] - WIDE / 2, np.zeros(len(vertices)), vertices[:, 1] - WIDE])
    arrays["held"] = np.flatnonzero(vertices[:, 1] > WIDE - 1e-9).astype(np.int32)
    attach = [{"mechanism": "Rig", "body": "Rail", "nodes": "arrays/held.npy"}]
    body = cloth_body("Towel", places, triangles, arrays, area_density=DENSITY, thickness=1e-3, drag=0.0,
                      air_friction=0.0, eulerian={}, laws={"attach": attach})
    return cloth_job(folder, [body], arrays, end=end, gravity=[0, 0, 0], mechanisms=[rail(mass, speed)])


def thrown(folder, what, gravity=0.0, **scene):
    """A horizontal towel, and an object above it."""
    arrays = {}
    bodies = [towel(arrays, 0.0)]
    if what == "jelly":
        arrays["nodes"], arrays["tets"] = jelly()
        arrays["nodes"] = arrays["nodes"] + [0.0, 0.0, 0.055]
        bodies.append({"name": "Jelly", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
                       "method": {"kind": "vanilla"}, "density": 500.0, "material": {
                           "kind": "stable_neo_hookean", "params": {"youngs_modulus": 2e4, "poisson_ratio": 0.4}}})
    elif what == "cloth":
        vertices, triangles = grid(5, 5, 0.15, 0.15)
        bodies.append(cloth_body("Other", vertices + [-0.075, -0.075, 0.006], triangles, arrays, area_density=DENSITY,
                                 drag=0.0, air_friction=0.0))
    else:
        bone = {"name": "Bone", "shape": {"kind": "capsule", "params": {"radius": 0.03, "length": 0.1}},
                "density": 500.0, "position": [0, 0, 0.085]}
        scene["mechanisms"] = [{"name": "Rig", "bodies": [bone], "joints": [{
            "name": "Free", "child": "Bone", "kind": "free", "position": [0, 0, 0.085],
            "rate": [0, 0, 0, 0, 0, -1.0]}]}]
    return cloth_job(folder, bodies, arrays, end=9, gravity=[0, 0, -gravity], contact={}, **scene)


def world_of(folder):
    """The world, its start at 1 m/s downwards of what is soft, and which part is the towel."""
    world, *_ = build(load(folder), lambda *_: None)
    state, number = world.initial_state(), len(world.parts) - 1
    if hasattr(world.parts[0], "mass"):
        state = replace(state, u=np.tile([0.0, 0.0, -1.0], len(state.u) // 3))
    return world, state, number


def momentum_of(mesh):
    corners = mesh.v[mesh.faces] - np.einsum("mij,mkj->mki", mesh.gradients, mesh.slide[mesh.faces])
    return DENSITY / 3.0 * np.einsum("m,mki->i", mesh.areas, corners)


def momentum(world, state, number):
    """Return the momentum of the towel, of the rest, and what the towel still owes that, (3,) each [N s]."""
    other, mine = world.parts[0], world.split_state(state)
    of_cloth = momentum_of(world.parts[number].cloth(mine[number]).mesh)
    if hasattr(other, "mass"):
        of_rest = other.mass[other.coordinates.free] @ mine[0].u.reshape(-1, 3)
    else:
        of_rest = other.tree.inertia[0, 5, 5] * mine[0].u[3:]  # it does not turn
    return of_cloth, of_rest, mine[number].memory[CARRIED_OVER].sum(axis=0)


@pytest.mark.parametrize("mass", [1.0, 0.03])
def test_cloth_that_hangs_on_a_bone_goes_with_it_and_brakes_it(tmp_path, mass):
    world, state, number = world_of(hung(tmp_path / "job", mass))
    cloth = world.parts[number]
    for _ in range(8):
        state = advance(world, state, H, 1)
        own = cloth.cloth(world.split_state(state)[number])
        pinned_at = own.mesh.x[own.pin >= 0]
        # the bar flies straight up: all that it holds stands in a line at its height
        assert np.ptp(pinned_at[:, 2]) < 1e-9 and abs(pinned_at[0, 2] - world.split_state(state)[0].q[5]) < 1e-9
        of_cloth, of_bar, owed = momentum(world, state, number)
        np.testing.assert_allclose(of_cloth + of_bar + owed, [0.0, 0.0, mass], atol=1e-4 * mass)
    assert of_cloth[2] > 0.3 * min(mass, 0.048) and np.linalg.norm(owed) < 0.05 * mass


def on_flesh(folder, speed=0.0, gravity=0.0, pinned=False, end=5):
    """A towel that hangs from the lower side of a jelly, by a line of its vertices a centimetre below that."""
    arrays = {}
    arrays["nodes"], arrays["tets"] = jelly()
    vertices, triangles = grid(8, 8, WIDE, WIDE)
    places = np.column_stack([0.5 * vertices[:, 0] - 0.1, np.zeros(len(vertices)), vertices[:, 1] - WIDE - 0.06])
    arrays["held"] = np.flatnonzero(vertices[:, 1] > WIDE - 1e-9).astype(np.int32)[2:-2]
    cloth = cloth_body("Towel", places, triangles, arrays, area_density=DENSITY, thickness=1e-3, drag=0.0,
                       air_friction=0.0, eulerian={}, laws={"attach": [{"body": "Jelly", "nodes": "arrays/held.npy"}]})
    soft = {"name": "Jelly", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "method": {"kind": "vanilla"}, "density": 500.0, "material": {
                "kind": "stable_neo_hookean", "params": {"youngs_modulus": 2e4, "poisson_ratio": 0.4}}}
    if pinned:
        arrays["pinned"] = np.flatnonzero(arrays["nodes"][:, 2] > 0.05 - 1e-9).astype(np.int32)
        soft["pin"] = {"nodes": "arrays/pinned.npy"}
    return cloth_job(folder, [cloth, soft], arrays, end=end, gravity=[0, 0, -gravity])


def test_cloth_that_hangs_on_a_soft_body_goes_with_it_and_brakes_it(tmp_path):
    world, state, number = world_of(on_flesh(tmp_path / "job"))
    state = replace(state, u=-state.u)
    cloth, soft = world.parts[number], world.parts[0]
    initial_momentum = soft.mass[soft.coordinates.free] @ world.split_state(state)[0].u.reshape(-1, 3)
    for _ in range(8):
        state = advance(world, state, H, 1)
        own = cloth.cloth(world.split_state(state)[number])
        pinned_at = own.pin >= 0
        np.testing.assert_allclose(own.mesh.x[pinned_at], cloth.steps.pins(state.time)[own.pin[pinned_at]], atol=1e-12)
        of_cloth, of_rest, owed = momentum(world, state, number)
        np.testing.assert_allclose(of_cloth + of_rest + owed, initial_momentum, atol=1e-4 * initial_momentum[2])
    assert of_cloth[2] > 0.03 * initial_momentum[2] and np.linalg.norm(owed) < 0.02 * initial_momentum[2]


@pytest.mark.parametrize("what", some(["bone", "jelly", "cloth"], "bone", "jelly"))
def test_what_flies_into_cloth_is_braked_by_what_it_gives_that_and_does_not_cross_it(tmp_path, what):
    world, state, number = world_of(thrown(tmp_path / "job", what))
    cloth, initial_momentum = world.parts[number], None
    for _ in range(8):
        state = advance(world, state, H, 1)
        mesh, now = cloth.cloth(world.split_state(state)[number]).mesh, cloth.steps.obstacles.at(state.time, H)
        assert cloth.steps.contact.intersecting_pair(mesh, now) is None
        of_cloth, of_rest, owed = momentum(world, state, number)
        whole = of_cloth + of_rest + owed
        initial_momentum = whole if initial_momentum is None else initial_momentum
        # remeshing carries momentum over within a few ten-thousandths
        np.testing.assert_allclose(whole, initial_momentum, atol=2e-2 * np.linalg.norm(initial_momentum))
    assert of_cloth[2] < -0.01 * abs(initial_momentum[2]) or what == "cloth"
    assert of_rest[2] > 1.02 * initial_momentum[2] if what != "cloth" else of_rest[2] > 0.6 * initial_momentum[2]


def test_rounds_of_what_pushes_go_on_until_they_settle(tmp_path, monkeypatch):
    """No more of them would change anything."""
    found = []
    for enough in (Solving.enough_rounds, 10 * Solving.enough_rounds):
        monkeypatch.setattr(Solving, "enough_rounds", enough)
        world, state, number = world_of(thrown(tmp_path / str(enough), "cloth"))
        for _ in range(4):
            state = advance(world, state, H, 1)
        found.append(world.parts[number].cloth(world.split_state(state)[number]).mesh.x)
    np.testing.assert_array_equal(*found)


def test_cloth_that_starts_in_a_bone_is_refused(tmp_path):
    folder = thrown(tmp_path / "job", "bone")
    vertices = np.load(folder / "arrays/Towel_vertices.npy")
    np.save(folder / "arrays/Towel_vertices.npy", vertices + [0.0, 0.0, 0.06])
    with pytest.raises(BadScene, match='it crosses "Bone" at the start'):
        build(load(folder), lambda *_: None)


@pytest.mark.long
def test_a_towel_that_lies_on_a_jelly_weighs_on_it(tmp_path):
    folder = thrown(tmp_path / "job", "jelly", gravity=9.81)
    np.save(folder / "arrays/Towel_vertices.npy", np.load(folder / "arrays/Towel_vertices.npy") + [0.0, 0.0, 0.11])
    scene, nodes = json.loads((folder / "scene.json").read_text()), np.load(folder / "arrays/nodes.npy")
    np.save(folder / "arrays/pinned.npy", np.flatnonzero(nodes[:, 2] < nodes[:, 2].min() + 1e-9).astype(np.int32))
    scene["bodies"][1]["pin"] = {"nodes": "arrays/pinned.npy"}
    (folder / "scene.json").write_text(json.dumps(scene))
    world, *_ = build(load(folder), lambda *_: None)
    state, number, pressed = world.initial_state(), len(world.parts) - 1, []
    cloth = world.parts[number]
    for _ in range(48):
        state = advance(world, state, H, 1)
        memory = world.split_state(state)[number].memory
        mesh, now = cloth.cloth(world.split_state(state)[number]).mesh, cloth.steps.obstacles.at(state.time, H)
        assert cloth.steps.contact.intersecting_pair(mesh, now) is None
        pressed.append(memory[ACTING].sum(axis=0)[2])
    fallen = -DENSITY * WIDE**2 * 9.81 * 48 * H
    mesh = cloth.cloth(world.split_state(state)[number]).mesh
    assert momentum_of(mesh)[2] + H * sum(pressed) == pytest.approx(fallen, rel=0.05)


@pytest.mark.long
def test_a_resumed_bake_of_cloth_on_a_bone_gives_the_same_bytes(tmp_path):
    whole, parted = hung(tmp_path / "whole", 0.1, end=9), hung(tmp_path / "parted", 0.1, end=9)
    bake(whole, Quiet())
    bake(parted, Quiet(), frames=(1, 5))
    bake(parted, Quiet(), resume=True)
    one, other = Cache(whole / "cache"), Cache(parted / "cache")
    np.testing.assert_array_equal(one.sheets(9)["Towel"].x, other.sheets(9)["Towel"].x)
