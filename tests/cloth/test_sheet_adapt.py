"""Triangles of a cloth follow their sizing, and nothing else of the cloth changes."""

from dataclasses import replace

import numpy as np
import pytest
from matrix import some
from sheets import grid
from sheets_eol import NO_ENDS, bent, border_polygon, eol, flat, rolled
from sound_sheets import smallest_angle

import solver.sheet.adapt as adapting
import solver.sheet.adapt_kernels as sweeps
import solver.sheet.collapse_kernels as collapses
from solver.sheet.adapt import NOTHING, Measurements, _message_of, adapt, measure
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.sizing import Sizing
from solver.sheet.working import Working

SIZING = Sizing(0.01, 0.1)


def metrics(mesh, sizing, **features):
    """M of the vertices, (n, 2, 2)."""
    working = Working(mesh, **features)
    measure(working, sizing)
    return working.metric[:, [0, 1, 1, 2]].reshape(-1, 2, 2)


def lengths(mesh, sizing, **features):
    """Return the lengths of the edges in the metric, (e,)."""
    M, (a, b) = metrics(mesh, sizing, **features), mesh.edges.T
    way = mesh.material[b] - mesh.material[a]
    return np.sqrt(np.einsum("ei,eij,ej->e", way, 0.5 * (M[a] + M[b]), way))


def moved(mesh, **arrays):
    return replace(mesh, **{name: np.array(value, dtype=float) for name, value in arrays.items()})


WIDE = Sizing(1e-4, 1e4, narrowest=1e-6)


def test_no_edge_goes_straight_through_a_small_pleat():
    """A fold of 8 mm there and back, of triangles that are finer than any need be: taken for flat it would press the
    cloth by most of its length, all at once."""
    cells = 30
    rest, faces = grid(cells, cells, 0.12, 0.12)
    material = rest[:, :2].copy()
    u = material[:, 0]
    x = np.column_stack([np.where(u < 0.056, u, np.where(u < 0.064, 0.112 - u, u - 0.016)), material[:, 1],
                         2e-4 * np.clip(u / 0.004 - 14.0, 0.0, 2.0)])
    mesh = SheetMesh.at_rest(x, material, faces)

    def most_pressed(sheet):
        return np.linalg.svd(sheet.gradients, compute_uv=False)[:, -1].min()

    made = adapt(mesh, Sizing(0.02, 0.1)).mesh
    assert most_pressed(mesh) > 0.95 and len(made.faces) < 0.7 * len(mesh.faces)
    assert most_pressed(made) > 0.8


def test_a_cylinder_asks_for_its_angle():
    """An edge across it may be angle × radius long."""
    mesh = rolled(80, radius=0.2)
    inside = np.flatnonzero((np.abs(mesh.material[:, 0] - 0.65) < 0.1) & ~mesh.border)
    M = metrics(mesh, WIDE)[inside]
    assert M[:, 0, 0] == pytest.approx(1.0 / (0.3 * 0.2) ** 2, rel=0.02)
    assert np.abs(M[:, 1, 1]).max() < 1e-3 * M[:, 0, 0].min()


def test_velocity_that_changes_along_the_cloth_asks_for_its_share_and_sliding_is_no_velocity():
    mesh = flat(8)
    sheared = moved(mesh, v=np.column_stack([np.zeros(81), np.zeros(81), 3.0 * mesh.material[:, 0]]))
    M = metrics(sheared, WIDE)
    assert M[:, 0, 0] == pytest.approx(9.0 / 0.25) and M[:, 1, 1] == pytest.approx(1e-8, abs=1e-3)
    # ẋ = Ẋ: the mesh moves through cloth that stands still
    way = np.column_stack([mesh.material[:, 0] ** 2, mesh.material[:, 1]])
    slid = moved(mesh, v=np.column_stack([way, np.zeros(81)]), slide=way)
    assert np.abs(metrics(slid, WIDE)).max() < 1e-3


def test_cloth_that_is_pressed_together_asks_for_what_lets_it_buckle():
    mesh = flat(8)
    pressed = moved(mesh, x=mesh.x * [1.0, 0.9, 1.0])
    M = metrics(pressed, WIDE)
    assert M[:, 1, 1] == pytest.approx(0.375 * 0.1 / 0.005**2) and np.abs(M[:, 0, 0]).max() < 1e-3


def test_the_bend_at_a_feature_asks_for_nothing():
    mesh = bent(8, 1.2)
    crease = np.isclose(mesh.material[:, 0], 0.5)
    assert metrics(mesh, WIDE)[crease, 0, 0].min() > 100.0
    assert np.abs(metrics(eol(mesh), replace(WIDE, speed=1e6), points=0, ends=NO_ENDS)).max() < 1e-3


@pytest.mark.parametrize("mesh", [flat(10), flat(32), rolled(40), rolled(20, 0.2)],
                         ids=["coarse", "fine", "rolled", "wide"])
def test_edges_fit_their_sizing_and_a_second_time_does_nothing(mesh):
    once = adapt(mesh, SIZING)
    assert once.changed and once.message is None
    again = adapt(once.mesh, SIZING)
    assert again.mesh is once.mesh and not again.changed and again.message is None
    assert lengths(once.mesh, SIZING).max() <= 1.0 + 1e-12
    assert_same_cloth(mesh, once)


def assert_same_cloth(before, adapted, least=2.0):
    """Area, border and vertices that stayed, and faces that lie upright with no small angles [degrees]."""
    mesh, was = adapted.mesh, adapted.was
    mesh.check()
    assert mesh.areas.sum() == pytest.approx(before.areas.sum(), rel=1e-12)
    assert border_polygon(mesh) == pytest.approx(border_polygon(before), abs=1e-12)
    assert smallest_angle(mesh.material, mesh.faces) > least
    stayed = was >= 0
    for name in ("x", "material", "v", "slide", "on", "required"):
        assert (getattr(mesh, name)[stayed] == getattr(before, name)[was[stayed]]).all()
    assert set(np.flatnonzero(before.required)) <= set(was)
    assert len(mesh.required) == len(was) and mesh.required.sum() == before.required.sum()


def test_a_sharp_fold_that_no_feature_holds_is_made_fine_and_no_finer_than_the_smallest():
    mesh = bent(10, 1.0)
    for _ in range(6):
        adapted = adapt(mesh, SIZING)
        assert_same_cloth(mesh, adapted)
        mesh = adapted.mesh
    on_fold = np.abs(mesh.material[mesh.edges].mean(axis=1)[:, 0] - 0.5) < 0.02
    size = np.linalg.norm(mesh.material[mesh.edges[:, 1]] - mesh.material[mesh.edges[:, 0]], axis=1)
    assert size[on_fold].min() > 0.25 * SIZING.smallest and len(mesh.faces) < 1000
    assert adapt(mesh, SIZING).mesh is mesh


def test_steps_of_a_moving_fold_stay_within_their_sizing():
    """A cylinder runs along the cloth: fine triangles move with it, and those behind it coarsen again."""
    mesh, counts = rolled(16), []
    for step in range(30):
        u = mesh.material[:, 0] - 0.2 - 0.02 * step
        turn = np.clip(u / 0.1, 0.0, 0.5 * np.pi)
        x = np.column_stack([np.minimum(u, 0.0) + 0.1 * np.sin(turn), mesh.material[:, 1],
                             -0.1 * (1.0 - np.cos(turn)) - np.maximum(u - 0.05 * np.pi, 0.0)])
        before = moved(mesh, x=x)
        adapted = adapt(before, SIZING)
        assert_same_cloth(before, adapted)
        mesh = adapted.mesh
        counts.append(len(mesh.faces))
        assert lengths(mesh, SIZING).max() < 1.5
    assert max(counts) < 2.0 * np.median(counts)
    behind = mesh.material[mesh.faces].mean(axis=1)[:, 0] < 0.5
    assert np.median(mesh.areas[behind]) > 4.0 * mesh.areas.min()


def test_conformal_edges_stay_one_line_along_their_feature():
    """They are split where too long and collapsed where too short, into vertices that slide with the others."""
    for cells, sizing in ((6, SIZING), (40, Sizing(0.05, 0.2))):
        mesh = eol(bent(cells, 1.2))
        mesh.v[:] = np.column_stack([np.zeros(len(mesh.x)), mesh.material[:, 1], np.zeros(len(mesh.x))])
        adapted = adapt(mesh, replace(sizing, speed=100.0), points=0, ends=NO_ENDS)
        assert_same_cloth(mesh, adapted)
        after = adapted.mesh
        line = np.flatnonzero(after.on == 0)
        assert (len(line) > cells + 1) == (cells == 6) and len(line) != cells + 1
        assert after.material[line, 0] == pytest.approx(0.5, abs=1e-15)
        assert (after.on >= 0).sum() == len(line) and after.slide[line] == pytest.approx(
            np.broadcast_to([0.7, 0.0], (len(line), 2)))
        assert after.v[line, 1] == pytest.approx(after.material[line, 1], abs=1e-12)
        along = (after.on[after.edges] == 0).all(axis=1)
        assert along.sum() == len(line) - 1
        assert not after.slide[after.on < 0].any()
        assert adapt(after, replace(sizing, speed=100.0), points=0, ends=NO_ENDS).mesh is after


def test_the_end_of_a_conformal_line_stays_where_it_is():
    mesh = eol(bent(40, 1.2))
    on = np.where(mesh.material[:, 1] < 0.51, mesh.on, -1).astype(np.int32)
    mesh = replace(mesh, on=on, slide=np.where(on[:, None] == 0, mesh.slide, 0.0))
    after = adapt(mesh, Sizing(0.2, 0.2, angle=10.0, speed=100.0), points=0, ends=NO_ENDS).mesh
    line = after.material[after.on == 0]
    assert len(line) < 12 and line[:, 1].max() == 0.5 and line[:, 1].min() == 0.0


@pytest.mark.parametrize("step", some([0.004, 0.01, 0.02], 0.01, 0.02))
def test_a_line_of_eol_vertices_goes_through_the_cloth(step):
    """A fold moves along the cloth with its conformal vertices: vertices ahead of it are removed, and the mesh behind
    it is filled."""
    mesh, line, sizing = eol(flat(20)), 0.5, Sizing(0.02, 0.1, speed=100.0)
    for _ in range(round(0.2 / step)):
        line += step
        X = np.where((mesh.on == 0)[:, None], [line, 0.0], mesh.material)
        X[:, 1] = mesh.material[:, 1]
        over = np.maximum(X[:, 0] - line, 0.0)
        before = moved(mesh, material=X, x=np.column_stack(
            [np.minimum(X[:, 0], line) + np.cos(1.2) * over - line, X[:, 1], -np.sin(1.2) * over]))
        adapted = adapt(before, sizing, points=0, ends=NO_ENDS)
        assert_same_cloth(before, adapted, least=5.0)
        mesh = adapted.mesh
        assert (mesh.on == 0).sum() == 21 and (mesh.on[mesh.edges] == 0).all(axis=1).sum() == 20
    assert 0.8 * 800 < len(mesh.faces) < 1.1 * 800


def test_momentum_is_conserved_by_splits_and_bounded_in_collapses():
    mesh = rolled(20)
    X = mesh.material
    v = np.column_stack([np.sin(3 * X[:, 0]), np.cos(2 * X[:, 1]), X[:, 0] * X[:, 1]])
    # splits alone
    finer = adapt(moved(flat(8), v=np.zeros((81, 3)) + [0.3, 0.1, -2.0]), Sizing(0.01, 0.05))
    assert finer.splits and finer.mesh.momentum == pytest.approx([0.3, 0.1, -2.0], abs=1e-12)
    before = moved(mesh, v=v)
    adapted = adapt(before, SIZING)
    assert adapted.collapses or adapted.splits
    speed = before.areas @ np.linalg.norm(before.v[before.faces].mean(axis=1), axis=1)
    assert np.abs(adapted.mesh.momentum - before.momentum).max() < 1e-3 * speed
    coarser = adapt(moved(flat(32), v=np.column_stack([np.sin(3 * flat(32).material[:, 0])] * 3)), SIZING)
    assert np.abs(coarser.mesh.momentum - (1.0 - np.cos(3.0)) / 3.0).max() < 5e-3


def test_random_motion_leaves_no_bad_triangle():
    pick = np.random.default_rng(0)
    mesh = flat(12)
    for _ in range(8):
        waves = pick.normal(size=(4, 3)) * 0.03
        ways = pick.normal(size=(4, 2)) * 12.0
        x = np.column_stack([mesh.material, np.zeros(len(mesh.material))])
        for amplitude, way in zip(waves, ways):
            x = x + np.sin(mesh.material @ way)[:, None] * amplitude
        before = moved(mesh, x=x, v=np.sin(3.0 * x))
        adapted = adapt(before, Sizing(0.03, 0.1))
        assert_same_cloth(before, adapted)
        mesh = adapted.mesh


def test_the_same_cloth_gives_the_same_bytes():
    made = []
    for _ in range(2):
        one = adapt(rolled(20), SIZING)
        mesh = one.mesh
        made.append(b"".join(a.tobytes() for a in (mesh.x, mesh.material, mesh.faces, mesh.v, mesh.on, one.was)))
    assert made[0] == made[1]


def test_what_may_not_be_split_any_more_is_reported_with_its_position():
    adapted = adapt(bent(10, 1.0), replace(SIZING, most_faces=300))
    assert len(adapted.mesh.faces) <= 300
    assert adapted.message is not None
    assert "longer than its sizing wants" in adapted.message and "near (0.5" in adapted.message


def test_what_is_hardly_too_long_is_not_reported():
    """Rounds end with an edge or two that are a hundredth too long in most cloth that folds."""
    mesh = bent(10, 1.0)
    working = Working(mesh)
    messages = [_message_of(working, Sizing(length, length), Measurements(working)) for length in (0.6, 0.08, 0.04)]
    assert messages[:2] == [None, None] and messages[2] is not None and "times as long near" in messages[2]


def test_a_coarser_sizing_is_a_preview():
    fine, preview = adapt(rolled(40), SIZING), adapt(rolled(40), SIZING.coarser(3.0))
    assert len(preview.mesh.faces) < 0.25 * len(fine.mesh.faces)


def test_pinned_vertices_stay():
    rest, faces = grid(20, 20, 1.0, 1.0)
    pinned = np.zeros(441, dtype=bool)
    pinned[[5, 210, 333]] = True
    mesh = SheetMesh.at_rest(rest, rest[:, :2], faces, pinned)
    adapted = adapt(mesh, Sizing(0.1, 0.4))
    assert_same_cloth(mesh, adapted)
    assert len(adapted.mesh.faces) < 120 and {5, 210, 333} <= set(adapted.was)


def fan(count, round_hub):
    """A disc of needles: around its middle, or from one vertex of its border."""
    turn = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    rim = 0.5 * np.column_stack([np.cos(turn), np.sin(turn)])
    if round_hub:
        return np.vstack([rim, [[0.0, 0.0]]]), [[i, (i + 1) % count, count] for i in range(count)]
    return rim, [[0, i, i + 1] for i in range(1, count - 1)]


@pytest.mark.parametrize(("material", "faces"), [
    fan(200, True), fan(128, False), ([grid(60, 3, 1.0, 1.0)[0][:, :2], grid(60, 3, 1.0, 1.0)[1]])],
    ids=["round", "from the rim", "columns"])
def test_an_artists_needles_are_made_good_at_once(material, faces):
    mesh = SheetMesh.at_rest(np.column_stack([material, np.zeros(len(material))]), material, np.array(faces))
    assert smallest_angle(mesh.material, mesh.faces) < 3.0
    adapted = adapt(mesh, SIZING)
    assert_same_cloth(mesh, adapted, least=8.0)
    assert lengths(adapted.mesh, SIZING).max() <= 1.0 + 1e-12
    assert adapt(adapted.mesh, SIZING).mesh is adapted.mesh


class Forgetful(Measurements):
    """Cache that never keeps a measurement."""

    def get_last_collapses(self):
        self.measured[:] = NOTHING
        return super().get_last_collapses()


def collapse_with_all_tried(mesh, usual, limits, straight, thinnest, known, metric_then, passes, turns):
    """Passes as `collapse_all` makes them, each of which tries all edges, in plain steps."""
    faces, (vertices, rows) = mesh[7], mesh[10][:2]
    edges, lengths, counts = np.empty(3 * rows, np.int64), np.empty(3 * rows), [0, 0]
    for _ in range(passes):
        short = sweeps.edges_between(mesh, 0.0, usual, edges, lengths)
        f, k = np.divmod(edges[:short][np.argsort(lengths[:short], kind="stable")], 3)
        ends = np.stack([faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]], axis=1).astype(np.int64)
        done = collapses.collapse_short(mesh, ends, usual, limits, straight, thinnest, np.ones(vertices, dtype=bool))
        if not done:
            break
        counts = [counts[0] + done, counts[1] + sweeps.flip_to_delaunay(mesh, thinnest, turns)]
    return counts


@pytest.mark.parametrize("seed", range(3))
def test_what_is_not_measured_and_tried_anew_would_end_the_same(seed, monkeypatch):
    """Steps of cloth that moves at random, from coarse to fine and back, with all of it looked at each time."""
    pick, mesh, counts = np.random.default_rng(seed), eol(flat(14)), np.zeros(3, int)
    for _ in range(6):
        bumps = np.exp(-40.0 * ((mesh.material[:, None] - pick.uniform(size=(3, 2))) ** 2).sum(axis=2))
        x = np.column_stack([mesh.material, bumps @ pick.normal(scale=0.1, size=3)])
        before, sizing = moved(mesh, x=x, v=np.sin(3.0 * x)), Sizing(0.02, pick.uniform(0.1, 0.25))
        made = []
        for seen, collapse in ((Measurements, collapses.collapse_all), (Forgetful, collapse_with_all_tried)):
            monkeypatch.setattr(adapting, "Measurements", seen)
            monkeypatch.setattr(adapting, "collapse_all", collapse)
            one = adapt(before, sizing, points=0, ends=NO_ENDS)
            made.append(b"".join(a.tobytes() for a in (one.mesh.x, one.mesh.material, one.mesh.faces, one.mesh.v,
                                                       one.was)) + str((one.message, one.flips)).encode())
        assert made[0] == made[1]
        mesh, counts = one.mesh, counts + [one.splits, one.flips, one.collapses]
    assert counts.min() > 50
