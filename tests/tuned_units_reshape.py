"""Small systems in which tuned constants of cuts, nails and groups of bodies steer; see `tuned_units`."""

import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from small_jobs import box_tets
from tuned_jobs import touching

from solver.build import contact
from solver.build.fields import Prepared
from solver.build.soft_bodies import prepare_all
from solver.embedding.bind import bind
from solver.fields.build import Fields
from solver.job.load import load
from solver.job.schema import Body
from solver.meshing.volume import Volume, boundary_faces, mean_edge
from solver.reshape import body, nails
from solver.reshape.boxes import Boxes
from solver.reshape.carriers import Carriers
from solver.reshape.cuts.interface import Shape
from solver.reshape.cuts.plane import Plane
from solver.reshape.cuts.sheet import CuttingSheet
from solver.reshape.kerf import _into, open_kerf, open_kerf_if_clear
from solver.reshape.reach import Reach
from solver.reshape.regroup import Regroup
from solver.reshape.reshape import Reshape
from solver.reshape.seam import edges_of, split_triangles
from solver.reshape.split import separate

NONE = np.zeros(0, np.int32)


def _shape(nodes, tets):
    return Shape(nodes, tets, np.arange(len(nodes), dtype=np.int32))


@cache
def _bar(cells=(6, 2, 2), fine=(11, 4, 4)):
    """A bar of 3 m by 1 m by 1 m, with a mesh of other triangles."""
    nodes, tets = box_tets(cells, (3.0, 1.0, 1.0))
    surface, its = box_tets(fine, (3.0, 1.0, 1.0))
    used, corners = np.unique(boundary_faces(its)[0], return_inverse=True)
    triangles = corners.reshape(-1, 3).astype(np.int32)
    fields = Fields({}, np.ones(len(tets)), NONE, NONE, {}, None, None, ())
    prepared = Prepared(Body(name="Bar"), Volume(nodes, tets), bind(nodes, tets, surface[used], triangles), fields)
    return body.WholeBody.uncut(prepared, triangles)


def _plane(shape, x, normal=(1.0, 0.0, 0.3)):
    return Plane(SimpleNamespace(normal=normal, point=(x, 0.5, 0.5)), None, shape)


def carriers_beside_a_cut():
    """How many vertices of two bars, of small and of large tetrahedra, are carried on one side of a sheet that cuts
    into them."""
    found = []
    for cells in ((12, 4, 4), (6, 2, 2)):
        whole = _bar(cells, (3, 1, 1))
        shape = Shape(whole.prepared.volume.nodes, whole.prepared.volume.tets, whole.origin)
        sheet = CuttingSheet.of(np.array([[1.23, -1, -1], [1.23, -1, 0.56], [1.23, 2, -1], [1.23, 2, 0.56]]),
                                np.array([[0, 1, 3], [0, 3, 2]], np.int32), shape.size)
        found.append(int((shape.centres[body.cut_body(whole, sheet, shape).carrier, 0] > 1.23).sum()))
    return found


def weights_that_are_steep():
    """Whether the weights of points beside flat tetrahedra, of 4 and of 40, are taken from where they are at rest."""
    rest = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    found = []
    for flat in (0.25, 0.025):
        now = np.array([[0.2, 0.2, 1.0]])
        weights = body._weigh_points(now, rest * [1.0, 1.0, flat], np.array([[0.2, 0.2, 0.2]]), rest)
        found.append(bool(np.abs(weights).max() < 1.0))
    return found


def paths_that_turn():
    """Whether the space that a point sweeps on an arc of 90° is in its box, and one beside its path is not."""
    low = np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]])
    swept = Boxes(np.array([0]), low[0], low[0]).sweep_to(Boxes(np.array([0]), low[1], low[1]))
    middle = np.array([1.0, 1.0, 0.0]) / 2**0.5
    beside = np.array([1.0, 1.0, 1.0])
    return [bool(((swept.low[0] <= point) & (point <= swept.high[0])).all())
            for point in (middle + [0.0, 0.0, 0.2], beside)]


def tetrahedra_that_carry():
    """The tetrahedron that carries a point, of those of the group that are so far down a list of the nearest."""
    nodes, tets = box_tets((6, 6, 6), (1.0, 1.0, 1.0))
    shape, point = _shape(nodes, tets), np.array([[0.52, 0.53, 0.54]])
    order = np.argsort(np.linalg.norm(shape.centres - point, axis=1))
    carriers, found = Carriers(shape, _plane(shape, 9.0), np.zeros(len(tets), bool)), []
    for start in (10, 60):
        group = np.zeros(len(tets), np.int32)
        group[order[start:start + 2]] = 1
        found.append(int(carriers.find(point, point, group, np.ones(1, np.int32))[0]) >= 0)
    return found


def points_beside_a_body():
    """Whether a tetrahedron carries points that are so many of its radii away."""
    nodes, tets = box_tets((1, 1, 1), (1.0, 1.0, 1.0))
    carriers = Carriers(_shape(nodes, tets), _plane(_shape(nodes, tets), 99.0), np.zeros(len(tets), bool))
    group = np.zeros(len(tets), np.int32)
    points = np.array([[0.5, 0.5, 2.2], [0.5, 0.5, 6.0]])
    return (carriers.find(points, points, group, np.zeros(2, np.int32)) >= 0).tolist()


def points_on_a_face():
    """Whether the nearer one of two tetrahedra carries a point between both, which rounding leaves outside of it, and
    a point that is just in the other one."""
    nodes = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.3, 0.3, -3.0]])
    tets = np.array([[0, 1, 2, 3], [0, 2, 1, 4]], np.int32)
    carriers = Carriers(_shape(nodes, tets), _plane(_shape(nodes, tets), 99.0), np.zeros(2, bool))
    points = np.array([[0.25, 0.25, -1e-12], [0.25, 0.25, -0.04]])
    return (carriers.find(points, points, np.zeros(2, np.int32), np.zeros(2, np.int32)) == 0).tolist()


def nodes_in_a_cut():
    """On which side of a plane through a node the node is, for planes that rounding shifts, and one 1 % of the body's
    size behind it."""
    nodes, tets = box_tets((3, 1, 1), (0.3, 0.1, 0.1))
    found = []
    for x in (0.1 + 1e-15, 0.1 - 1e-15, 0.103):
        cut = _plane(_shape(nodes, tets), x, (1.0, 0.0, 0.0))
        found.append(bool(np.isnan(cut.intersections(np.array([[0.1, 0.0, 0.0]]), np.array([[9.0, 0.0, 0.0]])))[0]))
    return found


def _slit():
    """A body that came apart at its middle: its nodes, tetrahedra, sources and faces."""
    nodes, tets = box_tets((4, 3, 2), (0.4, 0.3, 0.2))
    shape = _shape(nodes, tets)
    apart = (shape.centres[shape.inner // 4, 0] > 0.2).sum(axis=1) == 1
    split, source = separate(tets, shape.inner, apart)
    return nodes[source], split, source, shape.inner[apart]


def directions_into_a_corner():
    """How far the shortest vector in the hull of a corner's normals is from the true one, as a power of ten."""
    rng = np.random.default_rng(4)
    normals = [0.0, 0.0, 1.0] + rng.normal(size=(40, 12, 3))
    normals[:, :, 2] = np.maximum(normals[:, :, 2], 0.05)
    normals /= np.linalg.norm(normals, axis=2)[:, :, None]
    found = _into(normals)
    off = np.einsum("ki,ki->k", found, found) - np.einsum("kci,ki->kc", normals, found).min(axis=1)
    return round(float(np.log10(off.max())), 1)


def widths_that_are_clear():
    """How far a cut opens in a body whose end is folded into it, at whatever width, and in one of which nothing is."""
    x, tets, source, faces = _slit()
    folded = x.copy()
    folded[x[:, 0] > 0.35, 0] = 0.2996
    return [round(float(np.abs(open_kerf_if_clear(before, tets, source, faces, 0.05) - before).max()), 4)
            for before in (folded, x)]


def nodes_in_a_narrow_corner():
    """How far the nodes of a cut through a blade move, in half a width."""
    nodes, tets = box_tets((2, 2, 2), (2.0, 1.0, 1.0))
    across, up = nodes[:, 1] - 0.5, nodes[:, 2] - 0.5
    nodes = np.stack([nodes[:, 0], across - up, 0.1 * (across + up)], axis=1)
    shape = _shape(nodes, tets)
    apart = (shape.centres[shape.inner // 4, 0] > 1.0).sum(axis=1) == 1
    split, source = separate(tets, shape.inner, apart)
    after = open_kerf(nodes[source], split, source, shape.inner[apart], 2e-3)
    return round(float(np.linalg.norm(after - nodes[source], axis=1).max() / 1e-3), 3)


def tetrahedra_that_a_nail_crosses():
    """How many nodes a thin nail along a bar holds, which crosses four hundred of its tetrahedra."""
    nodes, tets = box_tets((100, 1, 1), (100.0, 1.0, 1.0))
    prepared = SimpleNamespace(volume=Volume(nodes, tets), embedding=None,
                               fields=SimpleNamespace(pinned=NONE, attached=NONE))
    nail = SimpleNamespace(head=(0.13, 0.21, 0.08), tip=(99.7, 0.71, 0.93), radius=1e-9, motion=None)
    driven = nails.drive(None, SimpleNamespace(nails=[nail]), 0, SimpleNamespace(prepared=prepared), nodes)
    return len(driven.nodes)


def _boxes(gap):
    low = np.array([[0.0, 0.0, 0.0], [1.0 + gap, 0.0, 0.0]])
    return Boxes(np.array([0, 1]), low, low + 1.0)


def groups_that_merge():
    """Whether the groups of two bodies of 1 m merge that are so near each other."""
    reach = Reach(np.ones(2), np.zeros(2), np.ones((2, 2), bool))
    return [len(reach.find_near_pairs(_boxes(gap), 0.0)) for gap in (0.01, 1.0)]


def groups_at_the_start():
    """Numbers of groups of two bodies of 10 cm that start so far from each other [m]."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for k, gap in enumerate((0.03, 0.6)):
            job = touching()(Path(folder) / str(k))
            upper = np.load(job / "arrays" / "B_nodes.npy")
            np.save(job / "arrays" / "B_nodes.npy", upper + [0.0, 0.0, gap])
            loaded = load(job)
            regroup = Regroup(loaded)
            regroup._part = lambda tokens: tokens
            found.append(len(regroup.begin(prepare_all(loaded, lambda *_: None), None)))
    return found


def sides_of_a_cut_in_contact():
    """Whether the sides of a cut have no contact force at rest, and less than a fifth of an edge between them."""
    with tempfile.TemporaryDirectory() as folder:
        job = touching()(Path(folder) / "job")
        loaded = load(job)
        prepared = prepare_all(loaded, lambda *_: None)
        [width, _] = Reshape(loaded, prepared, [SimpleNamespace(part=SimpleNamespace(bodies=()))])._kerf
    nodes, tets = prepared[0].volume.nodes, prepared[0].volume.tets
    shape = _shape(nodes, tets)
    apart = (shape.centres[shape.inner // 4, 0] > nodes[:, 0].mean()).sum(axis=1) == 1
    split, source = separate(tets, shape.inner, apart)
    x, edge = open_kerf(nodes[source], split, source, shape.inner[apart], width), mean_edge(nodes, prepared[0].skin)
    gap = float(np.linalg.norm(x[len(nodes):] - x[source[len(nodes):]], axis=1).min())
    return gap > 0.99 * contact.LEAST_REACH / contact.OF_REST * edge, gap < 0.2 * edge


def vertices_in_a_cut():
    """Numbers of vertices after a cut that crosses an edge so near to its end."""
    triangles = np.array([[0, 1, 2], [2, 1, 3]], np.int32)
    edges, edge = edges_of(triangles)
    found = []
    for near in (1e-9, 1e-2):
        fractions = np.full(len(edges), np.nan)
        fractions[[0, 2]] = near, 0.5
        found.append(len(split_triangles(4, triangles, edges, edge, fractions).parents))
    return found


UNITS = (
    carriers_beside_a_cut, weights_that_are_steep, paths_that_turn, tetrahedra_that_carry, points_beside_a_body,
    points_on_a_face, nodes_in_a_cut, directions_into_a_corner, widths_that_are_clear, nodes_in_a_narrow_corner,
    tetrahedra_that_a_nail_crosses, groups_that_merge, groups_at_the_start, sides_of_a_cut_in_contact,
    vertices_in_a_cut)
