"""Ropes that touch: over an edge of a collider, across each other, and around soft bodies that they are tied to."""

import json

import numpy as np
import pytest
from rope_jobs import Quiet, baked, chain, rope_body, rope_job, stretched
from scipy.spatial import ConvexHull
from small_jobs import box_tets, change, write_job

from solver.build.world import build
from solver.errors import BadScene
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

G = 9.81


def box(size):
    """Corners and outward triangles of a box about the origin."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.asarray(size)
    hull = ConvexHull(corners)
    triangles = hull.simplices.astype(np.int32)
    for k, (a, b, c) in enumerate(corners[triangles]):
        if np.cross(b - a, c - a) @ hull.equations[k, :3] < 0.0:
            triangles[k] = triangles[k][::-1]
    return corners, triangles


def test_it_lies_over_a_box_and_nothing_goes_through(tmp_path):
    """Laid across with a weight at either end, half its thickness off the box; the weights hang down at its sides."""
    links = 40
    x = np.stack([np.linspace(-0.5, 0.5, links + 1), np.zeros(links + 1), np.full(links + 1, 0.12)], 1)
    loads = np.zeros(links + 1)
    loads[[0, -1]] = 1.0
    corners, triangles = box((0.1, 0.1, 0.1))
    scene = {"contact": {}, "obstacles": [{"name": "Box", "vertices": "arrays/ov.npy", "triangles": "arrays/ot.npy"}]}
    job = rope_job(tmp_path, x, end=41, pinned=(), loads=loads, scene=scene)
    np.save(job / "arrays" / "ov.npy", corners)
    np.save(job / "arrays" / "ot.npy", triangles)
    out = baked(job)
    outside = np.linalg.norm(np.maximum(np.abs(out) - 0.1, 0.0), axis=2)
    assert outside.min() > 0.005
    middle = np.abs(x[:, 0]) < 0.05
    assert np.abs(out[-1, middle, 2] - 0.1).max() < 0.012
    assert out[-1, 0, 2] < 0.0 and out[-1, -1, 2] < 0.0
    assert np.abs(stretched(out[-1], x)).max() < 1e-4


def test_one_falls_across_another_and_hangs_on_it(tmp_path):
    """Edges of ropes touch edges of others: the upper one is caught, and is a thickness off."""
    links, arrays = 16, {}
    pinned_rope = np.stack([np.linspace(-0.3, 0.3, links + 1), np.zeros(links + 1), np.zeros(links + 1)], 1)
    across = pinned_rope[:, [1, 0, 2]] + [0.0, 0.0, 0.06]
    bodies = [rope_body("Held", pinned_rope, arrays, pinned=(0, links), thickness=0.01),
              rope_body("Upper", across, arrays, pinned=(), thickness=0.01)]
    job = write_job(tmp_path, {"version": 1, "name": "two", "time": {"start": 1, "end": 21, "fps": 24, "step": 1 / 96},
                               "bodies": bodies, "integrator": {"kind": "backward_euler"}, "contact": {}}, arrays)
    bake(job, Quiet())
    last = Cache(job / "cache").frame(21)
    middle = links // 2
    assert last["Upper"][middle, 2] - last["Held"][middle, 2] > 0.01
    assert last["Upper"][0, 2] < last["Held"][middle, 2] - 0.02, "its ends hang down"


def test_one_that_is_coiled_does_not_go_through_itself(tmp_path):
    """A loose spiral falls onto a floor: no two of its links that are apart along it come together."""
    turns, points = 3, 73
    way = np.linspace(0.0, 1.0, points)
    angle = 2 * np.pi * turns * way
    x = np.stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.05 + 0.15 * way], 1)
    corners, triangles = box((0.5, 0.5, 0.02))
    scene = {"contact": {}, "obstacles": [{"name": "Floor", "vertices": "arrays/ov.npy", "triangles": "arrays/ot.npy"}]}
    job = rope_job(tmp_path, x, end=17, pinned=(), thickness=0.01, scene=scene)
    np.save(job / "arrays" / "ov.npy", corners)
    np.save(job / "arrays" / "ot.npy", triangles)
    last = baked(job)[-1]
    assert last[:, 2].min() > 0.02 and last[:, 2].max() < 0.12
    middle = 0.5 * (last[1:] + last[:-1])
    gaps = np.linalg.norm(middle[:, None] - middle[None], axis=2)
    number = np.arange(len(middle))
    assert gaps[np.abs(number[:, None] - number) > 3].min() > 0.003


def tied(folder, base="Block", scene=None):
    """A block of jelly of 2 kg that hangs on a rope, welded to its top."""
    nodes, tets = box_tets((2, 2, 2), (0.1, 0.1, 0.2))
    nodes = nodes - [0.05, 0.05, 0.2]
    links, arrays = 10, {}
    x = np.stack([np.zeros(links + 1), np.zeros(links + 1), np.linspace(0.002, 0.502, links + 1)], 1)
    arrays.update(nodes=nodes, tets=tets)
    block = {"name": "Block", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
             "method": {"kind": "vanilla"}, "density": 1000.0,
             "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 3e5, "poisson_ratio": 0.4}}}
    rope = rope_body("Rope", x, arrays, pinned=(links,))
    weld = {"law": {"kind": "weld", "params": {"distance": 0.004, "stiffness": 1e9}}, "bodies": ["Rope", base]}
    return write_job(folder, {"version": 1, "name": "tied", "time": {"start": 1, "end": 13, "fps": 24, "step": 1 / 96},
                              "bodies": [block, rope], "integrator": {"kind": "backward_euler"}, "forces": [weld],
                              **(scene or {})}, arrays), x, nodes


def test_it_carries_a_soft_body_that_it_is_tied_to(tmp_path):
    job, x, nodes = tied(tmp_path)
    bake(job, Quiet())
    last = Cache(job / "cache").frame(13)
    assert np.abs(stretched(last["Rope"], x, chain(10))).max() < 1e-4
    assert np.abs(last["Rope"][0] - x[0]).max() < 0.02
    fell = 0.5 * G * 0.5**2
    assert np.abs(last["Block"] - nodes).max() < 0.05 < fell


def test_a_rigid_body_swings_on_it(tmp_path):
    """5 kg of a mechanism at the end of 50 g, which keep the rope as long as it was; resumed it is the same."""
    links, arrays = 10, {}
    x = np.stack([np.linspace(0.0, 0.5, links + 1), np.zeros(links + 1), np.zeros(links + 1)], 1)
    rope = rope_body("Rope", x, arrays, pinned=(0,))
    arrays["end"] = np.arange(links + 1) // links * 1.0
    rope["attach"] = [{"body": "Weight", "mechanism": "Rig", "weights": "arrays/end.npy"}]
    weight = {"name": "Weight", "shape": {"kind": "box"}, "position": [0.5, 0.0, 0.0], "mass": 5.0}
    scene = {"version": 1, "name": "swing", "time": {"start": 1, "end": 13, "fps": 24, "step": 1 / 96},
             "bodies": [rope], "mechanisms": [{"name": "Rig", "bodies": [{**weight, "is_collider": False}]}],
             "integrator": {"kind": "backward_euler"}, "method": {"kind": "vanilla"}}
    whole, parts = (write_job(tmp_path / name, scene, arrays) for name in ("whole", "parts"))
    out = baked(whole)
    assert max(np.abs(stretched(frame, x)).max() for frame in out[2:]) < 5e-6
    assert out[-1, -1, 2] < -0.4, "it swings down"
    assert np.array_equal(out, baked(parts, 5, 9, 13))


def test_a_rigid_box_falls_on_two_taut_ropes_and_is_caught(tmp_path):
    """40 kg on ropes of 1 kg: in a step what they pull with grows from nothing to the weight of a man."""
    links, arrays = 96, {}
    way = np.linspace(-1.0, 1.0, links + 1)
    x = np.concatenate([np.stack([way, np.full(links + 1, y), 1.0 - 0.12 * (1.0 - way**2)], 1) for y in (-0.3, 0.3)])
    edges = np.concatenate([chain(links), chain(links) + links + 1])
    rope = rope_body("Ropes", x, arrays, edges=edges, pinned=(0, links, links + 1, 2 * links + 1), thickness=0.03,
                     linear_density=0.5, bending_stiffness=0.02)
    falls = {"name": "Box", "position": [0.03, 0.0, 1.05], "rotation": [1.0, 0.02, 0.03, 0.0], "mass": 40.0,
             "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 1.0, "size_z": 0.1}}}
    job = write_job(tmp_path, {
        "version": 1, "name": "caught", "time": {"start": 1, "end": 6, "fps": 24, "step": 1 / 96}, "bodies": [rope],
        "mechanisms": [{"name": "M", "bodies": [falls]}], "contact": {}, "integrator": {"kind": "backward_euler"},
        "stage_solver": {"kind": "newton_visible"}}, arrays)
    world = build(load(job), lambda *_: None)[0]
    state = world.initial_state()
    for _ in range(20):
        state = world.step(state, 1 / 96)
    part, [mine, bones] = world.parts[0], world.split_state(state)
    places = part.coordinates.positions(mine.q, mine.time, mine.carrier_motion)
    assert part.contacts[0].surfaces.intersection(places) is None
    assert np.abs(stretched(places[:len(x)], x, edges)).max() < 1e-4
    assert places[:len(x), 2].min() > 0.85 and abs(bones.u[-1]) < 0.7, "it would fall by 21 cm and at 2 m/s"


def test_it_lies_on_the_ground_as_it_is_thick(tmp_path):
    """The ground bears a rope by its length and thickness where it is as stiff for each square metre."""
    x = np.stack([np.linspace(0.0, 1.0, 21), np.zeros(21), np.full(21, 0.02)], 1)
    ground = {"point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0], "stiffness_per_area": 1e6}
    out = baked(rope_job(tmp_path, x, end=25, pinned=(), thickness=0.02, scene={"ground": ground}))
    assert np.abs(out[-1, 1:-1, 2] + 0.1 * G / (1e6 * 0.02)).max() < 1e-4


def test_what_a_rope_cannot_stick_to_is_reported_in_a_sentence(tmp_path):
    job, _, _ = tied(tmp_path)
    change(job, "forces.0.bodies", ["Block", "Rope"])
    with pytest.raises(BadScene, match='"Block" is to stick to "Rope", which is a rope and has no faces'):
        bake(job, Quiet())
    change(job, "forces.0.bodies", ["Rope", "Hook"])
    with pytest.raises(BadScene, match='"Hook" is no soft body of the scene'):
        bake(job, Quiet())


def test_cloth_with_sharp_edges_passes_through_a_rope_and_says_so(tmp_path):
    """A rope has no faces by which such cloth could touch it."""
    x = np.stack([np.linspace(-0.5, 0.5, 9), np.zeros(9), np.zeros(9)], axis=1)
    job = rope_job(tmp_path, x, end=2, pinned=(0, 8), scene={"contact": {}, "integrator": {"kind": "semi_implicit"}})
    np.save(job / "arrays" / "sv.npy", np.array([[x, y, 0.1] for x in (-0.1, 0.1) for y in (-0.1, 0.1)]))
    np.save(job / "arrays" / "st.npy", np.array([[0, 2, 3], [0, 3, 1]], np.int32))
    [rope] = json.loads((job / "scene.json").read_text())["bodies"]
    change(job, "bodies", [rope, {"name": "Sheet", "cloth": {"eulerian": {}}, "method": {"kind": "vanilla"},
                                  "surface": {"vertices": "arrays/sv.npy", "triangles": "arrays/st.npy"}}])
    notes = []
    report = Quiet()
    report.log = notes.append
    bake(job, report)
    assert any('"Sheet": It passes through "Rope": ' in note for note in notes), notes
    assert (Cache(job / "cache").frame(2)["Sheet"] != Cache(job / "cache").frame(1)["Sheet"]).any()
