"""Numbers in docs/integrators.md on wide swings and tumbling: each is measured and compared with the page."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bodies import box, make, nearest, positions
from matrix import crossed
from mechanisms import mechanism_world

from solver.state import State

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "integrators.md").read_text(encoding="utf-8")
LENGTH = 0.32
STATED = {  # of the table: share of the energy lost in a second, in its columns' order
    f"L/{parts}": tuple(map(float, re.findall(r"([\d.]+) %", re.search(rf"^\| L/{parts} \|(.*)$", PAGE, re.M)[1])))
    for parts in (256, 16)}
INTEGRATORS = ("sdirk2", "ssdirk2", "bdf2", "sbdf2")


def beam(integrator, gravity=0.0):
    nodes, tets = box((8, 1, 1), (LENGTH, 0.04, 0.04))
    return nodes, make(nodes, tets, young=3e5, pinned=np.flatnonzero(nodes[:, 0] < 1e-9), method="vanilla",
                       gravity=(0, 0, gravity), integrator=integrator, tolerance=1e-9,
                       quasistatic_start=bool(gravity))


@pytest.fixture(scope="module")
def bent():
    """Coordinates of the beam bent by as much gravity as brings its tip down by L/256 and by L/16."""
    found = {}
    for parts in (256, 16):
        gravity = -1.0
        for _ in range(3):
            nodes, world = beam("sdirk2", gravity)
            q = world.initial_state().q
            tip = nearest(nodes, (LENGTH, 0.04, 0.04))
            sunk = abs(positions(world, State(0.0, q, 0.0 * q))[tip, 2] - nodes[tip, 2])
            gravity *= LENGTH / parts / sunk
        _, world = beam("sdirk2", gravity)
        found[f"L/{parts}"] = world.initial_state().q
    return found


def energy(world, state):
    x, v = positions(world, state), world.velocity(state)
    return world.evaluate(x, 0.0)[1] + 0.5 * float(world.mass @ np.square(v).sum(axis=1))


@pytest.mark.parametrize("swing", STATED)
@pytest.mark.parametrize("column", range(4), ids=INTEGRATORS)
def test_what_a_beam_loses_in_a_second(bent, swing, column):
    _, world = beam(INTEGRATORS[column])
    state = State(0.0, bent[swing], np.zeros(len(bent[swing])))
    before = energy(world, state)
    for step in range(120):
        state = world.step(replace(state, time=step / 120), 1 / 120)
    stated = STATED[swing][column]
    # as many digits as are stated
    assert 100.0 * (1.0 - energy(world, state) / before) == pytest.approx(stated, abs=0.06 if stated < 10 else 0.6)


def tumbled(folder, integrator, rate):
    """How much |L| and the energy of the page's box have grown after ten seconds [%], and how far L has turned [°]."""
    box = {"name": "Box", "mass": 1.0,
           "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.2, "size_z": 0.1}}}
    free = {"name": "Root", "kind": "free", "child": "Box", "rate": [0.3, 3.0, 0.2, 0, 0, 0]}
    world = mechanism_world(folder, [box], [free], integrator=integrator, gravity=[0, 0, 0])

    def spin(state):
        at = world.tree.posture(state.q, state.u, state.memory)
        return at.E[0][:3, :3] @ (world.tree.inertia[0][:3, :3] @ at.twist[0][:3])

    state = world.initial_state()
    before, energy = spin(state), world.energy(state)
    for _ in range(10 * rate):
        state = world.step(state, 1 / rate)
    after = spin(state)
    sizes = np.linalg.norm([before, after], axis=1)
    turned = np.degrees(np.arccos(min(1.0, before @ after / sizes.prod())))
    return np.array([100.0 * (sizes[1] / sizes[0] - 1.0), 100.0 * (world.energy(state) / energy - 1.0)]), turned


@pytest.mark.parametrize("integrator, rate", crossed(
    ("backward_euler", "bdf2", "sdirk2", "sdirk23", "semi_implicit"), (24, 48)))
def test_what_tumbles_keeps_energy_and_spin(tmp_path, integrator, rate):
    grown, turned = tumbled(tmp_path, integrator, rate)
    assert np.abs(grown).max() < (1e-10 if integrator != "semi_implicit" else 1e-7)
    stated = re.search(
        r"The direction of the spin is off by ([\d.]+)° after ten seconds of Backward Euler at 1/24 s", PAGE)
    assert turned < (float(stated[1]) if integrator.endswith("euler") or integrator == "semi_implicit" else 0.1)
