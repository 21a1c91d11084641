"""Sheets on sharp features: vertices at the crossings, edges along them, and free vertices once they leave."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from conformed_sheets import THICKNESS, assert_conforms, conformed, draped, hanging
from matrix import some
from sheets import grid
from sliding_sheets import SIDE, Slid, box_features, flat
from solids import SHARP_ANGLE, lathe
from sound_sheets import smallest_angle

from solver.contact.find.sharp import find_sharp_features, nails, wires
from solver.sheet.adapt import adapt
from solver.sheet.conform import conform
from solver.sheet.limits import RemeshLimits
from solver.sheet.runs import Runs
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.sizing import Sizing

RIGHT, BACK = 1.0, 1.0  # the box's edges on its top: x = 1 and y = 1


def crossings(mesh, axis):
    """Edges of a mesh that go over the line where a coordinate is 1, at which neither end is, on the box's top."""
    ends = mesh.x[mesh.edges]
    off = ends[:, :, axis] - 1.0
    share = off[:, 0] / np.where(off[:, 0] == off[:, 1], 1.0, off[:, 0] - off[:, 1])
    place = ends[:, 0] + share[:, None] * (ends[:, 1] - ends[:, 0])
    other = place[:, 1 - axis]
    return (off[:, 0] * off[:, 1] < 0.0) & (np.abs(off).min(axis=1) > 1e-12) & (other > 0.0) & (other < 1.0)


@pytest.mark.parametrize("cells", [5, 12, 24])
@pytest.mark.parametrize("turn", [0.0, 0.2, np.pi / 4, 1.0])
def test_a_flat_square_on_a_boxs_corner(cells, turn):
    mesh, features = flat(cells, turn=turn), box_features()
    found = conformed(mesh, features)
    made = found.mesh
    assert_conforms(made, features)
    assert found.changed == (not np.array_equal(made.faces, mesh.faces))
    assert (made.on[made.on >= 0] < 8).sum() == 1, "the one corner under it"
    for axis in (0, 1):
        near_border = crossings(made, axis)
        # where a feature leaves over the border at a small angle, or near a corner of the sheet, it is let be
        assert near_border.sum() <= 2
    assert made.areas.sum() == pytest.approx(SIDE**2, abs=1e-12)
    # the world stays where it was: every vertex is where its material was
    slid = Slid(features, turn=turn)
    assert np.abs(slid.world(made.material) - made.x[:, :2]).max() < 1e-12 and found.jump < 1e-12
    assert not found.unjoined


def test_what_conforms_already_is_left_as_it_is():
    first = conformed(flat(12)).mesh
    again = conformed(first)
    assert len(again.inserted) == 0 and len(again.released) == 0 and not again.changed and again.jump < 1e-15
    assert np.array_equal(again.mesh.faces, first.faces) and np.array_equal(again.mesh.on, first.on)
    assert np.array_equal(again.mesh.material, first.material) and np.array_equal(again.mesh.x, first.x)


def test_the_same_sheet_gives_the_same_bytes():
    one, two = conformed(flat(12)).mesh, conformed(flat(12)).mesh
    assert one.x.tobytes() == two.x.tobytes() and one.faces.tobytes() == two.faces.tobytes()


def test_a_sheet_far_away_is_the_very_same():
    mesh = flat(6, z=2.0)
    found = conformed(mesh)
    assert np.array_equal(found.mesh.faces, mesh.faces) and not np.any(found.mesh.on >= 0)


@pytest.mark.parametrize("cells", [8, 16, 30])
def test_a_square_that_hangs_over_an_edge(cells):
    mesh, features = draped(cells), box_features((0, -1, 0), (1, 2, 1))
    found = conformed(mesh, features)
    made = found.mesh
    assert_conforms(made, features)
    assert (made.on >= 0).sum() > 0.8 * cells and not found.unjoined
    assert made.areas.sum() == pytest.approx(SIDE**2, abs=1e-12)
    # as deep as a diagonal's middle is that cuts off a right angle
    assert found.jump < 0.6 * SIDE / cells
    # nothing goes from the top to the side past the edge any more but close to the border
    ends = made.x[made.edges]
    inside = (made.on[made.edges] < 0).all(axis=1)
    through = inside & ((ends[:, 0, 0] - 1.0) * (ends[:, 1, 0] - 1.0) < -1e-8) & (ends.max(axis=1)[:, 2] > 0.97)
    middle = made.material[made.edges[through]].mean(axis=1)
    assert np.all(np.minimum(middle, SIDE - middle).min(axis=1) < 1.5 * SIDE / cells)


def over_a_corner(cells, turn, soft=0.0, side=SIDE):
    """A square that lies on a box and hangs over two of its edges and the corner between, outside of it everywhere, or
    with a fold that begins `soft` metres early and goes through it by a quarter of that."""
    rest, faces = grid(cells, cells, side, side)
    c, s = np.cos(turn), np.sin(turn)
    place = (rest[:, :2] - 0.5 * side) @ np.array([[c, s], [-s, c]]) + (0.62, 0.58)
    over = np.maximum(place - 1.0, 0.0)
    if soft:
        over = np.where(np.abs(place - 1.0) < soft, (place - 1.0 + soft) ** 2 / (4.0 * soft), over)
    x = np.column_stack([place - 0.75 * over, 1.0 - 0.8 * np.hypot(*over.T)])
    return SheetMesh.at_rest(x, rest[:, :2].copy(), faces)


@pytest.mark.parametrize("cells, turn, soft", some(
    list(product([8, 16, 24], [0.1, 0.3, 0.6], [0.0, 0.02])),
    *product([8], [0.1, 0.3, 0.6], [0.0, 0.02]), (16, 0.1, 0.02), (24, 0.6, 0.0)))
def test_a_square_that_hangs_over_a_corner(cells, turn, soft):
    """Triangles cut the corner off, which is outside of the fold that they make: it is found all the same."""
    features = box_features()
    found = conformed(over_a_corner(cells, turn, soft), features)
    made = found.mesh
    assert (made.on == 7).sum() == 1 and not found.unjoined
    assert_conforms(made, features)
    for number in (15, 18):  # its edges y = 1 and x = 1
        assert (made.on == number).sum() > 0.4 * cells
    assert made.areas.sum() == pytest.approx(SIDE**2, abs=1e-12) and found.jump < 0.6 * SIDE / cells


@pytest.mark.parametrize("seed,steps", some([(0, 40), *((seed, 200) for seed in range(3))], (0, 40)))
def test_a_sheet_that_is_slid_at_random(seed, steps):
    """With tracking and remeshing: all stays on the box and on the material, nothing leaks and nothing doubles."""
    features, rng, cells, h = box_features(), np.random.default_rng(seed), 14, 0.01
    mesh, slid = flat(cells), Slid(box_features())
    limits, sizing, runs = RemeshLimits.of(mesh, THICKNESS), Sizing(0.05, 0.13, speed=1e3), Runs(features)
    counts = []
    for _ in range(steps):
        slid.velocity = 0.9 * slid.velocity + 0.27 * rng.normal(size=2)
        slid.spin = 0.9 * slid.spin + 0.12 * rng.normal()
        mesh = slid.with_velocities(mesh)
        found = conform(mesh, features, limits, h)
        mesh = adapt(found.mesh, sizing, runs.points, runs.features.edges).mesh
        assert not found.unjoined and found.jump < 1e-12
        assert_conforms(mesh, features, unjoined=1)
        assert np.abs(slid.world(mesh.material) - mesh.x[:, :2]).max() < 1e-12
        assert mesh.areas.sum() == pytest.approx(SIDE**2, abs=1e-12)
        mesh = slid.moved(mesh, h)
        counts.append(len(mesh.x))
    assert max(counts) < 2 * counts[0]


def test_a_nail_and_a_wire():
    tips = np.array([[0.0, 0, 0.9], [0.03, 0.02, 1.0]])
    line = np.array([[-0.9, 0.31, 1.0], [0.9, 0.12, 1.0]])
    mesh = flat(12, middle=(0, 0))
    nail = nails(np.array([[0, 1]])).at(tips, np.zeros_like(tips))
    found = conformed(mesh, nail)
    on = np.flatnonzero(found.mesh.on >= 0)
    assert len(on) == 1 and found.mesh.on[on[0]] == 0 and np.array_equal(found.mesh.x[on[0]], tips[1])
    assert_conforms(found.mesh, nail)
    wire = wires(line, np.array([[0, 1]]), SHARP_ANGLE).at(line, np.zeros_like(line))
    found = conformed(mesh, wire)
    assert (found.mesh.on >= 0).sum() > 12 and not found.unjoined
    assert_conforms(found.mesh, wire)


def rim(pieces):
    """Features of a can of radius 0.4 whose lid is at z = 1."""
    x, triangles = lathe([0.4, 0.4], [0.0, 1.0], pieces)
    return find_sharp_features(x, triangles, SHARP_ANGLE).at(x, np.zeros_like(x))


def test_a_round_edge_of_many_pieces_is_one_run():
    """A cylinder's rim: vertices slide on from one of its pieces to the next, and edges go across their joints."""
    can = rim(48)
    found = conformed(flat(16, middle=(0, 0)), can)
    on = found.mesh.on >= 0
    assert on.sum() > 20 and not found.unjoined and smallest_angle(found.mesh.material, found.mesh.faces) > 2.0
    runs = Runs(can)
    at = runs.from_edges(found.mesh.on)
    assert len(np.unique(at[on])) == 1
    _, _, place = runs.nearest(int(at[on][0]) - runs.points, found.mesh.x[on])
    assert np.abs(place - found.mesh.x[on]).max() < 1e-12
    # a closed line of edges around: each has two neighbours on it
    both = found.mesh.edges[(at[found.mesh.edges] >= 0).all(axis=1)]
    assert (np.bincount(both.ravel(), minlength=len(at))[on] >= 2).all()

def test_what_goes_round_on_a_ring_stays_on_it_from_piece_to_piece():
    can = rim(48)
    mesh = conformed(flat(16, middle=(0, 0)), can).mesh
    on = mesh.on >= 0
    angle = 2.5 * 2.0 * np.pi / 48
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    found = conformed(replace(mesh, x=mesh.x @ turn.T), can)
    stays = found.was >= 0
    stays[stays] = on[found.was[stays]]
    assert len(found.released) == 0 and np.all(found.mesh.on[stays] >= 0) and stays.sum() > 0.7 * on.sum()
    assert np.all(found.mesh.on[stays] != mesh.on[found.was[stays]])
    _, _, place = Runs(can).nearest(int(can.run[found.mesh.on[stays][0] - len(can.points)]), found.mesh.x[stays])
    assert np.abs(place - found.mesh.x[stays]).max() < 1e-12


def test_falling_cloth_is_caught_before_it_goes_through():
    mesh = flat(12, z=1.02)
    falling = replace(mesh, v=np.broadcast_to([0.0, 0.0, -4.0], mesh.x.shape).copy())
    assert not np.any(conformed(falling, h=0.001).mesh.on >= 0)
    found = conformed(falling, h=0.01)
    assert_conforms(found.mesh, box_features())
    assert (found.mesh.on >= 0).sum() > 10 and found.jump == pytest.approx(0.02, abs=1e-3)


@pytest.mark.parametrize("one_layer", [True, False])
def test_of_two_layers_over_an_edge_one_is_on_it(one_layer):
    """A strip that lies over the edge x = 1, and comes back over itself: where layers keep apart one folds there."""
    rest, faces = grid(26, 4, 1.3, 0.3)
    s = rest[:, 0]
    x = np.column_stack([np.where(s < 0.7, 0.53 + s, 1.93 - s), rest[:, 1] + 0.35, np.where(s < 0.7, 1.0005, 1.0012)])
    mesh = SheetMesh.at_rest(x, rest[:, :2], faces)
    limits = replace(RemeshLimits.of(mesh, THICKNESS), one_layer=one_layer)
    made = conform(mesh, box_features(), limits).mesh
    first = made.material[made.on >= 0, 0] < 0.7
    assert first.sum() >= 5
    assert (~first).sum() == 0 if one_layer else (~first).sum() >= 5


def test_edges_of_a_sheet_that_lie_along_a_feature_are_on_it():
    mesh, features = hanging()
    found = conformed(mesh, features)
    assert np.array_equal(found.mesh.faces, mesh.faces) and (found.mesh.on >= 0).sum() == 11
    assert np.array_equal(found.mesh.on >= 0, mesh.material[:, 0] == 0.5)
