"""Splits, flips and collapses of a sheet: tables stay right, and what must stay stays."""

from collections import defaultdict

import numpy as np
import pytest
from matrix import some
from sheets import grid
from sheets_eol import NO_ENDS, bent, border_polygon, eol, flat

from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.working import Outcome, Working


def assert_sound(working):
    """Check that all tables agree, that every face has a positive area in material space, and that every edge has one
    or two faces."""
    faces, across = working.faces, working.across
    rows = working.living_faces
    half = {}
    for f in rows:
        for k in range(3):
            edge = (int(faces[f, (k + 1) % 3]), int(faces[f, (k + 2) % 3]))
            assert edge not in half
            half[edge] = (int(f), k)
    for (a, b), (f, k) in half.items():
        assert across[f, k] == half.get((b, a), (-1, 0))[0]
        if across[f, k] >= 0:
            g, j = half[(b, a)]
            assert across[g, j] == f
    near, open_ends = defaultdict(set), set()
    for a, b in half:
        near[a].add(b)
        near[b].add(a)
        if (b, a) not in half:
            open_ends |= {a, b}
    used = np.unique(faces[rows])
    assert (np.flatnonzero(working.alive) == used).all()
    for vertex in used:
        f = working.at[vertex]
        assert vertex in faces[f]
        around = working.faces_around(vertex)
        assert sorted(around) == sorted(rows[(faces[rows] == vertex).any(axis=1)])
        assert set(working.neighbours(vertex)) == near[vertex]
        assert working.on_border(vertex) == (vertex in open_ends)
    sheet, _ = working.sheet()
    assert sheet.areas.min() > 0.0
    sheet.check()


def random_change(working, pick):
    """One operation somewhere; whether it was done."""
    rows = working.living_faces
    f = int(pick.choice(rows))
    k = int(pick.integers(3))
    a, b = (int(working.faces[f, (k + i) % 3]) for i in (1, 2))
    kind = pick.integers(5)
    if kind == 0:
        return working.split_edge(a, b, pick.uniform(0.2, 0.8)) >= 0
    if kind == 1 and pick.random() < 0.5:
        return working.split_face(f, pick.dirichlet([4.0, 4.0, 4.0])) >= 0
    if kind == 2:
        return working.flip(a, b) is Outcome.DONE
    return working.collapse(a, b) is Outcome.DONE


@pytest.mark.parametrize("seed", some([0, 1], 0))
def test_a_thousand_random_operations_leave_tables_right(seed):
    mesh = bent(6, 1.0)
    working, pick = Working(mesh), np.random.default_rng(seed)
    done, polygon = 0, border_polygon(mesh)
    for hundreds in range(10):
        while done < 100 * (hundreds + 1):
            done += random_change(working, pick)
        assert_sound(working)
    sheet, was = working.sheet()
    assert sheet.areas.sum() == pytest.approx(1.0, abs=1e-12)
    assert border_polygon(sheet) == pytest.approx(polygon, abs=1e-12)
    assert sheet.required.sum() == 4 and (was[sheet.required] >= 0).all()
    assert (sheet.x[was >= 0] == mesh.x[was[was >= 0]]).all()
    assert (sheet.material[was >= 0] == mesh.material[was[was >= 0]]).all()
    assert np.isin(np.setdiff1d(np.arange(len(mesh.x)), was), np.flatnonzero(~mesh.required)).all()


def test_nothing_done_gives_the_very_mesh_back():
    mesh = flat(4)
    working = Working(mesh)
    assert working.flip(0, 24) is Outcome.NO_EDGE and working.split_edge(0, 24) == -1
    assert working.sheet()[0] is mesh


def vertex_at(working, X):
    """The nearest one."""
    alive = np.flatnonzero(working.alive)
    return int(alive[np.linalg.norm(working.material[alive] - X, axis=1).argmin()])


def test_a_split_of_an_edge_keeps_the_surface_and_interpolates():
    mesh = bent(4, 0.8)
    mesh.v[:] = np.random.default_rng(3).normal(size=mesh.v.shape)
    working = Working(mesh)
    a, b = vertex_at(working, [0.25, 0.25]), vertex_at(working, [0.5, 0.25])
    new = working.split_edge(a, b, 0.25)
    for of in (working.x, working.material, working.v):
        assert of[new] == pytest.approx(0.75 * of[a] + 0.25 * of[b], abs=1e-15)
    assert working.on[new] == -1 and not working.slide[new].any()
    sheet, _ = working.sheet()
    assert sheet.momentum == pytest.approx(mesh.momentum, abs=1e-15)
    assert len(sheet.faces) == len(mesh.faces) + 2


def test_a_conformal_edge_is_split_into_conformal_ones_and_never_flipped():
    mesh = eol(bent(4, 0.8))
    mesh.v[:, 1] = mesh.material[:, 1]
    working = Working(mesh, points=0, ends=NO_ENDS)
    a, b = vertex_at(working, [0.5, 0.25]), vertex_at(working, [0.5, 0.5])
    assert working.conformal(a, b) and working.flip(a, b) is Outcome.ON_FEATURE
    new = working.split_edge(b, a, 0.2)
    assert working.on[new] == 0 and working.slide[new].tolist() == [0.7, 0.0]
    assert working.v[new, 1] == pytest.approx(0.45) and working.conformal(a, new) and working.conformal(new, b)


def test_a_lagrangian_vertex_in_an_eol_triangle_has_the_cloths_own_velocity():
    """Cloth that slides along itself: the material at every place goes with −F Ẋ."""
    mesh = flat(4)
    still = SheetMesh(mesh.x, mesh.material, mesh.faces, np.tile([0.3, 0.0, 0.1], (len(mesh.x), 1)),
                      np.tile([0.7, -0.2], (len(mesh.x), 1)), np.full_like(mesh.on, 1), mesh.required)
    working = Working(still, points=2)  # each on a point: no conformal edges
    for new in (working.split_edge(6, 7), working.split_face(20, np.array([0.2, 0.3, 0.5]))):
        assert working.on[new] == -1 and not working.slide[new].any()
        assert working.v[new] == pytest.approx([-0.4, 0.2, 0.1], abs=1e-14)


def test_across_a_fold_the_velocity_is_that_of_both_faces():
    """At an edge across the fold that is not conformal, Ẋ has another world direction on either side."""
    mesh = eol(bent(2, np.pi / 2), on=0)
    working = Working(mesh, points=1)
    a, b = vertex_at(working, [0.5, 0.0]), vertex_at(working, [0.5, 0.5])
    assert not working.conformal(a, b)
    new = working.split_edge(a, b)
    assert working.v[new] == pytest.approx([-0.35, 0.0, 0.35], abs=1e-14)


def test_collapses_obey_required_border_and_features():
    mesh = eol(flat(4))
    working = Working(mesh, points=0, ends=NO_ENDS)
    corner, beside = vertex_at(working, [0, 0]), vertex_at(working, [0.25, 0.0])
    inside, edge = vertex_at(working, [0.25, 0.25]), vertex_at(working, [0.5, 0.25])
    assert working.collapse(corner, beside) is Outcome.REQUIRED
    assert working.collapse(beside, inside) is Outcome.AT_BORDER
    assert working.collapse(edge, inside) is Outcome.ON_FEATURE
    assert working.collapse(edge, vertex_at(working, [0.5, 0.5])) is Outcome.DONE
    assert working.collapse(inside, edge) is Outcome.NO_EDGE
    assert working.collapse(beside, corner) is Outcome.DONE
    assert_sound(working)
    # on a point feature a vertex stays
    working = Working(eol(flat(4)), points=1)
    assert working.collapse(edge, vertex_at(working, [0.5, 0.5])) is Outcome.ON_FEATURE


def test_two_faces_never_fall_together():
    """A vertex with three faces inside of a triangle: its corners have more neighbours in common than their faces."""
    rest, faces = grid(4, 4, 1.0, 1.0)
    working = Working(SheetMesh.at_rest(rest, rest[:, :2], faces), thinnest=0.0)
    face = next(f for f in working.living_faces if not any(working.on_border(v) for v in working.faces[f]))
    a, b = (int(v) for v in working.faces[face][:2])
    working.split_face(int(face), np.full(3, 1.0 / 3.0))
    assert working.collapse(a, b) is Outcome.LINKED
    assert_sound(working)


def test_a_bent_border_keeps_its_vertices():
    rest, faces = grid(4, 4, 1.0, 1.0)
    material = rest[:, :2] + np.where(rest[:, 1:2] == 0.0, [0.0, 1.0], 0.0) * (-0.05 * np.sin(np.pi * rest[:, :1]))
    working = Working(SheetMesh.at_rest(rest, material, faces))
    assert working.collapse(5, 0) is Outcome.AT_BORDER and working.collapse(5, 10) is Outcome.AT_BORDER


def test_an_edge_between_an_edge_feature_and_its_end_is_conformal():
    mesh = flat(4)
    on = np.full(25, -1, np.int32)
    on[[11, 12, 13]] = [1, 2 + 0, 2 + 1]  # along a column: a point, edge feature 0, edge feature 1
    mesh = SheetMesh(mesh.x, mesh.material, mesh.faces, mesh.v, mesh.slide, on, mesh.required)
    working = Working(mesh, points=2, ends=np.array([[0, 1], [0, 0]], np.int32))
    assert working.conformal(11, 12) and not working.conformal(12, 13) and not working.conformal(11, 13)
    new = working.split_edge(11, 12)
    assert working.on[new] == 2


def test_the_same_operations_give_the_same_bytes():
    made = []
    for _ in range(2):
        working, pick = Working(bent(6, 1.0)), np.random.default_rng(5)
        for _ in range(300):
            random_change(working, pick)
        sheet, was = working.sheet()
        made.append(b"".join(a.tobytes() for a in (sheet.x, sheet.material, sheet.faces, sheet.v, sheet.on, was)))
    assert made[0] == made[1]


def test_room_for_vertices_is_made_where_there_is_more_than_enough_for_faces():
    """Splits at the border bring one face each, where two are made room for."""
    mesh = flat(7)
    working = Working(mesh)
    working.room(100)
    for a, b in mesh.border_edges[:10].tolist():
        assert working.split_edge(a, b) >= 0
    working.room(91)
    assert len(working.at) >= int(working.counts[0]) + 91 and len(working.faces) >= int(working.counts[1]) + 182
    assert len(working.sheet()[0].faces) == len(mesh.faces) + 10
