"""Real meshers on clean and on dirty surfaces: a sound volume of the right size, or a refusal by name."""

import sys

import numpy as np
import pytest
from matrix import some
from surfaces import DATA, box, globe, joined

from solver.errors import BadMesh, Environment, NoSuchThing
from solver.meshing import tetgen, tetwild
from solver.meshing.tetrahedralize import tetrahedralize
from solver.meshing.volume import boundary_faces, face_parts, nonmanifold_edges, tet_quality, tet_volumes


def sphere(scale=(1.0, 1.0, 1.0)):
    saved = np.load(DATA / "ellipsoid.npz")
    vertices = saved["vertices"]
    return vertices / np.abs(vertices).max(axis=0) * scale, saved["triangles"]


def without_lid():
    vertices, triangles = box()
    return vertices, triangles[~(vertices[triangles][:, :, 2] > 0.999).all(axis=1)]


def soup():
    vertices, triangles = box()
    chosen = np.random.default_rng(5).random(len(triangles)) < 0.3
    triangles = np.where(chosen[:, None], triangles[:, ::-1], triangles)
    faces = np.arange(3 * len(triangles)).reshape(-1, 3)
    return vertices[triangles].reshape(-1, 3), np.concatenate([faces, faces[:7], [[0, 0, 1]]])


def with_wall():
    vertices, triangles = box()
    rim = np.flatnonzero(np.abs(vertices[:, 0] - 0.5) < 1e-9)
    rim = rim[np.argsort(np.arctan2(vertices[rim, 2] - 0.5, vertices[rim, 1] - 0.5))]
    fan = np.stack([rim, np.roll(rim, -1), np.full(len(rim), len(vertices))], axis=1)
    return np.concatenate([vertices, [[0.5, 0.5, 0.5]]]), np.concatenate([triangles, fan])


# name: surface, volume, parts, note
DIRTY = {
    "open": (without_lid, 1.0, 1, "was open"),
    "soup of flipped and doubled faces": (soup, 1.0, 1, None),
    "non-manifold inner wall": (with_wall, 1.0, 1, None),
    "self-intersecting": (lambda: joined(box(), box(origin=(0.5, 0.5, 0.5))), 2.0 - 0.125, 1, None),
    "two parts": (lambda: joined(box(), box(origin=(1.5, 0.0, 0.0))), 2.0, 2, None),
    "nested": (lambda: joined(box((3.0, 3.0, 3.0)), box(origin=(1.0, 1.0, 1.0))), 27.0, 1, None),
    "cavity": (lambda: joined(box((3.0, 3.0, 3.0)), (box()[0] + 1.0, box()[1][:, ::-1])), 26.0, 1, None),
}


def check_sound(volume):
    assert (tet_volumes(volume.nodes, volume.tets) > 0).all()
    assert nonmanifold_edges(boundary_faces(volume.tets)[0]) == 0
    assert tet_quality(volume.nodes, volume.tets).min() > 0.02
    assert np.array_equal(np.unique(volume.tets), np.arange(len(volume.nodes)))
    assert volume.tets.dtype == np.int32 and volume.nodes.dtype == np.float64


@pytest.mark.parametrize("case", some(DIRTY, *(case for case in DIRTY if case != "nested")))
def test_tetwild_fills_dirty_surfaces(case):
    surface, size, parts, note = DIRTY[case]
    vertices, triangles = surface()
    edge = np.linalg.norm(np.ptp(vertices, axis=0)) / 6.0
    volume = tetrahedralize(vertices, triangles, "tetwild", {"edge_length": edge}, name=case)
    check_sound(volume)
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(size, rel=0.06)
    assert face_parts(volume.tets)[0] == parts
    assert (note in " ".join(volume.notes)) if note else volume.notes == ()


@pytest.mark.parametrize("size, origin", some([(1e-6, 0.0), (1e3, 0.0), (0.1, 1e5), (1e-6, 1.0)],
                                              (1e-6, 1.0)))
def test_tetwild_at_any_size_and_place(size, origin):
    vertices, triangles = sphere((size, size, size))
    volume = tetrahedralize(vertices + origin, triangles, "tetwild", {"edge_length": size / 2}, name="Ball")
    check_sound(volume)
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(4 / 3 * np.pi * size**3, rel=0.1)
    assert np.abs(volume.nodes - origin).max() == pytest.approx(size, rel=0.05)


def test_edge_length_and_progress():
    reports = []
    counts = [len(tetrahedralize(*sphere(), "tetwild", {"edge_length": edge}, name="Ball",
                                 report=lambda done, words: reports.append((done, words))).tets)
              for edge in (0.9, 0.35)]
    assert counts[1] > 3 * counts[0]
    assert any("fTetWild" in words for _, words in reports)
    shares = [done for done, _ in reports if done is not None]
    assert shares and all(0.0 <= share <= 1.0 for share in shares)


@pytest.mark.long
def test_fine_surface_is_decimated_in_the_child():
    vertices, triangles = box(cells=(40, 40, 40))
    assert len(triangles) > 15_000
    volume = tetrahedralize(vertices, triangles, "tetwild", {"edge_length": 0.4}, name="Box")
    check_sound(volume)
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(1.0, rel=0.03)


def test_tetgen_fills_a_closed_surface_with_a_cavity():
    pytest.importorskip("tetgen")
    outer, inner = sphere(), sphere((0.5, 0.5, 0.5))
    surface = joined(outer, (inner[0], inner[1][:, ::-1]))
    volume = tetrahedralize(*surface, "tetgen", {"edge_length": 0.3}, name="Ball")
    check_sound(volume)
    a, b, c = (outer[0][outer[1][:, i]] for i in range(3))
    closed = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(closed * 7 / 8, rel=1e-6)


def test_tetgen_says_what_it_needs(monkeypatch):
    with pytest.raises(BadMesh, match='"Open": .*not closed.*fTetWild'):
        pytest.importorskip("tetgen")
        tetrahedralize(*without_lid(), "tetgen", {}, name="Open")
    monkeypatch.setattr(tetgen, "find_spec", lambda name: None)
    with pytest.raises(Environment, match='"Box": TetGen is not installed'):
        tetrahedralize(*box(), "tetgen", {}, name="Box")


def test_a_machine_without_ftetwild_says_so_at_once(monkeypatch):
    monkeypatch.setattr(tetwild, "find_spec", lambda name: None)
    with pytest.raises(Environment, match='"Box": fTetWild is not installed here'):
        tetrahedralize(*box(), "tetwild", {}, name="Box")


def test_unknown_mesher_is_named():
    with pytest.raises(NoSuchThing, match='no mesher "magic"'):
        tetrahedralize(*box(), "magic", {}, name="Box")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody holds fTetWild's random numbers")
def test_the_same_surface_gives_the_same_tetrahedra():
    """Each in a process of its own, and however many threads share the work: bytes, not looks."""
    vertices, triangles = sphere((1.0, 0.7, 0.9))
    first, again = (tetrahedralize(vertices, triangles, "tetwild", {"edge_length": 0.3}, name="Ball") for _ in range(2))
    assert len(first.tets) > 300
    assert first.nodes.tobytes() == again.nodes.tobytes()
    assert first.tets.tobytes() == again.tets.tobytes()


@pytest.mark.long
def test_a_fine_globe_keeps_its_volume_where_it_is_made_coarse():
    """Edge collapse alone leaves .6 of 100,000 triangles' volume, and no mesher fills that."""
    vertices, triangles = globe(160)
    volume = tetrahedralize(vertices, triangles, "tetwild", {}, name="Globe")
    check_sound(volume)
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(4 / 3 * np.pi, rel=0.03)
    assert not volume.notes and len(volume.tets) < 20_000


def test_a_quick_mesher_looks_at_few_triangles_of_a_fine_mesh():
    """Near sheets and inner points among all triangles of a drawn mesh would take longer than the tetrahedra."""
    longitude, latitude = np.meshgrid(np.linspace(0, 2 * np.pi, 160, endpoint=False), np.linspace(-1.5, 1.5, 80))
    points = np.stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], 2)
    at = np.arange(160 * 80).reshape(80, 160)
    quads = np.stack([at[:-1], np.roll(at, -1, 1)[:-1], np.roll(at, -1, 1)[1:], at[1:]], 2).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)
    few = tetwild.QuickTetWild().coarser(points.reshape(-1, 3), triangles)
    assert len(few[1]) <= 3000 < len(triangles)
    assert np.ptp(few[0], axis=0) == pytest.approx(np.ptp(points.reshape(-1, 3), axis=0), rel=0.02)
    assert tetwild.QuickTetWild().coarser(*few)[1] is few[1]
