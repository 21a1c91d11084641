"""Places in sets that mirror each other."""

import numpy as np

from solver.fields.mirrored import find_mirrored_sets

#: two nodes each side of the middle of a line, the inner ones close to each other, and the middle itself
NODES = np.array([[x, 0.0, 0.0] for x in (-1.0, -0.1, 0.1, 1.0, 0.0)])
IMAGES = np.array([[0, 1, 2, 3, 4], [3, 2, 1, 0, 4]])  #: by no mirror and by the one at the middle


def sets_of(spacing, most=2, usable=(True,) * 5):
    return {tuple(nodes) for nodes in find_mirrored_sets(NODES, IMAGES, np.array(usable), spacing, most).tolist()}


def test_no_two_places_of_a_set_are_nearer_than_a_spacing():
    assert sets_of(0.0) == {(0, 3), (1, 2), (4, 4)}
    assert sets_of(0.2) == {(0, 3), (1, 2), (4, 4)}
    # what is its own image stands there however wide the spacing is
    assert sets_of(0.3) == {(0, 3), (4, 4)}
    assert sets_of(2.1) == {(4, 4)}


def test_a_set_is_whole_and_has_no_more_places_than_are_left():
    assert sets_of(0.0, most=1) == {(4, 4)}
    assert sets_of(0.0, usable=(True, True, False, True, True)) == {(0, 3), (4, 4)}
