"""Cloth over wires and nails: colliders without faces, whose normals are those of the cloth on them."""

from dataclasses import replace

import numpy as np
import pytest
from sheets import grid
from sliding_strips import block, fabric, start, steps_of
from solids import SHARP_ANGLE

from solver.contact.find.sharp import nails, wires
from solver.coordinates.prescribed import Constant
from solver.parts.eol.cone import ROWS
from solver.parts.eol.contact_rows import OVER, edge_key, renumber, row_key
from solver.parts.eol.feature_contacts import FeatureContacts
from solver.parts.eol.obstacles import FeatureObstacles, Obstacle
from solver.parts.eol.unknowns import Unknowns
from solver.rows.names import Multipliers
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.sizing import Sizing

NONE = np.zeros((0, 3), np.int32)


def falling(places, sharp):
    """A square metre that falls by 4 mm onto what is sharp at these places, and its steps."""
    rest, faces = grid(10, 10, 1.0, 1.0)
    mesh = SheetMesh.at_rest(rest + [-0.45, -0.5, 0.004], rest[:, :2], faces)
    things = FeatureObstacles([Obstacle("sharp", Constant(places), NONE, False, sharp, 0.0, 0.0, 0.0)])
    return steps_of(mesh, things, fabric(bending=2e-5, damping=2e-3), sizing=Sizing(0.04, 0.16)), start(mesh)


def test_rows_are_found_by_their_new_names_after_remeshing():
    """Vertex 2 of 6 is now 1, and 5 is 2; 1, 3 and 4 are gone, with pairs of things' vertices."""
    name = np.concatenate([ROWS * np.array([2, 1, 0]) + [3, 0, 7], row_key(np.array([5]), np.array([7]), 62),
                           edge_key(np.array([[1, 5], [5, 2]]), np.array([4, 9]), OVER),
                           row_key(np.array([8]), np.array([3]), 61)])
    wanted = np.concatenate([[7, ROWS + 3], edge_key(np.array([[1, 2]]), np.array([9]), OVER),
                             row_key(np.array([2]), np.array([7]), 62)])
    warm = Multipliers.of((name, name % 1000.0))
    left = renumber(warm, np.array([0, 2, 5, -1]), 6)
    assert left.name.tolist() == wanted.tolist()
    assert left.at(wanted[:2]) == pytest.approx([7.0, (2 * ROWS + 3) % 1000.0]), "multipliers go with their names"


def test_cloth_slides_over_a_wire_with_a_fold_that_is_sharp():
    """It hangs over it by 47 and 53 cm, runs off to the longer side, and is held by the line alone."""
    wire = np.array([[0.02, -1.0, 0.0], [0.02, 1.0, 0.0]])
    steps, cloth = falling(wire, wires(wire, np.array([[0, 1]]), SHARP_ANGLE))
    X = []
    for k in range(30):
        cloth = steps.step(cloth, k / 96, 1 / 96)
        at = (cloth.mesh.on >= 0) & ~cloth.free
        if k >= 4:
            assert at.sum() >= 9
            assert np.abs(cloth.mesh.x[at][:, [0, 2]] - [0.02, 0.0]).max() < 1e-9
            X.append(cloth.mesh.material[at, 0].mean())
    assert cloth.mesh.x[:, 2].min() < -0.4
    assert X[-1] < X[0] - 0.005  # 53 cm pull 47 over


@pytest.mark.parametrize("height", [0.0, 1e-13, -1e-13, -1e-5])
def test_a_vertex_that_lies_on_the_line_between_two_faces_in_one_plane_stays_outside_of_them(height):
    """A box's lid is two triangles: on their common edge the nearest place is within neither."""
    rest, faces = grid(4, 4, 0.4, 0.4)
    x = rest + [-0.2, -0.2, height]
    mesh = SheetMesh.at_rest(x, rest[:, :2], faces)
    things = FeatureObstacles([block((-1.0, -1.0, -1.0), (1.0, 1.0, 0.0))])
    look = FeatureContacts.around(mesh, things, things.at(0.0, 0.01), np.array([0.0, 0.0, -9.81]), 0.01)
    rows = look.rows(Unknowns(np.zeros(len(x), bool), faces[:, [0, 1, 2, 2]])).rows
    on_the_line = np.flatnonzero(np.isclose(np.abs(x[:, 0]), np.abs(x[:, 1])))
    assert len(on_the_line) >= 5 and np.isin(on_the_line, rows.vertex).all()
    assert rows.factor[:, :3] == pytest.approx(np.tile([0.0, 0.0, 1.0], (len(rows), 1)), abs=1e-12)


@pytest.mark.parametrize("beside", [-1.5e-3, 1e-4])
def test_cloth_beside_a_board_thinner_than_its_edges_is_stopped_by_the_side_it_is_before_alone(beside):
    """It is behind the other side by less than what may be deep inside of something."""
    rest, faces = grid(4, 4, 0.4, 0.4)
    x = np.column_stack([np.full(len(rest), -1e-3 + beside), rest[:, 0] - 0.2, rest[:, 1] - 0.5])
    mesh = SheetMesh.at_rest(x, rest[:, :2], faces)
    things = FeatureObstacles([block((-1e-3, -1.0, -1.0), (1e-3, 1.0, 0.0))])
    look = FeatureContacts.around(mesh, things, things.at(0.0, 0.01), np.array([0.0, 0.0, -9.81]), 0.01)
    rows = look.rows(Unknowns(np.zeros(len(x), bool), faces[:, [0, 1, 2, 2]])).rows
    assert 2.0e-3 < look.deep and (len(rows) > 0 or beside < 0.0)
    assert (rows.factor[:, 0] == -1.0).all()


def test_no_two_rows_of_edges_have_one_name():
    """Five edges that begin in one vertex cross an edge of a box: by their names the next step knows which of them
    held."""
    turn = np.linspace(-1.2, 1.2, 5)
    x = np.concatenate([[[-0.05, 0.0, 1e-4]], np.stack([0.2 * np.cos(turn), 0.2 * np.sin(turn), 0.0 * turn], axis=1)])
    faces = np.array([[0, k, k + 1] for k in (4, 3, 2, 1)], np.int32)
    mesh = SheetMesh.at_rest(x, x[:, :2], faces)
    assert np.count_nonzero(mesh.edges[:, 0] == 0) >= 4
    things = FeatureObstacles([block((-1.0, -1.0, -1.0), (0.0, 1.0, 0.0))])
    look = FeatureContacts.around(mesh, things, things.at(0.0, 0.01), np.array([0.0, 0.0, -9.81]), 0.01)
    spread = look.rows(Unknowns(np.zeros(len(x), bool), faces[:, [0, 1, 2, 2]])).spread
    assert len(np.unique(spread.name)) == len(spread) >= 5


@pytest.mark.parametrize("height", [0.0, 5e-4])
def test_cloth_slides_over_the_line_between_two_faces_in_one_plane_as_over_any_other_place(height):
    """The line is no obstacle: cloth on the lid, or just above it, keeps its velocity in all steps."""
    rest, faces = grid(5, 5, 0.4, 0.4)
    mesh = SheetMesh.at_rest(rest + [-0.2, -0.25, height], rest[:, :2].copy(), faces)
    mesh = replace(mesh, v=np.tile([0.9, 0.1, 0.0], (len(rest), 1)))
    things = FeatureObstacles([block((-1.0, -1.0, -1.0), (1.0, 1.0, 0.0))])
    steps, cloth = steps_of(mesh, things, fabric(), gravity=(0.0, 0.0, 0.0)), start(mesh)
    for k in range(12):
        cloth = steps.step(cloth, k / 96, 1 / 96)
        assert cloth.mesh.v == pytest.approx(np.tile([0.9, 0.1, 0.0], (len(rest), 1)), abs=1e-9)


def test_nails_hold_cloth_by_their_tips_and_let_it_slide():
    tips = np.array([[a, b, 0.0] for a in (-0.2, 0.05, 0.3) for b in (-0.25, 0.03, 0.28)])
    places = np.empty((2 * len(tips), 3))
    places[0::2], places[1::2] = tips - [0.0, 0.0, 0.3], tips
    steps, cloth = falling(places, nails(np.arange(len(places)).reshape(-1, 2)))
    first = None
    for k in range(24):
        cloth = steps.step(cloth, k / 96, 1 / 96)
        on = cloth.mesh.on
        if k >= 4:
            at = np.flatnonzero(on >= 0)
            assert sorted(on[at]) == list(range(len(tips)))  # one vertex at each tip
            assert np.abs(cloth.mesh.x[at] - tips[on[at]]).max() < 1e-9
            X = cloth.mesh.material[at][np.argsort(on[at])]
            first = X if first is None else first
    assert np.linalg.norm(X - first, axis=1).max() > 1e-3  # and it slid over them
    assert cloth.mesh.x[:, 2].min() < -0.2


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_nails_that_rub_hold_cloth_that_smooth_ones_let_go(friction):
    """Sixteen tips under a square metre on a slope of 0.2: what snags is Coulomb's law at the tips."""
    tips = np.array([[x, y, 0.0] for x in (-0.35, -0.12, 0.12, 0.35) for y in (-0.35, -0.12, 0.12, 0.35)])
    places = np.stack([tips - [0.0, 0.0, 0.3], tips], axis=1).reshape(-1, 3)
    things = FeatureObstacles([Obstacle("nails", Constant(places), NONE, False, nails(np.arange(32).reshape(-1, 2)),
                                        friction,
                                 friction,
                                 0.0)])
    rest, faces = grid(10, 10, 1.0, 1.0)
    mesh = SheetMesh.at_rest(rest + [-0.47, -0.52, 0.001], rest[:, :2], faces)
    steps = steps_of(mesh, things, fabric(bending=1e-3, damping=2e-3), gravity=(1.9, 0.0, -9.6))
    cloth = start(mesh)
    for k in range(20):
        cloth = steps.step(cloth, k / 96, 1 / 96)
    ran = cloth.mesh.x[:, 0].mean() - mesh.x[:, 0].mean()
    assert ran < 0.005 if friction else ran > 0.025
