"""A reduced body as arrays, and the digest by which these are found again."""

import numpy as np
import pytest
from reduced import bar, substance

from solver.parts.modes.stored import arrays_of, body_of, fingerprint

DOWN = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module")
def made():
    body, nodes, tets = bar()
    return body, (tets, nodes, substance(), body.pins.groups, 4, None, [np.arange(3)], [DOWN])


def test_it_steps_as_the_one_that_was_stored(made):
    body, (tets, nodes, material, *_) = made
    again = body_of(arrays_of(body), tets, nodes, material)
    states = [reduced.step(reduced.step(reduced.rest(), 1 / 60), 1 / 60) for reduced in (body, again)]
    assert (states[0].y == states[1].y).all()
    assert again.truth.off == body.truth.off and (again.pins.groups[0] == body.pins.groups[0]).all()


CHANGES = {
    "place": (1, lambda nodes: nodes + 1e-9), "tets": (0, lambda tets: tets[::-1]),
    "modulus": (2, lambda _: substance(3.0001e4)), "density": (2, lambda _: substance(density=1001.0)),
    "pins": (3, lambda pins: [pins[0][:-1]]), "modes": (4, lambda _: 5), "points": (5, lambda _: 80),
    "pulled spot": (6, lambda _: [np.arange(4)]), "no pulled spot": (6, lambda _: []),
    "load": (7, lambda _: [DOWN[::-1]]), "no load": (7, lambda _: []),
}


@pytest.mark.parametrize("changed", CHANGES)
def test_another_mesh_or_setting_has_another_digest(made, changed):
    _, made_of = made
    which, change = CHANGES[changed]
    other = list(made_of)
    other[which] = change(other[which])
    assert fingerprint(*other) != fingerprint(*made_of)
    assert fingerprint(*made_of) == fingerprint(*made_of)
