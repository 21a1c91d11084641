"""Small systems in which tuned constants of sheet/ steer; see `tuned_units`."""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from tuned_units_contact import Interpreted

from solver.errors import BadMesh
from solver.sheet import (
    adapt,
    adapt_kernels,
    around_kernels,
    chart,
    collapse_kernels,
    insertion,
    joining,
    mesh_kernels,
    operations_kernels,
    overlap,
    polar_kernels,
    tracking,
    transfer,
)
from solver.sheet.conform import conform
from solver.sheet.limits import RemeshLimits
from solver.sheet.runs import Runs
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.sizing import Sizing
from solver.sheet.working import Working

CLOTH = str(Path(__file__).parent / "cloth")
if CLOTH not in sys.path:
    sys.path.append(CLOTH)
from sheets import grid  # noqa: E402
from sheets_eol import flat  # noqa: E402
from sliding_sheets import box_features  # noqa: E402
from sliding_sheets import flat as on_a_box  # noqa: E402

KERNELS = (adapt_kernels, collapse_kernels, mesh_kernels, operations_kernels)


def _fails(make, *given):
    try:
        make(*given)
    except BadMesh:
        return True
    return False


def _sheet(X, faces, x=None, required=None):
    """A sheet of given triangles, where nothing is required but what is given, and its metric that of 1 m."""
    X, faces = np.array(X, float), np.array(faces, np.int32)
    n = len(X)
    mesh = SheetMesh(np.column_stack([X, np.zeros(n)]) if x is None else np.array(x, float), X, faces, np.zeros((n, 3)),
                     np.zeros((n, 2)), np.full(n, -1, np.int32), np.zeros(n, bool) if required is None else required)
    working = Working(mesh)
    working.metric[:] = [1.0, 0.0, 1.0]
    return working


def corners_of_a_uv_map_that_are_equal():
    """Whether a UV map is refused in which a corner of a vertex is off by so much."""
    rest, faces = grid(2, 2, 1.0, 1.0)
    found = []
    for off in (1e-7, 1e-3):
        corners = rest[:, :2][faces].copy()
        corners[0, 0, 0] += off
        found.append(_fails(chart.from_corners, rest, faces, corners))
    return found


def meshes_that_are_flat_enough():
    """Whether a mesh is refused that stands so much off its plane."""
    rest, faces = grid(4, 4, 1.0, 1.0)
    return [_fails(chart.of_flat, rest + np.outer(rest[:, 0] ** 2, [0.0, 0.0, off]), faces, np.array([1.0, 0.0, 0.0]))
            for off in (1e-4, 0.05)]


def faces_that_only_touch():
    """Whether faces overlap by so much."""
    found = []
    for deep in (1e-11, 1e-6):
        X = np.array([[0.0, 0], [1, 0], [0, 1], [deep, 0.5 + 0.0], [-1, 1], [-1, 0]])
        found.append(overlap.overlapping_faces(X, np.array([[0, 1, 2], [3, 4, 5]])) is not None)
    return found


def mean_rotation_at_a_vertex():
    """Mean gradients of faces whose rotations differ much, to the last bit."""
    found = []
    for count, seed in ((3, 3), (5, 19)):
        random = np.random.default_rng(seed)
        around = np.column_stack([np.zeros(count), np.arange(1, count + 1), np.arange(2, count + 2)]).astype(np.int32)
        polar, out = np.zeros((count, 7)), np.zeros((count + 2, 3, 2))
        polar[:, :4] = random.normal(size=(count, 4))
        polar[:, :4] /= np.linalg.norm(polar[:, :4], axis=1)[:, None]
        polar[:, 4] = polar[:, 6] = 1.0
        with Interpreted(polar_kernels, around_kernels):
            polar_kernels.average(around, np.ones(count), polar, out)
        found.append(out.tobytes())
    return found


def corners_of_a_border():
    """Numbers of required vertices of polygons with so many sides."""
    found = []
    for count in (8, 12, 24):
        turn = 2.0 * np.pi * np.arange(count) / count
        X = np.concatenate([[[0.0, 0.0]], np.stack([np.cos(turn), np.sin(turn)], axis=1)])
        at = np.arange(count)
        faces = np.stack([np.zeros(count, int), 1 + at, 1 + (at + 1) % count], axis=1)
        found.append(int(SheetMesh.at_rest(np.column_stack([X, np.zeros(len(X))]), X, faces).required.sum()))
    return found


def pieces_that_touch():
    """Words on a cloth of two pieces that are so far apart."""
    found = []
    for apart in (1e-7, 1e-3):
        rest, faces = grid(2, 2, 1.0, 1.0)
        x = np.concatenate([rest, rest + [1.0 + apart, 0.0, 0.0]])
        try:
            SheetMesh.at_rest(x, x[:, :2], np.concatenate([faces, faces + len(rest)]))
        except BadMesh as error:
            found.append(str(error))
    return found


def faces_without_area():
    """Whether a cloth is refused with a face of so small an area."""
    found = []
    for high in (1e-14, 1e-9):
        X = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, high], [0.5, 1.0]])
        found.append(_fails(SheetMesh.at_rest, np.column_stack([X, np.zeros(4)]), X, [[0, 1, 2], [0, 2, 3], [2, 1, 3]]))
    return found


def slides_that_shrink_faces():
    """Largest fractions of steps in which a vertex slides into a face, and along one that is thin."""
    found = []
    for X, way in (([[0.0, 0], [1, 0], [0.5, 0.9]], [0.0, -1.5]), ([[0.0, 0], [1, 0], [0.5, 0.05]], [0.0, -0.04])):
        mesh = _sheet(X, [[0, 1, 2]])._from
        slide = np.zeros((3, 2))
        slide[2] = way
        found.append(tracking.limit_slide(replace(mesh, slide=slide), 1.0, 0.2))
    return found


def cloth_that_has_collapsed():
    """Velocities in material space, to three digits, where the cloth is so much shorter in one direction."""
    found = []
    for short in (1e-6, 1e-3):
        F = np.array([[[1.0, 0.0], [0.0, short], [0.0, 0.0]]])
        world = np.array([[0.3, 0.2 * short, 0.1]])
        found += [transfer.sliding(world, F, np.array(across), np.zeros((1, 3)))[1].round(3).tolist()
                  for across in ([[0.0, 0.0]], [[1.0, 0.0]])]
    return found


def capacity_of_a_mesh_that_grows():
    """Numbers of rows after room was made for a vertex."""
    working = _sheet([[0.0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
    working.room(1)
    return len(working.at), len(working.faces)


def borders_that_are_straight():
    """Outcomes of collapses along a border that turns by so much."""
    found = []
    for turn in (1e-11, 1e-6):
        working = _sheet([[0.0, 0], [0.5, -turn], [1, 0], [0.5, 0.9]], [[0, 1, 3], [1, 2, 3]])
        found.append(int(working.may_collapse(1, 0)))
    return found


def angles_after_a_flip():
    """Outcomes of flips after which the smallest angle is so small [°]."""
    found = []
    for degrees in (1.0, 3.0, 6.0):
        low = 0.5 * np.tan(np.deg2rad(degrees))
        working = _sheet([[0.0, 0], [0.5, -low], [1, 0], [0.5, 0.9]], [[0, 1, 3], [1, 2, 3]])
        found.append(int(working.flip(1, 3)))
    return found


def fans_of_many_faces():
    """Numbers of faces around a vertex with so many, 0 where it is not changed."""
    found = []
    for count in (30, 100):
        turn = 2.0 * np.pi * np.arange(count) / count
        X = np.concatenate([[[0.0, 0.0]], np.stack([np.cos(turn), np.sin(turn)], axis=1)])
        at = np.arange(count)
        working = _sheet(X, np.stack([np.zeros(count, int), 1 + at, 1 + (at + 1) % count], axis=1))
        with Interpreted(mesh_kernels):
            found.append(len(working.faces_around(0)))
    return found


def new_vertices_where_old_ones_were():
    """Whether new vertices are where others were removed, off by so much."""
    found = []
    for off in (1e-14, 1e-9):
        working = SimpleNamespace(alive=np.array([True, False, True]), counts=[3],
                                  material=np.array([[0.0, 0.0], [0.5, 0.5], [0.5 + off, 0.5]]))
        mesh = SimpleNamespace(x=np.zeros((2, 3)), material=np.array([[0.0, 0.0], [0.5, 0.5]]))
        found.append(adapt._is_back(working, mesh))
    return found


def edges_that_are_visibly_too_long():
    """Whether there are words on edges that are so many times too long."""
    found = []
    for times in (1.5, 4.0):
        working, sizing = Working(flat(4)), Sizing(1e-3, 0.25 * 2.0**0.5 / times)
        found.append(adapt._message_of(working, sizing, adapt.Measurements(working)) is not None)
    return found


def splits_of_a_long_strip():
    """Numbers of splits, flips and collapses of a strip that is much longer than its edges are to be."""
    rest, faces = grid(1, 1, 1.0, 2e-5)
    working, sizing = Working(SheetMesh.at_rest(rest, rest[:, :2], faces)), Sizing(1e-5, 1.1e-4, most_faces=100_000)
    seen = adapt.Measurements(working)
    adapt.measure(working, sizing, seen)
    return adapt._adapt_once(working, sizing, seen)


def flips_of_a_long_fan():
    """Number of flips of a strip all of whose edges end in one of its vertices."""
    count = 40
    low = np.stack([np.arange(count), np.zeros(count)], axis=1)
    X = np.concatenate([low * [0.5, 1.0], low * [0.5, 1.0] + [0.0, 1.0]])
    at = np.arange(count - 1)
    faces = np.concatenate([np.stack([at, at + 1, np.full(count - 1, count)], 1),
                            np.stack([at + count, np.full(count - 1, count - 1), at + count + 1], 1)[::-1]])
    working = _sheet(X, faces)
    working.thinnest = 0.0
    return adapt._flip(working)


def edges_that_are_not_delaunay():
    """Numbers of flips of squares that are wider by so much than high."""
    found = []
    for wider in (1e-3, 3e-2, 0.3):
        working = _sheet([[0.0, 0], [1, 0], [1 + wider, 1], [wider, 1]], [[0, 1, 2], [0, 2, 3]])
        found.append(_flips(working))
    return found


def _flips(working):
    with Interpreted(*KERNELS):
        return int(adapt_kernels.flip_to_delaunay(working.arrays, working.thinnest, 3))


def flips_that_pop():
    """Numbers of flips of bent pairs of faces, with and without required vertices, by such heights."""
    found = []
    for high in (3e-6, 3e-4, 0.01, 0.1):
        for required in (False, True):
            X = np.array([[0.0, 0], [1, 0], [1.5, 1], [0.5, 1]])
            x = np.column_stack([X, [0.0, high, 0.0, high]])
            found.append(_flips(_sheet(X, [[0, 1, 2], [0, 2, 3]], x, np.full(4, required))))
    return found


def edges_that_may_be_split():
    """Whether edges of thin and of flat pairs of faces may be split, and of short ones."""
    found = []
    with Interpreted(*KERNELS):
        for high in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 5.0):
            for long in (0.1, 0.3, 1.0, 3.0):
                for aside in (0.5, 0.2, 0.02):
                    working = _sheet(np.array([[0.0, 0], [1, 0], [aside, high], [1 - aside, -high]]) * long,
                                     [[0, 1, 2], [1, 0, 3]])
                    found += [bool(adapt_kernels.may_split(working.arrays, 0, 2, thinnest))
                              for thinnest in (working.thinnest, 0.3)]
    return found


def edges_that_may_be_collapsed():
    """Squared lengths that new edges may have after collapses of thin and short edges, and across folds."""
    found = []
    with Interpreted(*KERNELS):
        for near in (0.02, 0.06, 0.2, 0.4):
            for long in (0.5, 2.0):
                for fold in (0.0, 0.2, 0.5, 1.0):
                    X = np.array([[0.0, 0], [near, 0], [1, 0.8], [-1, 0.8], [-1, -0.8], [1, -0.8]]) * long
                    x = np.column_stack([X, np.zeros(6)])
                    x[3:5, 0], x[3:5, 2] = -long * np.cos(fold), long * np.sin(fold)
                    faces = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [0, 5, 1], [1, 5, 2]]
                    found.append(float(collapse_kernels.limit_after(_sheet(X, faces, x).arrays, 0, 1, 0.8)))
    return found


def _conformed(cells, seed, rough, h, one_layer=False):
    """A sheet of cells that lies on a box somewhere, is shaken, conforms to the box, moves on and conforms again."""
    random = np.random.default_rng(seed)
    mesh = on_a_box(cells, middle=tuple(random.uniform(0.2, 1.0, 2)), turn=random.uniform(0.0, 1.5))
    x = mesh.x.copy()
    x[:, :2] += rough * random.normal(size=(len(x), 2))
    v = random.normal(size=x.shape) * [1.0, 1.0, 0.0] + random.normal(size=3) * [3.0, 3.0, 0.0]
    mesh, found = replace(mesh, x=x, v=v if h else 0.0 * v), []
    limits = replace(RemeshLimits.of(mesh, 2e-3), one_layer=one_layer)
    for _ in range(2):
        made = conform(mesh, box_features(), limits, h=h).mesh
        found += [made.x.tobytes(), made.material.tobytes(), made.faces.tobytes(), made.on.tobytes()]
        way = np.where(made.on[:, None] < 0, [0.04, -0.03, 0.0], 0.0)
        mesh = replace(made, x=made.x + way)
    return found


def sheets_on_a_box():
    """Sheets that lie on a box and conform to its edges."""
    return _conformed(6, 0, 0.0, 0.0), _conformed(6, 1, 0.0, 0.0), _conformed(6, 0, 0.03, 0.02)


def crumpled_sheet_on_a_box():
    """A crumpled sheet that moves over a box and conforms to its edges."""
    return _conformed(12, 0, 0.09, 0.02)


def layers_on_a_box():
    """A crumpled sheet of which only one layer may be on an edge of a box."""
    return _conformed(12, 0, 0.09, 0.0, True)


def vertices_far_apart_on_an_edge():
    """Whether two vertices on an edge of a box are joined across so many cells of a sheet."""
    found = []
    for cells in (3, 6, 9, 12):
        mesh, runs = on_a_box(16, middle=(1.0, 0.5), turn=0.0, side=0.8), Runs(box_features())
        column = np.argsort(np.abs(mesh.x[:, 0] - 1.0), kind="stable")[:17]
        column = column[np.argsort(mesh.x[column, 1])]
        working = Working(mesh, runs.points, runs.ends)
        middle = np.array([[1.0, 0.5, 1.0]])
        run = min(range(len(runs.ends)), key=lambda run: np.linalg.norm(runs.nearest(run, middle)[2] - middle))
        a, b = int(column[1]), int(column[1 + cells])
        b = int(np.argmin(np.linalg.norm(mesh.x - mesh.x[b] - [0.05, 0.0, 0.0], axis=1)))
        now = insertion.Conforming(working, runs, RemeshLimits.of(mesh, 2e-3), 0.0,
                                   mesh.material[mesh.border_edges], np.zeros(3))
        working.on[[a, b]] = runs.points + run
        found.append(bool(joining._join(now, run, a, b)))
    return found


UNITS = tuple(value for name, value in list(globals().items())
              if callable(value) and getattr(value, "__module__", "") == __name__ and not name.startswith("_"))
