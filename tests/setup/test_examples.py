"""Examples have their documented contents, and the committed files are those that build.py makes."""

import numpy as np
import pytest
from example_files import committed_and_built

EXAMPLES = ("suzanne", "bar", "twist", "aniso", "hetero", "barcut", "drop")

FACTS = """
import json, sys
import bpy
from examples_blend import addon
extension = addon.load()
extension.register()
facts = {}
for path in sys.argv[1:]:
    bpy.ops.wm.open_mainfile(filepath=path)
    scene = bpy.context.scene
    bodies = [o for o in scene.objects if o.conjac.enabled]
    body = bodies[0]
    mesh = body.data
    weights = {g.name: [0.0] * len(mesh.vertices) for g in body.vertex_groups}
    names = [g.name for g in body.vertex_groups]
    for v in mesh.vertices:
        for g in v.groups:
            weights[names[g.group]][v.index] = round(g.weight, 5)
    soft, driven = body.conjac, []
    for frame in range(scene.frame_start, scene.frame_end + 1, 4):
        scene.frame_set(frame)
        pose = [m for o in scene.objects if o.type == "ARMATURE" for b in o.pose.bones for m in b.matrix]
        driven.append([round(x, 5) for row in [*body.matrix_world, *pose] for x in row])
    def settings(soft):
        return {k: round(v, 9) if isinstance(v, float) else v for k in
                ("youngs_modulus", "youngs_modulus_high", "poisson_ratio", "density", "step", "method", "mesher",
                 "edge_length", "material", "dynamic_group", "pin_group", "quasistatic_start", "fiber_material",
                 "fiber_field", "fiber_modulus", "fiber_x", "fiber_y", "fiber_z", "fiber_angle",
                 "use_ground", "ground_stiffness", "friction", "friction_coefficient", "carry", "corrections")
                for v in (getattr(soft, k),)}

    facts[path] = dict(
        bodies={o.name: dict(settings=settings(o.conjac), vertices=len(o.data.vertices),
                             handles=[[round(x, 6) for x in h.object.matrix_world.translation]
                                      for h in o.conjac.handles]) for o in bodies},
        vertices=[[round(x, 6) for x in v.co] for v in mesh.vertices], edges=[list(e.vertices) for e in mesh.edges],
        faces=[list(p.vertices) for p in mesh.polygons], weights=weights, driven=driven,
        frames=[scene.frame_start, scene.frame_end], fps=scene.render.fps / scene.render.fps_base,
        handles=[[round(x, 6) for x in h.object.location] for h in soft.handles],
        modifiers=[m.type for m in body.modifiers],
        cuts=[[cut.frame, cut.object.type, cut.object.name] for cut in soft.cuts],
        settings=settings(soft))
print("FACTS" + json.dumps(facts))
"""


@pytest.fixture(scope="module")
def facts(built_examples):
    """Return the contents of the committed files and of freshly built ones."""
    return committed_and_built(EXAMPLES, FACTS, built_examples)


@pytest.mark.parametrize("name", EXAMPLES)
def test_committed_file_is_what_the_script_builds(facts, name):
    assert facts["committed", name] == facts["built", name]


def patches(body, group):
    """Return connected painted patches (> 0.5), as vertex lists."""
    painted = {i for i, weight in enumerate(body["weights"][group]) if weight > 0.5}
    neighbours = {i: set() for i in painted}
    for a, b in body["edges"]:
        if a in painted and b in painted:
            neighbours[a].add(b)
            neighbours[b].add(a)
    differences = []
    while painted:
        patch, open_ = set(), [painted.pop()]
        while open_:
            patch.add(open_[-1])
            open_ += [n for n in neighbours[open_.pop()] if n in painted]
            painted -= set(open_)
        differences.append(sorted(patch))
    return differences


def test_suzanne(facts):
    body = facts["committed", "suzanne"]
    points = np.array(body["vertices"])
    assert len(points) == 2012  # subdivided once
    assert np.ptp(points[:, 0]) == pytest.approx(0.15)
    assert body["frames"] == [1, 72] and body["fps"] == 24
    assert body["settings"]["youngs_modulus"] == 3e4
    assert body["settings"]["poisson_ratio"] == pytest.approx(0.45)
    assert body["settings"]["step"] == pytest.approx(1 / 120)

    # ears, brow and chin, each one patch, left and right alike
    spots = sorted(points[patch].mean(axis=0).tolist() for patch in patches(body, "Dynamic"))
    assert len(spots) == 4
    (left, *middle, right) = spots
    assert left[0] == pytest.approx(-right[0], abs=1e-4) and right[0] > 0.06
    assert {z > 0 for _, _, z in middle} == {True, False}
    assert all(abs(x) < 1e-4 and y < -0.02 for x, y, _ in middle)

    # pinned at the back, far from every dynamic node
    pinned = points[np.array(body["weights"]["Pin"]) > 0.5]
    assert len(pinned) > 30 and pinned[:, 1].min() > 0.01
    assert len({tuple(moment) for moment in body["driven"]}) > 5


def test_bar(facts):
    body = facts["committed", "bar"]
    points = np.array(body["vertices"])
    assert len(points) == 21 * 7 * 7 - 19 * 5 * 5  # the surface of TWIST's 1029 nodes
    assert np.ptp(points, axis=0) == pytest.approx([0.2, 0.06, 0.06])
    assert len(body["handles"]) == 1 and "Dynamic" not in body["weights"]
    assert np.array(body["handles"][0]) == pytest.approx([0.1, 0, 0])
    pinned = points[np.array(body["weights"]["Pin"]) > 0.5]
    assert set(np.round(pinned[:, 0], 6)) == {0.0, 0.2} and len(pinned) == 2 * 7 * 7
    assert body["settings"]["mesher"] == "grid" and body["settings"]["edge_length"] == pytest.approx(0.01)
    assert body["modifiers"][0] == "ARMATURE"

    # closed and facing outward: its volume by the divergence theorem
    corners = points[np.array(body["faces"])]
    first, second, third = corners[:, 0], corners[:, 1], corners[:, 2]
    cones = np.einsum("fi,fi->f", first, np.cross(second - first, third - first)) / 3  # a quad is two triangles
    assert cones.sum() == pytest.approx(0.2 * 0.06 * 0.06)


def test_twist(facts):
    """The bar three times, with one, two and four handles along its axis, apart from each other."""
    bodies = facts["committed", "twist"]["bodies"]
    assert [len(body["handles"]) for body in bodies.values()] == [1, 2, 4]
    for row, body in enumerate(bodies.values()):
        handles = np.array(body["handles"])
        count = len(handles)
        assert np.sort(handles[:, 0]) == pytest.approx(0.2 * np.arange(1, count + 1) / (count + 1), abs=1e-6)
        assert handles[:, 2] == pytest.approx(np.full(count, -0.2 * row), abs=1e-6)
        assert body["settings"] == facts["committed", "bar"]["settings"]


def test_aniso(facts):
    bodies = facts["committed", "aniso"]["bodies"]
    assert {name: body["settings"]["fiber_field"] for name, body in bodies.items()} == {
        "Horizontal": "straight", "Vertical": "straight", "Diagonal": "straight", "Helical": "helix"}
    assert {body["vertices"] for body in bodies.values()} == {6591 - 11 * 11 * 37}
    axes = {name: [body["settings"][f"fiber_{letter}"] for letter in "xyz"] for name, body in bodies.items()}
    assert axes == {"Horizontal": [1, 0, 0], "Vertical": [0, 0, 1], "Diagonal": [1, 0, 1], "Helical": [0, 0, 1]}
    assert all(len(body["handles"]) == 1 for body in bodies.values())


def test_hetero(facts):
    """Stiff layers are thicker by a row of vertices, and extend straight inwards."""
    body = facts["committed", "hetero"]
    points = np.array(body["vertices"])
    assert len(points) == 5915 - 11 * 11 * 33 and body["settings"]["carry"] == "straight"
    row = np.round(points[:, 2] / 0.0045).astype(int)
    stiff = np.array(body["weights"]["Stiffness"]) > 0.5
    assert set(row[stiff]) == {*range(8), *range(14, 21), *range(27, 35)}
    assert set(row[~stiff]) == {*range(8, 14), *range(21, 27)}
    assert body["settings"]["youngs_modulus_high"] == 10 * body["settings"]["youngs_modulus"]


def test_barcut(facts):
    body = facts["committed", "barcut"]
    points = np.array(body["vertices"])
    assert len(points) == 50 * 11 * 11 - 48 * 9 * 9  # the surface of the paper's 6050 nodes
    assert body["cuts"] == [[26, "MESH", "Knife"], [38, "MESH", "Knife"], [60, "EMPTY", "Second Cut"]]
    first, second = sorted(body["handles"])
    assert first[0] < 0.245 < second[0] < 0.39  # one on each side of the first cut, none beyond the second
    pinned = points[np.array(body["weights"]["Pin"]) > 0.5]
    assert set(np.round(pinned[:, 0], 6)) == {0.0, 0.49} and len(pinned) == 2 * 11 * 11
    assert body["modifiers"][0] == "HOOK" and body["settings"]["method"] == "conjac"


def test_drop(facts):
    """A closed surface with eight lively spots, no pins, and friction."""
    body = facts["committed", "drop"]
    assert len(patches(body, "Dynamic")) == 8 and "Pin" not in body["weights"]
    assert 0.1 < np.ptp(np.array(body["vertices"])[:, 2]) < 0.2
    uses: dict[frozenset, int] = {}
    for face in body["faces"]:
        for ends in zip(face, [*face[1:], face[0]]):
            uses[frozenset(ends)] = uses.get(frozenset(ends), 0) + 1
    assert set(uses.values()) == {2}
    assert (body["settings"]["friction"], body["settings"]["use_ground"]) == ("coulomb", True)
