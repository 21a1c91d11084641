"""Open sheets are found, refused by name, and thickened on demand."""

import numpy as np
import pytest
from matrix import some
from nasty_surfaces import (
    ball,
    cap,
    folded_sheet,
    loose_triangles,
    sheet,
    six_sides,
    slab,
    tube,
    wavy_sheet,
    without_lid,
)
from surfaces import box, joined

from solver.errors import BadMesh
from solver.meshing.sheets import find_sheets, thicken
from solver.meshing.surface import clean
from solver.meshing.tetrahedralize import MOSTLY, tetrahedralize
from solver.meshing.volume import face_parts, nonmanifold_edges, tet_volumes

SHEETS = {
    "wavy": wavy_sheet, "gently wavy": lambda: wavy_sheet(0.02), "one wave": lambda: wavy_sheet(0.3, 0.5),
    "shallow bowl": lambda: cap(0.3), "short tube": lambda: tube(0.2), "folded": folded_sheet,
    "folded once": lambda: folded_sheet(2, 0.05), "loose triangles": loose_triangles,
}
SOLIDS = {
    "ball": ball, "plate": slab, "box without a lid": without_lid, "half a ball": lambda: cap(1.0),
    "ball with a hole": lambda: cap(1.7), "tube": lambda: tube(1.0), "long tube": lambda: tube(3.0),
    "box of six sheets": six_sides,
}


@pytest.mark.parametrize("name", some(SHEETS, *(SHEETS.keys() - {"folded"})))
def test_sheets_are_reported(name):
    surface = clean(*SHEETS[name]())
    found = find_sheets(surface)
    # of two hundred loose triangles some stand between others as if those were a body
    assert found.fraction > MOSTLY and found.parts.mean() > MOSTLY and found.triangles.mean() > MOSTLY


@pytest.mark.parametrize("name", SOLIDS)
def test_what_encloses_something_is_no_sheet(name):
    found = find_sheets(clean(*SOLIDS[name]()))
    assert found.fraction == 0.0 and not found.parts.any()


def test_a_sheet_beside_a_ball_is_reported_and_one_inside_of_it_belongs_to_it():
    card = sheet((3, 3), (0.5, 0.5), height=lambda x, y: 0.01 * x)
    surface = clean(*joined(ball(), (card[0] + [2.0, 0.0, 0.0], card[1]), (card[0] - [0.2, 0.2, 0.0], card[1])))
    found = find_sheets(surface)
    assert found.parts.tolist() == [False, True, False] and found.triangles.sum() == 18


@pytest.mark.parametrize("name", ["wavy", "gently wavy", "one wave"])
def test_a_thickened_sheet_is_a_closed_plate(name):
    vertices, triangles = SHEETS[name]()
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
    plate, around = thicken(vertices, triangles, 0.01)
    assert nonmanifold_edges(around) == 0
    a, b, c = (plate[around[:, i]] for i in range(3))
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(0.01 * area, rel=0.05)


@pytest.mark.parametrize("surface, what", [(wavy_sheet, "an open sheet that encloses no volume"),
                                           (loose_triangles, r"\d+ open sheets or loose faces that enclose no volume"),
                                           (sheet, "flat, it encloses no volume")])
def test_an_open_sheet_is_refused_by_name_and_says_what_to_do(surface, what):
    with pytest.raises(BadMesh, match=f'^"Flag": the mesh is {what}') as refusal:
        tetrahedralize(*surface(), "tetwild", {}, name="Flag")
    assert "Sheet Thickness" in str(refusal.value) and "Solidify modifier" in str(refusal.value)


@pytest.mark.long
@pytest.mark.parametrize("surface, size", [pytest.param(sheet, 1.0, marks=pytest.mark.long),
                                           (lambda: wavy_sheet(0.05, 1.0), 1.05)])
def test_a_sheet_is_thickened_where_that_was_chosen(surface, size):
    volume = tetrahedralize(*surface(), "tetwild", {"sheet_thickness": 0.05, "edge_length": 0.12}, name="Flag")
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(0.05 * size, rel=0.1)
    assert face_parts(volume.tets)[0] == 1 and "thickened to 0.05 m" in volume.notes[0]


def test_a_sheet_beside_a_body_is_not_filled_and_that_is_reported():
    vertices, triangles = box((1.0, 1.0, 1.0))
    card = sheet((3, 3), (0.5, 0.5))
    flagged = joined((vertices, triangles), (card[0] + [1.2, 0.0, 0.5], card[1]))
    volume = tetrahedralize(*flagged, "tetwild", {"edge_length": 0.4}, name="Box")
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(1.0, rel=0.05)
    assert "an open sheet that encloses nothing: not filled" in volume.notes[0]
