"""A reduced body on disk."""

import numpy as np
import pytest
from reduced import bar, substance

from solver.errors import StaleCache
from solver.parts.modes.body import ReducedBody
from solver.parts.modes.stored import built_or_loaded, fingerprint, load, store


@pytest.fixture
def kept(tmp_path):
    body, nodes, tets = bar()
    made_of = (tets, nodes, substance(), body.pins.groups, 4, None)
    store(tmp_path / "bar.npz", body, fingerprint(*made_of))
    return tmp_path / "bar.npz", body, made_of


def test_it_steps_as_the_one_that_was_stored(kept):
    path, body, made_of = kept
    again = load(path, *made_of)
    states = [one.step(one.step(one.rest(), 1 / 60), 1 / 60) for one in (body, again)]
    assert (states[0].y == states[1].y).all()
    assert again.truth.off == body.truth.off and (again.pins.groups[0] == body.pins.groups[0]).all()


@pytest.mark.parametrize("changed", ["place", "tets", "modulus", "density", "pins", "modes", "points"])
def test_one_of_another_mesh_is_refused(kept, changed):
    path, _, (tets, nodes, material, pins, m, points) = kept
    if changed == "place":
        nodes = nodes + 1e-9
    if changed == "tets":
        tets = tets[::-1]
    if changed == "modulus":
        material = substance(3.0001e4)
    if changed == "density":
        material = substance(density=1001.0)
    if changed == "pins":
        pins = [pins[0][:-1]]
    m, points = (5 if changed == "modes" else m), (80 if changed == "points" else points)
    with pytest.raises(StaleCache, match="another mesh or to other settings"):
        load(path, tets, nodes, material, pins, m, points)


def test_a_torn_file_is_refused_and_found_anew(kept, monkeypatch):
    path, body, made_of = kept
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StaleCache, match="cannot be read"):
        load(path, *made_of)
    assert (built_or_loaded(path, *made_of).points.volumes == body.points.volumes).all()
    # now it stands there again: nothing is built
    monkeypatch.setattr(ReducedBody, "build", None)
    assert np.array_equal(built_or_loaded(path, *made_of).points.volumes, body.points.volumes)
