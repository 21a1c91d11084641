"""Meshes that no mesher likes: filled, or refused in time with what can be done; what is lost is said."""

import re
import time

import numpy as np
import pytest
from nasty_surfaces import (
    ball,
    cap,
    dumbbell,
    folded_sheet,
    islands,
    loose_triangles,
    six_sides,
    slab,
    wavy_sheet,
    without_lid,
)
from surfaces import joined

from solver.errors import BadMesh, MesherFailed
from solver.meshing.tetrahedralize import tetrahedralize
from solver.meshing.volume import face_parts, tet_volumes


def pieces(volume):
    return face_parts(volume.tets)[0]


def test_a_thin_bar_is_kept_by_a_second_try():
    volume = tetrahedralize(*dumbbell(0.1, 4), "tetwild", {"edge_length": 1.0}, name="Dumbbell")
    assert pieces(volume) == 1 and volume.notes == ()


def test_what_parts_is_told_with_its_pieces_before_and_after():
    volume = tetrahedralize(*dumbbell(0.002, 2), "tetwild", {"edge_length": 1.0}, name="Dumbbell")
    assert pieces(volume) == 2
    assert volume.notes[0].startswith("What was one piece of the mesh is 2 pieces of tetrahedra")
    apart = tetrahedralize(*joined(ball(cells=3), ball(centre=(3.0, 0.0, 0.0), cells=3)), "tetwild",
                           {"edge_length": 0.8}, name="Balls")
    assert pieces(apart) == 2 and apart.notes == ()


def test_what_takes_too_long_is_tried_coarser_and_refused_and_the_time_is_told():
    said, began = [], time.monotonic()
    with pytest.raises(MesherFailed) as refusal:
        tetrahedralize(*slab(1e-3, 20), "tetwild", {}, name="Sheet metal", seconds=6.0,
                       report=lambda done, words: said.append(words))
    assert time.monotonic() - began < 60.0
    text = str(refusal.value)
    assert re.match(r'"Sheet metal": fTetWild could not mesh it: it did not finish within 6 s, nor coarser; it has '
                    r"one part, 1760 triangles and is about 0\.001 m thick, 1\.4 m across\. Use a larger edge", text)
    assert any("trying other settings" in words for words in said)
    for which in ("first", "last"):
        assert any(words.endswith(f"(3 s of at most 6 s, {which} try)") for words in said)


@pytest.mark.long
@pytest.mark.parametrize("surface, filled", [
    (islands, None), (lambda: islands(200, 0.05), None), (lambda: loose_triangles(2000, 0.3), False),
    (lambda: folded_sheet(8, 0.002), False), (lambda: slab(1 / 300, 20), None), (lambda: slab(1e-3, 40), None),
    (lambda: wavy_sheet(0.1, 5.0, (80, 80)), False), (without_lid, True), (lambda: cap(1.0), True), (six_sides, True),
    (lambda: joined(*(ball(0.5, (0.3 * i, 0.0, 0.0)) for i in range(5))), True),
])
def test_every_nasty_mesh_ends_in_time(surface, filled):
    """Filled (True), refused as a sheet (False), or what the machine has time for (None)."""
    vertices, triangles = surface()
    began = time.monotonic()
    try:
        volume = tetrahedralize(vertices, triangles, "tetwild", {}, name="It")
        assert filled is not False and (tet_volumes(volume.nodes, volume.tets) > 0).all()
        assert np.isfinite(volume.nodes).all()
    except BadMesh as refusal:
        assert filled is False and "Sheet Thickness" in str(refusal)
    except MesherFailed as refusal:
        assert filled is None and "nor coarser" in str(refusal)
    assert time.monotonic() - began < 400.0  # two tries of some hundred seconds, and what is checked after
