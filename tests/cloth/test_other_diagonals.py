"""A quad is drawn along its other diagonal where it is folded by more than a right angle: nothing crosses that either.
"""

import numpy as np
import pytest
from cloth_jobs import cloth_body, cloth_job, obstacle, part_of, places

from solver.contact.find.mesh import Surfaces

QUAD = np.array([[-0.1, 0, 0], [0, -0.1, 0], [0.1, 0, 0], [0, 0.1, 0]])
CUT, OTHER = [[0, 1, 2], [0, 2, 3]], [[1, 2, 3], [1, 3, 0]]
#: a thin pillar below the quad's cut, 5 mm wide
PILLAR = (np.array([[0.002, 0.001, -0.03], [-0.003, 0.002, -0.3], [0.002, -0.003, -0.3], [0.003, 0.003, -0.3]]),
          np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]], np.int32))


def over_a_pillar(folder, knows):
    """A quad that hangs on both ends of its cut and folds over a pillar below that."""
    arrays = {"quads": np.array([[0, 1, 2, 3]], np.int32)}
    body = cloth_body("Cloth", QUAD, CUT, arrays, pinned=[0, 2], **({"quads": "arrays/quads.npy"} if knows else {}))
    return cloth_job(folder, [body], arrays, obstacles=[obstacle("Pillar", *PILLAR, arrays)],
                     contact={"law": {"kind": "barrier"}})


@pytest.mark.parametrize("knows", [True, False])
def test_nothing_goes_through_what_a_folded_quad_is_drawn_as(tmp_path, knows):
    part = part_of(over_a_pillar(tmp_path / "job", knows))
    state, crossed = part.initial_state(), 0
    for _ in range(60):
        state = part.step(state, 1 / 96)
        x = places(part, state)
        first = len(QUAD)
        of_pillar = first + PILLAR[1]
        for faces in (CUT, OTHER):
            drawn = np.concatenate([np.array(faces, np.int32), of_pillar]).astype(np.int32)
            group = np.where(np.arange(len(x)) < first, -1, 0)
            crossed += faces is OTHER and Surfaces(x, drawn, group).intersection(x) is not None
            assert faces is OTHER or Surfaces(x, drawn, group).intersection(x) is None
    folded = x[[1, 3], 2].max()
    if knows:
        assert crossed == 0 and -0.05 < folded < -0.01, "it lies on the pillar"
    else:
        assert crossed > 20 and folded < -0.07, "by its triangles alone it hangs down on both sides"


def test_both_diagonals_of_a_quad_meet_and_are_no_pair():
    rng = np.random.default_rng(3)
    x = QUAD + 0.02 * rng.normal(size=(4, 3))
    surfaces = Surfaces(x, np.array(CUT, np.int32), np.full(4, -1), quads=np.array([[0, 1, 2, 3]], np.int32))
    near = surfaces.find_near_pairs(x, 1.0)
    edges = {tuple(sorted((tuple(sorted(pair[:2])), tuple(sorted(pair[2:])))))
             for pair in near.nodes[near.points:].tolist()}
    assert edges == {((0, 1), (2, 3)), ((0, 3), (1, 2))}
    assert surfaces.largest_step(x, x + 1e-3 * rng.normal(size=(4, 3))) == 1.0


def test_a_quad_whose_other_diagonal_crosses_something_at_the_start_touches_by_its_triangles(tmp_path):
    from solver.build.diagonals import without_intersections

    x = np.concatenate([QUAD, QUAD + [0.3, 0, 0], [[0, 0, -0.1], [0, 0.01, -0.1], [0, 0, -0.015]]])
    x[[1, 3], 2] -= 0.03
    quads = np.array([[0, 1, 2, 3], [4, 5, 6, 7]], np.int32)
    faces = np.array([*CUT, *(np.array(CUT) + 4), [8, 9, 10]], np.int32)
    assert Surfaces(x, faces, np.full(11, -1)).intersection(x) is None
    made = Surfaces(x, faces, np.full(11, -1), quads=quads)
    disjoint = without_intersections(quads, made, x)
    assert disjoint.tolist() == [[4, 5, 6, 7]]
    assert Surfaces(x, faces, np.full(11, -1), quads=disjoint).intersection(x) is None
