"""A heavy body falls onto cloth that is pinned at its border: it is caught, and no step crawls."""

from dataclasses import replace

import numpy as np
import pytest
from cloth_jobs import cloth_body, cloth_job, membrane, moving, part_of, places
from sheets import grid
from small_jobs import box_tets

from solver.simulate import advance

SIDE, CELLS = 1.0, 12
MOST = 40  #: factors of a step: of one whose contact pushed as if nothing lay on the cloth, hundreds


def dropped(folder, *, density=4000.0, speed=3.0, limit=0.1, has_pins=True):
    """A cube of 30 cm just above a sheet of cotton of 1 m that is held at its border, and its state as it falls."""
    nodes, tets = box_tets((3, 3, 3), (0.3, 0.3, 0.3))
    vertices, triangles = grid(CELLS, CELLS, SIDE, SIDE)
    vertices[:, :2] -= vertices[:, :2].mean(axis=0)
    nodes = nodes - nodes.mean(axis=0)
    nodes[:, 2] += 0.16
    border = np.flatnonzero(np.abs(vertices[:, :2]).max(axis=1) > 0.5 * SIDE - 1e-9)
    arrays = {"nodes": nodes, "tets": tets}
    woven = membrane(shear=300.0, ratio=0.2)
    woven["params"]["stretch_limit"] = limit
    cloth = cloth_body("Cloth", vertices, triangles, arrays, pinned=border if has_pins else None, membrane=woven,
                       area_density=0.2, laws={"friction": 0.5})
    cube = {"name": "Cube", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"}, "density": density,
            "method": {"kind": "vanilla"}, "friction": 0.5,
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 1e5, "poisson_ratio": 0.45}}}
    part = part_of(cloth_job(folder, [cloth, cube], arrays, contact={}, stage_solver={"kind": "newton_visible"}))
    state = part.initial_state()
    v = np.zeros(part.rest.shape)
    v[len(vertices) :, 2] = -speed
    return part, moving(part, places(part, state), v), len(vertices)


def effort_and_depth(part, state, count, cloth):
    """Factors of the worst step and the lowest place of the cloth."""
    worst, lowest = 0, 0.0
    for _ in range(count):
        before = part.factored
        state = advance(part, state, 1 / 96, 1, largest=0.5)
        worst, lowest = max(worst, part.factored - before), min(lowest, places(part, state)[:cloth, 2].min())
    return worst, lowest, state


def test_contact_of_cloth_pushes_as_what_lies_on_it_needs(tmp_path):
    """The barrier stops the cube's mass over a cloth node's area within a step; against itself cloth keeps its own."""
    part, _, cloth = dropped(tmp_path / "job")
    law, h = part.contacts[0], 1 / 96
    middle = int(np.abs(places(part, part.initial_state())[:cloth]).sum(axis=1).argmin())
    heavy = 4000.0 * 0.3**3 / (6 * 0.3**2) * part.mass[middle] / 0.2 / h**2
    on_cube = cloth + np.arange(3)
    own = law._stiffness[middle]
    kappa, _ = law._pair_stiffness(np.array([[middle, *on_cube], [middle, middle - 1, middle - 2, middle - 3]],
                                            np.int32), 2)
    assert kappa[0] == pytest.approx(min(own, law._stiffness[on_cube].mean()) + heavy, rel=1e-9)
    assert kappa[1] == pytest.approx(min(own, law._stiffness[middle - 3 : middle].mean()), rel=1e-9)
    assert heavy > 20.0 * own


def test_a_heavy_cube_lands_on_cloth_in_few_iterations(tmp_path):
    part, state, cloth = dropped(tmp_path / "job")
    worst, lowest, _ = effort_and_depth(part, state, 6, cloth)
    assert worst <= MOST and lowest < -0.1


@pytest.mark.long
def test_cloth_with_a_limit_catches_a_heavy_cube_and_cloth_without_lets_it_sink(tmp_path):
    """108 kg at 3 m/s. Half a side that is stretched by a tenth is .23 m below its ends, by a fifth .33 m."""
    part, state, cloth = dropped(tmp_path / "job")
    worst, lowest, state = effort_and_depth(part, state, 30, cloth)
    assert worst <= MOST and -0.4 < lowest < -0.15
    assert places(part, state)[cloth:, 2].mean() > lowest + 0.2  # thrown up again
    part, state, cloth = dropped(tmp_path / "free", limit=0.0)
    assert effort_and_depth(part, state, 16, cloth)[1] < -0.5


def test_cloth_that_turns_by_its_edges_length_deforms_by_nothing(tmp_path):
    """Turning counts in a body of tetrahedra, in cloth only what gets longer or shorter."""
    part, state, cloth = dropped(tmp_path / "job", has_pins=False)
    x, turn = places(part, state), np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    both, one = x @ turn.T, x.copy()
    one[:cloth] = both[:cloth]
    one[:cloth, 2] = np.abs(one[:cloth, 2])  # and folded along its middle

    def change(after):
        return part.deformation(state, replace(moving(part, after, 96 * (after - x)), time=1 / 96))

    assert change(one) <= 1e-9 and change(both) > 1.0
    one[:cloth] *= 1.25
    assert change(one) == pytest.approx(0.25, rel=1e-9)
