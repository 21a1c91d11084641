"""Sheets on what is sharp: vertices where they go over it, edges along it, and whoever leaves it is free again."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from matrix import some
from sheets import grid
from sliding_sheets import SIDE, Slid, box_features, flat
from solids import lathe

from solver.contact.find.sharp import nails, sharp_surface, wires
from solver.sheet.adapt import adapt
from solver.sheet.conform import conform
from solver.sheet.limits import RemeshLimits
from solver.sheet.runs import Runs
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.sizing import Sizing
from solver.sheet.tracking import material_reach
from solver.sheet.transfer import gradients_at, sliding

THICKNESS = 2e-3
RIGHT, BACK = 1.0, 1.0  # the box's edges on its top: x = 1 and y = 1


def conformed(mesh, features=None, **choices):
    return conform(mesh, features or box_features(), RemeshLimits.of(mesh, THICKNESS), **choices)


def crossings(mesh, axis):
    """Edges of a mesh that go over the line where a coordinate is 1, at which neither end is, on the box's top."""
    ends = mesh.x[mesh.edges]
    off = ends[:, :, axis] - 1.0
    share = off[:, 0] / np.where(off[:, 0] == off[:, 1], 1.0, off[:, 0] - off[:, 1])
    place = ends[:, 0] + share[:, None] * (ends[:, 1] - ends[:, 0])
    other = place[:, 1 - axis]
    return (off[:, 0] * off[:, 1] < 0.0) & (np.abs(off).min(axis=1) > 1e-12) & (other > 0.0) & (other < 1.0)


def assert_conforms(mesh, features, unjoined=0):
    """Exactly on features, joined along them, well shaped, and nothing else goes over the two edges that are covered.
    """
    points = len(features.points)
    sits = np.flatnonzero(mesh.on >= 0)
    corner, edge = sits[mesh.on[sits] < points], sits[mesh.on[sits] >= points]
    assert np.abs(mesh.x[corner] - features.points[mesh.on[corner]]).max(initial=0.0) <= 1e-12
    ends = features.points[features.edges[mesh.on[edge] - points]]
    off = mesh.x[edge] - ends[:, 0]
    along = features.along[mesh.on[edge] - points]
    beside = off - np.einsum("ki,ki->k", off, along)[:, None] * along
    assert np.abs(beside).max(initial=0.0) <= 1e-12
    assert np.degrees(mesh.smallest_angles.min()) >= 2.0
    mesh.checked()
    joined = {tuple(sorted(e)) for e in mesh.edges.tolist()}
    left = 0
    for number in np.unique(mesh.on[edge]):
        here = [*edge[mesh.on[edge] == number], *corner[np.isin(mesh.on[corner], features.edges[number - points])]]
        here.sort(key=lambda i: mesh.x[i] @ features.along[number - points])
        left += sum(tuple(sorted((a, b))) not in joined for a, b in zip(here[:-1], here[1:]))
    assert left <= unjoined
    close = np.linalg.norm(mesh.x[sits][:, None] - mesh.x[sits], axis=2) + np.eye(len(sits))
    assert close.min(initial=1.0) > 1e-4


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


def draped(cells, radius=0.02, side=SIDE):
    """A square bent over the box's edge x = 1 with a round fold that cuts into it, or stands off, by less than 3 mm."""
    rest, faces = grid(cells, cells, side, side)
    c, s = np.cos(0.25), np.sin(0.25)
    flat_place = (rest[:, :2] - 0.5 * side) @ np.array([[c, s], [-s, c]]) + (1.0, 0.5)
    arc = flat_place[:, 0] - (1.0 - radius)
    angle = np.clip(arc / radius, 0.0, 0.5 * np.pi)
    over = np.maximum(arc - 0.5 * np.pi * radius, 0.0)
    x = np.column_stack([np.where(arc < 0.0, flat_place[:, 0], 1.0 - radius + radius * np.sin(angle)),
                         flat_place[:, 1], np.where(arc < 0.0, 1.0, 1.0 - radius + radius * np.cos(angle) - over)])
    x[:, 0] += 0.0005
    x[:, 2] += 0.0005
    return SheetMesh.at_rest(x, rest[:, :2].copy(), faces)


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
    wire = wires(line, np.array([[0, 1]])).at(line, np.zeros_like(line))
    found = conformed(mesh, wire)
    assert (found.mesh.on >= 0).sum() > 12 and not found.unjoined
    assert_conforms(found.mesh, wire)


def rim(pieces):
    """Features of a can of radius 0.4 whose lid is at z = 1."""
    x, triangles = lathe([0.4, 0.4], [0.0, 1.0], pieces)
    return sharp_surface(x, triangles).at(x, np.zeros_like(x))


def test_a_round_edge_of_many_pieces_is_one_run():
    """A cylinder's rim: vertices slide on from one of its pieces to the next, and edges go across their joints."""
    can = rim(48)
    found = conformed(flat(16, middle=(0, 0)), can)
    on = found.mesh.on >= 0
    assert on.sum() > 20 and not found.unjoined and np.degrees(found.mesh.smallest_angles.min()) > 2.0
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


def hanging(cells=10):
    """A square folded over the edge x = 1 of a long box along its own middle, which is on it exactly."""
    rest, faces = grid(cells, cells, 1.0, 1.0)
    over = np.maximum(rest[:, 0] - 0.5, 0.0)
    x = np.column_stack([0.5 + np.minimum(rest[:, 0], 0.5), rest[:, 1], 1.0 - over])
    return SheetMesh.at_rest(x, rest[:, :2].copy(), faces), box_features((0, -1, 0), (1, 2, 1))


def test_edges_of_a_sheet_that_lie_along_a_feature_are_on_it():
    mesh, features = hanging()
    found = conformed(mesh, features)
    assert np.array_equal(found.mesh.faces, mesh.faces) and (found.mesh.on >= 0).sum() == 11
    assert np.array_equal(found.mesh.on >= 0, mesh.material[:, 0] == 0.5)


def test_new_vertices_slide_and_their_material_keeps_its_velocity():
    mesh = flat(12)
    rng = np.random.default_rng(3)
    smooth = mesh.material @ rng.normal(size=(2, 3)) + rng.normal(size=3)
    mesh = replace(mesh, v=smooth)
    found = conformed(mesh)
    made = found.mesh
    at = found.inserted
    assert len(at) > 20 and np.any(made.slide[at] != 0.0)
    world = made.v[at] - np.einsum("kij,kj->ki", made.polar_gradients[at], made.slide[at])
    Y = np.linalg.lstsq(np.column_stack([mesh.material, np.ones(len(mesh.x))]), smooth, rcond=None)[0]
    assert np.abs(world - np.column_stack([made.material[at], np.ones(len(at))]) @ Y).max() < 1e-9
    # a field that is linear is carried exactly by linear interpolation: nothing is lost but what vertices have moved
    assert np.linalg.norm(found.momentum) < 1e-9 * np.linalg.norm(mesh.momentum)


def test_momentum_changes_little_where_velocities_are_not_linear():
    mesh = flat(16)
    X = mesh.material
    mesh = replace(mesh, v=np.column_stack([np.sin(4 * X[:, 0]), np.cos(3 * X[:, 1]), np.sin(5 * X[:, 0] * X[:, 1])]))
    found = conformed(mesh)
    assert 0.0 < np.linalg.norm(found.momentum) < 2e-3 * SIDE**2


def test_sliding_against_the_dense_system_of_the_paper():
    rng = np.random.default_rng(0)
    F, world, feature = rng.normal(size=(20, 3, 2)), rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    across = rng.normal(size=(20, 2))
    across /= np.linalg.norm(across, axis=1)[:, None]
    across[10:] = 0.0
    v, slide = sliding(world, F, across, feature)
    for k in range(20):
        A = across[k:k + 1] if k < 10 else np.zeros((0, 2))
        dense = np.block([[F[k].T @ F[k], A.T], [A, np.zeros((len(A), len(A)))]])
        told = np.linalg.solve(dense, np.concatenate([-F[k].T @ (world[k] - feature[k]), np.zeros(len(A))]))[:2]
        assert np.allclose(slide[k], told, rtol=1e-9, atol=1e-12)
        assert np.allclose(v[k] - F[k] @ slide[k], world[k], rtol=0, atol=1e-12)


def test_gradients_of_some_vertices_are_those_of_the_whole():
    mesh = conformed(draped(10), box_features((0, -1, 0), (1, 2, 1))).mesh
    some = np.array([3, 40, 77, len(mesh.x) - 1])
    assert np.allclose(gradients_at(mesh, some), mesh.polar_gradients[some], rtol=0, atol=1e-12)


def test_the_materials_velocity_is_the_same_before_and_after_remeshing():
    """One that grows evenly over a flat sheet: what comes onto an edge slides, and ẋ − F Ẋ stays; so it does where
    triangles become finer, and where all of it is let go again."""
    turn = np.array([[0.3, -0.5], [0.8, 0.1], [-0.2, 0.6]])
    mesh = flat(8)

    def wanted(sheet):
        return sheet.material @ turn.T + [0.1, -0.2, 0.05]

    moves = replace(mesh, v=wanted(mesh))
    made = conformed(moves).mesh
    assert (made.on >= 0).sum() > 8 and np.abs(made.slide).max() > 0.1
    assert np.abs(made.world_velocities - wanted(made)).max() < 1e-12
    features = box_features()
    runs = Runs(features)
    finer = adapt(replace(made, on=runs.from_edges(made.on)), Sizing(0.02, 0.06), runs.points, runs.ends).mesh
    assert len(finer.x) > 1.5 * len(made.x)
    assert np.abs(finer.world_velocities - wanted(finer)).max() < 1e-12
    off = conformed(made, free=np.ones(len(made.x), dtype=bool)).mesh
    assert np.abs(off.world_velocities - wanted(off)).max() < 1e-12


def test_who_lifts_off_keeps_the_velocity_of_the_material():
    mesh, features = hanging()
    mesh = conformed(mesh, features).mesh
    slide = np.where(mesh.on[:, None] >= 0, [0.7, 0.0], 0.0)
    up = replace(mesh, slide=slide, v=np.broadcast_to([0.1, 0.3, 0.9], mesh.x.shape).copy())
    free = np.zeros(len(mesh.x), dtype=bool)
    free[np.flatnonzero(mesh.on >= 0)[2:6]] = True
    found = conformed(up, features, h=0.01, free=free)
    assert np.array_equal(np.sort(found.released), np.flatnonzero(free)) and np.all(found.mesh.on[free] < 0)
    assert np.allclose(found.mesh.v[free], up.world_velocities[free], atol=1e-12) and not found.mesh.slide[free].any()
    assert np.array_equal(found.mesh.v[~free], up.v[~free])


def test_cloth_off_by_more_than_the_thickness_has_lifted_off():
    mesh, features = hanging()
    mesh = conformed(mesh, features).mesh
    lifted = replace(mesh, x=mesh.x + [0.002, 0.0, 0.002], v=np.broadcast_to([0.1, 0.0, 0.1], mesh.x.shape).copy())
    assert not np.any(conformed(lifted, features).mesh.on >= 0)
    pressed = replace(mesh, x=mesh.x - [0.001, 0.0, 0.001])
    assert_conforms(conformed(pressed, features).mesh, features)


def test_a_vertex_that_runs_over_the_end_of_an_edge_becomes_the_corners():
    features = box_features()
    mesh = conformed(flat(8, middle=(1.0, 0.38), turn=0.1)).mesh
    edge = np.flatnonzero((mesh.on >= 8) & ~mesh.border)
    along = features.edges[mesh.on[edge] - 8]
    last = edge[np.argmax(mesh.x[edge, 1])]
    assert not np.any((mesh.on >= 0) & (mesh.on < 8) & (mesh.x[:, 1] == 1.0)) and len(along)
    moved = replace(mesh, x=mesh.x + [0.0, 1.003 - mesh.x[last, 1], 0.0])
    found = conformed(moved)
    corner = np.flatnonzero(found.mesh.on == 7)
    assert len(corner) == 1 and np.array_equal(found.mesh.x[corner[0]], [1.0, 1.0, 1.0])
    assert found.was[corner[0]] == last
    # the cloth's border goes along the other edge there, at six degrees, and is let be
    assert_conforms(found.mesh, features, unjoined=1)


def test_one_that_runs_into_a_corner_that_has_a_vertex_becomes_one_with_it():
    features = box_features()
    mesh = conformed(flat(16)).mesh
    corner = int(np.flatnonzero((mesh.on >= 0) & (mesh.on < 8))[0])
    near = [i for i in mesh.edges[(mesh.edges == corner).any(axis=1)].sum(axis=1) - corner if mesh.on[i] >= 8]
    first = min(near, key=lambda i: np.linalg.norm(mesh.x[i] - mesh.x[corner]))
    x, X = mesh.x.copy(), mesh.material.copy()
    way = (mesh.x[corner] - mesh.x[first]) / np.linalg.norm(mesh.x[corner] - mesh.x[first])
    x[first] = mesh.x[corner] + 0.001 * way
    X[first] += 0.9 * (X[corner] - X[first])
    found = conformed(replace(mesh, x=x, material=X))
    assert first not in found.was and np.array_equal(found.mesh.x[found.mesh.on == mesh.on[corner]], [[1, 1, 1]])
    assert_conforms(found.mesh, features)


def test_a_border_that_goes_over_an_edge_at_a_small_angle_is_let_be():
    """Ten degrees and no more between the border and the edge: thin triangles would stand there."""
    features = box_features((0, -2, 0), (1, 3, 1))
    steep = conformed(flat(12, middle=(1.0, 0.5), turn=0.6), features).mesh
    assert (steep.border & (steep.on >= 0)).sum() == 2
    shallow = conformed(flat(12, middle=(1.0 - 0.5 * SIDE, 0.5), turn=np.deg2rad(5.0)), features).mesh
    there = shallow.material[shallow.on >= 0]
    right = np.isclose(there[:, 0], SIDE) & (there[:, 1] > 0.0) & (there[:, 1] < SIDE)
    assert not right.any() and np.degrees(shallow.smallest_angles.min()) > 2.0


def test_a_vertex_that_reaches_the_border_is_free_again():
    features = box_features((-5, -2, 0), (1, 3, 1))
    mesh, slid = flat(12, middle=(0.95, 0.5), turn=0.0), Slid(features, (0.95, 0.5), 0.0)
    slid.velocity = np.array([-1.0, 0.0])
    limits, sizing, seen = RemeshLimits.of(mesh, THICKNESS), Sizing(0.05, 0.13, speed=1e3), 0
    for _ in range(60):
        mesh = slid.with_velocities(mesh)
        mesh = adapt(conform(mesh, features, limits, 0.01).mesh, sizing, 8, features.edges).mesh
        seen = max(seen, int((mesh.on >= 0).sum()))
        assert np.degrees(mesh.smallest_angles.min()) > 2.0
        mesh = slid.moved(mesh, 0.01)
    assert seen >= 13 and not np.any(conform(mesh, features, limits).mesh.on >= 0)
    assert mesh.areas.sum() == pytest.approx(SIDE**2, abs=1e-12)


def test_how_far_sliding_may_go():
    mesh, features = hanging()
    mesh = conformed(mesh, features).mesh
    slide = np.where(mesh.on[:, None] >= 0, [1.0, 0.0], 0.0)
    moving = replace(mesh, slide=slide)
    # the next row of vertices is a tenth of a metre away
    assert material_reach(moving, 0.01) == 1.0
    assert material_reach(moving, 1.0) == pytest.approx(0.08, rel=1e-9)
    later = replace(moving, material=moving.material + 0.08 * slide)
    assert later.areas.min() == pytest.approx(0.2 * 0.005, rel=1e-9)


def test_how_far_sliding_may_go_before_a_triangle_is_thin():
    """By closed form, and for many triangles at once by their angles: none is thinner than it may, one just so."""
    rest, faces = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]]), np.array([[0, 1, 2]], np.int32)
    mesh = SheetMesh.at_rest(np.pad(rest, ((0, 0), (0, 1))), rest, faces)
    falls = replace(mesh, slide=np.array([[0.0, 0.0], [0.0, 0.0], [0.0, -1.0]]))
    thinnest = np.tan(np.deg2rad(12.0))  # that is where the tip is 0.5 tan 12° high, and area would let it fall to 0.1
    assert material_reach(falls, 1.0, thinnest) == pytest.approx(0.5 - 0.5 * thinnest, rel=1e-12)
    assert material_reach(falls, 1.0) == pytest.approx(0.4, rel=1e-12)
    thin = replace(falls, material=np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.05]]))
    assert material_reach(thin, 1.0, thinnest) == pytest.approx(0.1 * 0.05, rel=1e-12)
    rest, faces = grid(6, 6, 1.0, 1.0)
    rng = np.random.default_rng(1)
    mesh = SheetMesh.at_rest(rest, rest[:, :2] + rng.uniform(-0.03, 0.03, (len(rest), 2)), faces)
    for speed in (0.5, 2.0, 8.0):
        slides = replace(mesh, slide=speed * rng.normal(size=(len(rest), 2)))
        share = material_reach(slides, 0.1, thinnest)
        later = replace(slides, material=slides.material + share * 0.1 * slides.slide)
        assert 0.0 < share < 1.0 and np.degrees(later.smallest_angles.min()) >= 12.0 - 1e-9
        further = replace(slides, material=slides.material + 1.01 * share * 0.1 * slides.slide)
        assert np.degrees(further.smallest_angles.min()) < 12.0
