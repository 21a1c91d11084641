"""The artist's mesh is cut along with the tetrahedra: closed again on both sides, and nothing follows the wrong one."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from cut_jobs import SIZE, skin
from matrix import some
from small_jobs import box_tets

from solver import catalogue
from solver.build.fields import Prepared
from solver.embedding.bind import bind
from solver.fields.build import Fields
from solver.job.schema import Body
from solver.job.schema import Cut as CutField
from solver.meshing.volume import Volume, face_parts
from solver.reshape.body import WholeBody, apply, between, cut_body
from solver.reshape.cuts.interface import Shape
from solver.reshape.seam import edges_of, split_triangles

DATA = Path(__file__).resolve().parents[1] / "data"
NONE = np.zeros(0, np.int32)


def whole_of(nodes, tets, vertices, triangles):
    fields = Fields({}, np.ones(len(tets)), NONE, NONE, {}, None, None, ())
    prepared = Prepared(Body(name="Body"), Volume(nodes, tets), bind(nodes, tets, vertices, triangles), fields)
    return WholeBody.uncut(prepared, triangles.astype(np.int32))


def bar():
    nodes, tets = box_tets((12, 3, 3), SIZE)
    return whole_of(nodes, tets, *skin())


def saved(name):
    data = np.load(DATA / f"{name}.npz")
    return whole_of(data["nodes"], data["tets"], data["vertices"], data["triangles"])


def cut_with(whole, kind, bend=lambda x: x, **given):
    """(body after the cut, what the cut did, the cut, its shape), in a deformed state."""
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    fields = {name: name + ".npy" if name in arrays else value for name, value in given.items()}
    shape = Shape(bend(whole.prepared.volume.nodes), whole.prepared.volume.tets, whole.origin)
    cut = catalogue.find("cut", kind).load()(msgspec.convert({"frame": 1, "kind": kind, **fields}, CutField),
                                             lambda name: arrays[name[:-4]], shape)
    done = cut_body(whole, cut, shape)
    after, source = apply(whole, done)
    return after, done, cut, Shape(shape.x[source], after.prepared.volume.tets, after.origin)


def volume(x, triangles):
    a, b, c = x[triangles].transpose(1, 0, 2)
    return float(np.einsum("ij,ij->", np.cross(a, b), c)) / 6


def part_of_vertex(after):
    return face_parts(after.prepared.volume.tets)[1][after.prepared.embedding.tet]


@pytest.mark.parametrize("point,normal,left", [
    ([0.155, 0.0, 0.03], [1.0, 0.0, 0.3], 0.155 * 0.06**2),
    ([0.155, 0.0, 0.03], [-2.0, 0.0, -0.6], 0.155 * 0.06**2),
    ([0.1, 0.03, 0.03], [1.0, 0.4, -0.5], 0.1 * 0.06**2),
    ([0.12, 0.0, 0.0], [1.0, 0.0, 0.0], 0.12 * 0.06**2),  # through nodes of the volume
    ([7 / 17 * 0.24, 0.0, 0.0], [1.0, 0.0, 0.0], 7 / 17 * 0.24 * 0.06**2),  # through vertices of the skin
])
def test_both_pieces_of_a_bar_are_closed_and_have_their_share_of_it(point, normal, left):
    after, done, _, shape = cut_with(bar(), "plane", point=point, normal=normal)
    x, part = after.prepared.embedding.apply(shape.x), part_of_vertex(after)
    assert (part[after.triangles] == part[after.triangles[:, :1]]).all()
    assert (after.source < 0).any() and (after.source >= 0).any()
    near = part[np.argmin(x[:, 0])]
    assert set(part) == {0, 1}
    mine = part[after.triangles[:, 0]] == near
    assert volume(x, after.triangles[mine]) == pytest.approx(left, rel=1e-6)
    assert volume(x, after.triangles[~mine]) == pytest.approx(0.24 * 0.06**2 - left, rel=1e-6)
    # a rigid motion of one piece takes all of its mesh along and leaves the other where it is
    node_part = np.zeros(len(shape.x), dtype=int)
    node_part[shape.tets] = face_parts(shape.tets)[1][:, None]
    moved = shape.x + (node_part == near)[:, None] * [0.0, 0.0, -1.0]
    away = after.prepared.embedding.apply(moved) - x
    assert np.abs(away - (part == near)[:, None] * [0.0, 0.0, -1.0]).max() < 1e-12


def test_a_cut_through_vertices_of_the_skin_makes_no_slivers():
    vertices, triangles = skin()
    in_plane = np.abs(vertices[:, 0] - 7 / 17 * 0.24) < 1e-9
    after, done, _, _ = cut_with(bar(), "plane", point=[7 / 17 * 0.24, 0.0, 0.0], normal=[1.0, 0.0, 0.0])
    outer = done.parents[: in_plane.sum()]
    assert np.array_equal(np.sort(outer[:, 0]), np.flatnonzero(in_plane)) and np.array_equal(outer[:, 0], outer[:, 1])
    assert (after.source >= 0).sum() == len(triangles)


def bend(nodes):
    """A quarter turn of the bar about y, stretched and sheared on the way."""
    angle = nodes[:, 0] / SIZE[0] * np.pi / 2
    radius = 0.16 - 1.1 * nodes[:, 2]
    return np.stack([radius * np.sin(angle), nodes[:, 1] + 0.2 * nodes[:, 2], 0.16 - radius * np.cos(angle)], axis=1)


def test_a_bent_bar_is_cut_where_it_is_then():
    point, normal = np.array([0.1, 0.03, 0.05]), np.array([0.8, 0.1, 0.7])
    after, done, cut, shape = cut_with(bar(), "plane", bend, point=point.tolist(), normal=normal.tolist())
    x, part = after.prepared.embedding.apply(shape.x), part_of_vertex(after)
    height = (x - point) @ normal
    side = np.array([np.sign(height[part == k].mean()) for k in range(part.max() + 1)])
    assert len(side) == 2 and set(side) == {-1, 1}
    assert (height * side[part] > -1e-9).all()  # no vertex is on the wrong side
    inner = np.unique(after.triangles[after.source < 0])
    assert np.abs(height[inner]).max() < 1e-9
    # the vertices of the artist have not moved
    before = bar().prepared.embedding.apply(bend(box_tets((12, 3, 3), SIZE)[0]))
    assert np.abs(x[:len(before)] - before).max() < 1e-14


@pytest.mark.parametrize("name", some(["suzanne", "ellipsoid"], "ellipsoid"))
def test_real_meshes_in_random_planes(name):
    whole = saved(name)
    nodes = whole.prepared.volume.nodes
    rng = np.random.default_rng(7)
    old = whole.prepared.embedding.apply(nodes)
    for _ in range(6):
        normal = rng.normal(size=3)
        point = nodes.mean(axis=0) + 0.2 * np.ptp(nodes, axis=0) * rng.uniform(-1, 1, 3)
        after, done, cut, shape = cut_with(whole, "plane", point=point.tolist(), normal=normal.tolist())
        x, part = after.prepared.embedding.apply(shape.x), part_of_vertex(after)
        one_part = (part[after.triangles] == part[after.triangles[:, :1]]).all(axis=1)
        assert one_part.all()
        assert np.abs(after.prepared.embedding.weights).max() < 12
        assert np.abs(x[:len(old)] - old).max() < 1e-12
        height = (x - point) @ normal / np.linalg.norm(normal)
        edge = np.ptp(nodes, axis=0).max() / 20
        for k in range(part.max() + 1):
            mine = height[part == k]
            assert min(mine.max(), -mine.min()) < 0.5 * edge  # where no tetrahedron on its side is near
        if name == "ellipsoid":
            pieces = [volume(x, after.triangles[part[after.triangles[:, 0]] == k]) for k in range(part.max() + 1)]
            assert min(pieces) > 0 and sum(pieces) == pytest.approx(volume(old, whole.triangles), rel=0.01)


def test_two_cuts_one_after_the_other():
    """The second cut passes through faces opened by the first."""
    first, _, _, _ = cut_with(bar(), "plane", point=[0.12, 0.0, 0.0], normal=[1.0, 0.0, 0.0])
    after, done, _, shape = cut_with(first, "plane", point=[0.12, 0.0, 0.031], normal=[0.2, 0.0, 1.0])
    x, part = after.prepared.embedding.apply(shape.x), part_of_vertex(after)
    assert part.max() == 3
    pieces = [volume(x, after.triangles[part[after.triangles[:, 0]] == k]) for k in range(4)]
    assert min(pieces) > 9e-5 and sum(pieces) == pytest.approx(0.24 * 0.06**2, rel=1e-6)
    crossed = done.source < 0
    assert crossed.sum() > (first.source < 0).sum()


def test_a_sheet_that_ends_inside_opens_the_skin_just_so_far():
    sheet = np.array([[0.1, -1, 0.02], [0.1, 1, 0.02], [0.1, 1, 1.0], [0.1, -1, 1.0]])
    after, done, _, shape = cut_with(bar(), "sheet", vertices=sheet,
                                     triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32))
    x = after.prepared.embedding.apply(shape.x)
    new = x[len(skin()[0]):]
    assert np.abs(new[:, 0] - 0.1).max() < 1e-9 and 0.02 - 1e-9 < new[:, 2].min() < 0.03
    assert part_of_vertex(after).max() == 0 and volume(x, after.triangles) == pytest.approx(0.24 * 0.06**2, rel=1e-6)
    # the sides of the slit are pulled apart: each of its walls goes with its own side
    tet_side = np.sign(shape.centres[:, 0] - 0.1)
    carried = tet_side[after.prepared.embedding.tet[len(skin()[0]):]]
    assert {*carried} == {-1.0, 1.0}
    inner = after.triangles[after.source < 0]
    a, b, c = x[inner].transpose(1, 0, 2)
    facing, own = np.sign(np.cross(b - a, c - a)[:, 0]), tet_side[after.prepared.embedding.tet[inner[:, 0]]]
    above = a[:, 2] > 0.045  # below, a tetrahedron at the slit's end may carry both
    assert above.sum() > 20 and np.array_equal(facing[above], -own[above])


def test_a_plane_beside_the_body_or_within_its_last_tetrahedra_does_nothing():
    whole = bar()
    for x in (-0.1, 0.0005, 0.2398, 0.3):
        shape = Shape(whole.prepared.volume.nodes, whole.prepared.volume.tets, whole.origin)
        cut = catalogue.find("cut", "plane").load()(
            CutField(frame=1, kind="plane", point=(x, 0.0, 0.0), normal=(1.0, 0.2, 0.0)), lambda name: None, shape)
        assert cut_body(whole, cut, shape) is None


def test_triangles_are_split_into_pieces_of_the_same_area():
    """Every pattern of crossed edges, with random places."""
    rng = np.random.default_rng(1)
    triangle = np.array([[0, 1, 2]], np.int32)
    points = rng.normal(size=(3, 3))
    edges, edge = edges_of(triangle)

    def area(x, which):
        a, b, c = x[which].transpose(1, 0, 2)
        return np.cross(b - a, c - a).sum(axis=0) / 2

    for pattern in range(8):
        is_crossed = np.array([(pattern >> k) & 1 for k in range(3)], bool)
        shares = np.where(is_crossed, rng.uniform(0.2, 0.8, 3), np.nan)
        seam = split_triangles(3, triangle, edges, edge, shares)
        new = between(points, seam.parents, seam.fractions)
        x = np.concatenate([points, new])
        assert len(seam.triangles) == (1, 2, 3, 4)[is_crossed.sum()] and len(new) == (0, 2, 4, 7)[is_crossed.sum()]
        assert area(x, seam.triangles) == pytest.approx(area(points, triangle), rel=1e-12)
        if is_crossed.all():  # each corner for itself, the middle with the first one
            assert np.bincount(seam.triangles.ravel()).max() == 2
        if is_crossed.sum() == 2:  # the corner that is cut off shares no vertex with the rest
            assert not np.isin(seam.triangles[0], seam.triangles[1:]).any()
