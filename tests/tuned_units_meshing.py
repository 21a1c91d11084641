"""Small systems in which tuned constants of meshing/ steer; see `tuned_units`."""

import queue
from types import SimpleNamespace

import numpy as np
import pytest
from solids import ball, globe
from solids import box as cube
from tuned_units_contact import Interpreted

from solver.errors import ConJacError
from solver.meshing import (
    accepted,
    cells,
    child,
    closest_kernels,
    normals,
    parting,
    sheets,
    slivers,
    surface,
    tetrahedralize,
    tetwild,
    thinning,
    thinning_kernels,
)
from solver.meshing.grid import box_tets
from solver.meshing.near_triangles import find_near_triangles, least_spacing
from solver.meshing.volume import Volume, boundary_faces


def _fails(make, *given):
    try:
        make(*given)
    except (ConJacError, accepted.Unusable):
        return True
    return False


def _box(size=(1.0, 1.0, 1.0), origin=(0.0, 0.0, 0.0), counts=(2, 2, 2)):
    nodes, tets = box_tets(counts, size, origin)
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    return nodes[used], corners.reshape(-1, 3).astype(np.int32)


def _joined(*surfaces):
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in surfaces)])
    return (np.concatenate([vertices for vertices, _ in surfaces]),
            np.concatenate([triangles + start for (_, triangles), start in zip(surfaces, starts)]).astype(np.int32))


def tetrahedra_that_are_flat():
    """Whether a mesh is refused in which the quality of a tetrahedron is this."""
    found = []
    for high in (3e-6, 3e-4):
        nodes, tets = box_tets((2, 2, 2), (1.0, 1.0, 1.0), (-0.5, -0.5, -0.5))
        whole = surface.clean(nodes, boundary_faces(tets)[0])
        nodes[13] = [-0.5 + 0.5 * high, -0.25, -0.25]  # nearly in the boundary
        found.append(_fails(accepted.accept_mesh, nodes, tets, whole))
    return found


def samples_of_an_overlapping_surface():
    """Words with the share of its volume that is filled of a surface that overlaps itself."""
    whole = surface.clean(*_joined(ball(8), (ball(8)[0] * [0.9, 0.7, 1.3] + [0.6, 0.2, 0.1], ball(8)[1])))
    try:
        accepted._check_volume(100.0, whole)
    except accepted.Unusable as refusal:
        return str(refusal)


def cells_beyond_number():
    """Whether boxes of so many cells are refused."""
    return [_fails(cells.cell_counts, np.ones(3), 1.0 / side) for side in (50, 100, 150, 300)]


def cells_of_a_sheet():
    """Edge of cells of a flat box, to nine digits."""
    return round(cells.cell_edge(np.array([1.0, 1.0, 0.001]), 300), 9)


def cells_on_a_slope():
    """Number of cells of a ball."""
    return len(cells.Cells().mesh(*ball(16), {"edge_length": 0.15})[1])


def child_that_says_nothing():
    """Numbers of looks until a child is given up that does not greet, and one whose answer is not whole."""
    looks, clock = [], [0.0]

    def wait(timeout):
        looks.append(timeout)
        clock[0] += timeout
        raise queue.Empty

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        child._has_greeted(SimpleNamespace(get=wait))
        greeting, first = len(looks), [("answer-end", b"")]
        child._follow(None, SimpleNamespace(get=lambda timeout: first.pop() if first else wait(timeout)), np.inf,
                      lambda *_: None, lambda: 0.0)
    return greeting, len(looks) - greeting


def triangles_near_a_point():
    """Least spacing of samples on a ball, and triangles near two points."""
    x, triangles = ball(12)
    near = find_near_triangles(np.array([[0.0, 0.0, 1.1], [0.5, 0.5, 0.9]]), x, triangles, 0.3)
    return least_spacing(x, triangles), near.tolist()


def corners_that_move_with_their_faces():
    """Displacements of a spike's vertices, and of those of a flat square, to nine digits."""
    spike = np.array([[0.0, 0.0, 5.0], [1.0, 0, 0], [-0.5, 0.8, 0], [-0.5, -0.8, 0]])
    faces = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]], np.int32)
    return normals.out_of_all(spike, faces).round(9).tolist()


def _moved(*surfaces, clearance):
    return parting.part_sheets(surface.clean(*_joined(*surfaces)), clearance).moved.round(9).tolist()


def ball_above_a_box():
    """Displacements of a ball, a box below it and plates beside it, to nine digits."""
    x, triangles = ball(12)
    return _moved((0.4 * x + [0.5, 0.5, 1.41], triangles), _box((1.0, 1.0, 1.0), counts=(6, 6, 6)),
                  _box((0.05, 1.0, 1.0), (1.02, 0.0, 0.0), (1, 6, 6)),
                  _box((0.2, 1.0, 1.0), (-0.22, 0.0, 0.0), (1, 6, 6)),
                  _box((1.0, 0.29, 1.0), (0.0, 1.02, 0.0), (6, 1, 6)), clearance=0.1)


def faces_that_look_at_each_other():
    """Numbers of vertices that are displaced of a box and another one whose underside leans so much [°]."""
    found = []
    for lean in (30.0, 60.0):
        vertices, triangles = _box(counts=(6, 6, 6))
        upper = vertices + np.outer((1.0 - vertices[:, 2]) * vertices[:, 0] * np.tan(np.deg2rad(lean)), [0, 0, 1.0])
        moved = _moved((vertices, triangles), (upper + [0.0, 0.0, 1.03], triangles), clearance=0.2)
        found.append(int(np.any(moved, axis=1).sum()))
    return found


def wedge_above_a_box():
    """Displacements of a box whose side leans by 70°, and of one below it, to nine digits."""
    vertices, triangles = _box(counts=(4, 4, 4))
    wedge = vertices + np.outer(vertices[:, 2] * np.tan(np.deg2rad(70.0)), [1.0, 0.0, 0.0])
    return _moved((wedge + [0.0, 0.0, 1.05], triangles), (vertices, triangles), clearance=0.1)


def beams_that_cross():
    """Displacements of two beams that lie on each other and overlap by so much."""
    return [_moved(_box((3.0, 1.0, 1.0), (-1.5, -0.5, -overlap), (1, 1, 1)),
                   _box((1.0, 3.0, 1.0), (-0.5, -1.5, -1.0), (1, 1, 1)), clearance=0.05) for overlap in (3e-9, 3e-5)]


def parts_that_overlap_at_a_vertex():
    """Whether a ball and a plate overlap of which only the first, or the last, pole is in the plate."""
    x, triangles = globe(24)
    found = []
    for side in (1.0, -1.0):
        plate = cube((-2.0, -2.0, side * 1.05 - 0.0501), (2.0, 2.0, side * 1.05 + 0.0501))
        found.append(parting._overlap(surface.clean(*_joined((x, triangles), plate)), 0, 1))
    return found


def nodes_that_go_back():
    """Nodes of volumes after displacements of their surfaces of this size are taken back, to nine digits."""
    found = []
    for size in (0.05, 0.2, 40.0):
        nodes, tets = box_tets((6, 6, 6), (1.0, 1.0, 1.0))
        whole = surface.clean(nodes, boundary_faces(tets)[0])
        moved = size * np.random.default_rng(0).normal(size=whole.vertices.shape)
        found.append(parting.Parted(whole, moved).back(Volume(nodes, tets)).nodes.round(9).tolist())
    return found


def points_of_winding_numbers():
    """Numbers of points at which winding numbers of so many triangles are evaluated."""
    return [sheets._point_count(triangles) for triangles in (100, 10_000)]


def caps_that_enclose():
    """Which caps of a sphere, of these half angles [°], are sheets."""
    found = []
    x, triangles = globe(18)
    for degrees in (30.0, 50.0, 60.0, 80.0):
        inside = (x[triangles][:, :, 2] > np.cos(np.deg2rad(degrees)) - 1e-9).all(axis=1)
        whole = surface.clean(x, triangles[inside])
        found += sheets.find_sheets(whole).parts.tolist()
    return found


def folds_that_are_sheets():
    """Which tubes of this height, flattened and open at both ends, and of these widths, are sheets."""
    found = []
    for high, wide in ((0.005, 1.0), (0.1, 1.5), (0.005, 0.05), (0.005, 3.0)):
        x, triangles = _box((1.0, wide, high), counts=(8, 8, 1))
        closed = (x[triangles][:, :, 0] < 1e-9).all(axis=1) | (x[triangles][:, :, 0] > 1.0 - 1e-9).all(axis=1)
        found += sheets.find_sheets(surface.clean(x, triangles[~closed])).parts.tolist()
    return found


def corners_on_a_line():
    """Whether triangles of this height lie on a line."""
    return [bool(slivers._on_a_line(np.array([[0.0, 0, 0], [1, 0, 0], [0.5, high, 0]]), np.array([[0, 1, 2]]))[0][0])
            for high in (1e-5, 1e-2)]


def vertices_that_are_one():
    """Number of vertices of a ball of which two are so far apart."""
    found = []
    for apart in (1e-8, 1e-6):
        x, triangles = ball(8)
        triangles[0, 0], x = len(x), np.concatenate([x, x[triangles[0, :1]] + [[apart, 0.0, 0.0]]])
        found.append(len(surface.clean(x, triangles).vertices))
    return found


def plates_that_are_inside_out():
    """Whether plates of this thickness are turned outwards."""
    found = []
    for thin in (1e-10, 1e-6):
        x, triangles = cube((0, 0, 0), (1, 1, thin))
        found.append(surface._inside_out(x, triangles[:, ::-1], np.zeros(len(triangles), np.int32)).tolist())
    return found


def meshes_that_are_flat():
    """Whether plates of this thickness are refused."""
    return [_fails(surface.clean, *cube((0, 0, 0), (1, 1, thin))) for thin in (1e-6, 1e-3)]


def edge_lengths_that_are_refused():
    """Whether edges of so many parts of a cube's side are refused."""
    whole = surface.clean(*cube())
    return [_fails(tetrahedralize._refuse_too_many, whole, {"edge_length": 1.0 / parts})
            for parts in (40, 70, 100, 200)]


def tetrahedra_without_an_edge_length():
    """Number of tetrahedra of a cube that is expected where no edge length is given, to six digits."""
    return round(tetrahedralize._estimate_tets(surface.clean(*cube()), {}), 6)


def times_of_meshing():
    """Time limits, least numbers of tetrahedra and tries of surfaces with these edges, heights and small parts."""
    found = []
    for edge, thin, parts in ((0.2, 1.0, 0), (0.05, 1.0, 0), (0.01, 1.0, 0), (0.2, 0.002, 0), (0.2, 1.0, 100)):
        many = _joined(cube((0, 0, 0), (1, 1, thin)),
                       *[cube((2, 0.02 * k, 0), (2.01, 0.02 * k + 0.01, 0.01)) for k in range(parts)])
        time = tetrahedralize._time_for(surface.clean(*many), {"edge_length": edge})
        found.append((time.seconds, time.tets, time.is_enough, time.tries))
    return found


def remedies_for_many_parts():
    """Remedies for surfaces of so many parts that take too long."""
    time = tetrahedralize._Time(1.0, 1, True)
    return [tetrahedralize._remedy(SimpleNamespace(parts=parts), time) for parts in (50, 200)]


def sheets_beside_a_solid():
    """Whether what is filled is refused where so much of the area is a sheet."""
    found = []
    for side in (4.0, 6.0):
        sheet = np.array([[0.0, 0, 3], [side, 0, 3], [side, side, 3], [0, side, 3]]), np.array([[0, 1, 2], [0, 2, 3]])
        found.append(_fails(tetrahedralize.fillable, *_joined(cube(), sheet), "both", 0.0))
    return found


def gaps_of_envelopes():
    """Number of vertices that are displaced of boxes that are so far apart, in envelopes."""
    found = []
    for gap in (2.0, 5.0):
        whole = surface.clean(*_joined(_box(), _box(origin=(0.0, 0.0, 1.0 + gap * 0.02))))
        apart = tetrahedralize._separate_sheets(whole, {"envelope": 0.02 / whole.diagonal})
        found.append(int(apart.moved.any(axis=1).sum()))
    return found


def settings_of_ftetwild():
    """Settings of fTetWild for a cube at these edge lengths, as they are, quick and after a slow try."""
    whole, mesher, quick = surface.clean(*cube()), tetwild.TetWild(), tetwild.QuickTetWild()
    given = [{"edge_length": edge} for edge in (0.01, 0.05, 0.1, 0.5, 1.0)]
    return [(mesher.settings(whole, params), quick.settings(whole, params),
             mesher.retry(mesher.settings(whole, params), True)) for params in given]


def triangles_of_what_is_played():
    """Number of triangles of a ball of 6960 where a quick mesher gets it."""
    return len(tetwild.QuickTetWild().coarser(*globe(60))[1])


def surfaces_that_lose_volume():
    """Volumes of balls with these numbers of rings that are simplified to so many triangles, to six digits."""
    settings = ((24, 500, 0.03), (60, 200, 0.03))
    return [round(float(surface.measure_enclosed_volumes(*tetwild._simplify(
        *globe(rings), {"triangles": count, "envelope": envelope})).sum()), 6) for rings, count, envelope in settings]


def _thinned(x, triangles, tolerance, longest=10.0):
    with Interpreted(thinning, thinning_kernels, closest_kernels, normals):
        return thinning.simplify_surface(np.array(x, float), triangles, tolerance, longest).triangles.tolist()


def vertices_with_many_triangles():
    """Numbers of triangles that are left of flat fans of so many on a pyramid."""
    found = []
    for count in (12, 40):
        turn = 2.0 * np.pi * np.arange(count) / count
        rim = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
        x = np.concatenate([rim, [[0.999, 0.0, 0.0], [0.0, 0.0, -1.0]]])
        at, beside = np.arange(count), np.roll(np.arange(count), -1)
        fans = [np.stack([at, beside, np.full(count, count)], 1), np.stack([beside, at, np.full(count, count + 1)], 1)]
        found.append(len(_thinned(x, np.concatenate(fans).astype(np.int32), 1e-6)))
    return found


def triangles_of_a_simpler_ball():
    """Triangles of a bumpy ball, and of a long one, that are simplified."""
    x, triangles = ball(8)
    bumps = np.random.default_rng(0).normal(size=(len(x), 1))
    return [_thinned(x * [1.0, 1.0, long] * (1.0 + bump * bumps), triangles, tolerance)
            for long, bump, tolerance in ((1.0, 0.3, 1.0), (8.0, 0.1, 0.2))]


UNITS = tuple(value for name, value in list(globals().items())
              if callable(value) and getattr(value, "__module__", "") == __name__ and not name.startswith("_"))
