"""Bodies with fibers in balance: what activation, direction and modulus do to a bar, against closed forms and finer
meshes. The jobs go the whole way from scene.json."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import box, make, positions
from matrix import some
from scipy.optimize import brentq
from small_jobs import box_job, change
from worlds import nodes_of

from solver import catalogue
from solver.coordinates.prescribed import Motion
from solver.forces.activation import Activation
from solver.forces.elastic import Elastic
from solver.forces.fibers import Fibers
from solver.job.load import load
from solver.meshing.volume import boundary_faces

YOUNG, FIBER, STIFFENING = 2.0e4, 6.0e4, 5.0
LENGTH = 0.2


def in_balance(folder, *, params, kind="afung", fiber=None, gravity=(0, 0, 0), steps=1, arrays=None):
    """(rest, x) of a bar held at x = 0, after `steps` quasistatic steps of a frame each."""
    job = box_job(folder, end=steps + 1, step=1.0, cells=(6, 2, 2), motion=False, gravity=gravity,
                  method={"kind": "vanilla"}, integrator={"kind": "quasistatic"})
    change(job, "bodies.0.material", {"kind": "arap", "params": {"youngs_modulus": YOUNG}})
    change(job, "time.samples_per_frame", 1)
    if kind is not None:
        change(job, "bodies.0.fiber_material", {"kind": kind, "params": {"fiber_modulus": FIBER, **(fiber or {})}})
        change(job, "bodies.0.fiber_field", {"kind": "straight", "params": params})
    for name, values in (arrays or {}).items():
        np.save(job / "arrays" / f"{name}.npy", values)
        change(job, f"bodies.0.{name}", f"arrays/{name}.npy")
    world = nodes_of(load(job))
    state, found = world.initial_state(), []
    for _ in range(steps):
        state = world.step(state, 1 / 24)
        found.append(world.coordinates.positions(state.q, state.time))
    return world.rest, (found[0] if steps == 1 else found)


ALONG_X = {"fiber_x": 1.0, "fiber_z": 0.0}


def shortened(activation):
    """Stretch of a bar of Poisson ratio 0 whose linear springs balance its active fibers."""
    rest = 1.0 - 0.3 * activation

    def force(stretch):
        s = max(stretch / rest - 1.0, 0.0)
        return YOUNG * (stretch - 1.0) + FIBER * s * np.exp(STIFFENING * s * s) / rest

    return brentq(force, 0.5, 1.0, xtol=1e-14)


@pytest.mark.parametrize("activation", [0.2, 1.0])
def test_activation_shortens_a_bar_by_its_closed_form(tmp_path, activation):
    rest, x = in_balance(tmp_path, params=ALONG_X, fiber={"activation": activation})
    stretch = shortened(activation)
    assert 0.7 < stretch < 0.99
    assert x == pytest.approx(rest * [stretch, 1.0, 1.0], abs=1e-7)


def test_keyframed_activation_is_that_of_each_frame(tmp_path):
    samples = np.array([0.0, 0.5, 1.0, 0.2])
    rest, found = in_balance(tmp_path, params=ALONG_X, steps=3, arrays={"fiber_activation": samples})
    for activation, x in zip(samples[1:], found):
        assert x[:, 0].max() / LENGTH == pytest.approx(shortened(activation), abs=1e-6)


def test_painted_activation_is_the_share_of_what_is_keyframed(tmp_path):
    """The constant value, which keyframes replace, has no effect."""
    job = box_job(tmp_path, end=2, motion=False)
    nodes, tets = (np.load(job / "arrays" / f"{name}.npy") for name in ("nodes", "tets"))
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    for name, values in {"vertices": nodes[used], "triangles": corners.reshape(-1, 3).astype(np.int32),
                         "ramp": nodes[used, 0] / LENGTH, "active": np.array([0.6, 0.6, 0.6])}.items():
        np.save(job / "arrays" / f"{name}.npy", values)
    change(job, "bodies.0.surface", {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"})
    change(job, "bodies.0.fiber_material", {"kind": "afung", "params": {"activation": 0.1}})
    change(job, "bodies.0.fiber_field", {"kind": "straight"})
    change(job, "bodies.0.fiber_activation", "arrays/active.npy")

    def rest_lengths():
        return nodes_of(load(job)).elastic[0].fibers.constants[5]

    assert rest_lengths() == pytest.approx(1 - 0.3 * 0.6)
    change(job, "bodies.0.painted", {"activation": {"low": 0.0, "high": 0.5, "weights": "arrays/ramp.npy"}})
    along = nodes[tets].mean(axis=1)[:, 0] / LENGTH
    assert rest_lengths() == pytest.approx(1 - 0.3 * 0.6 * 0.5 * along, abs=1e-6)


@pytest.mark.parametrize(("integrator", "order"), some([("semi_implicit", 1), ("backward_euler", 1), ("sdirk2", 2),
                                                        ("tr_bdf2", 2)], ("semi_implicit", 1)))
def test_integrators_keep_their_order_while_a_muscle_contracts(tmp_path, integrator, order):
    """Each stage asks for the activation of its own time. Errors against steps of an eighth of the shortest; longer
    ones do not resolve the fastest wobble."""
    nodes, tets = box((3, 1, 1), (LENGTH, 0.05, 0.05))
    times = np.arange(3) / 48
    active = Activation(Motion((0.3 + 0.3 * np.sin(12.0 * times))[:, None], 1 / 48))
    directions = np.tile([1.0, 0.0, 0.0], (len(tets), 1))

    def after(steps):
        world = muscle_world(nodes, tets, directions, 1.0, active, integrator=integrator, tolerance=1e-12)
        state = world.initial_state()
        for _ in range(steps):
            state = world.step(state, 0.04 / steps)
        return state.q

    reference = after(512)
    errors = [np.abs(after(steps) - reference).max() for steps in (32, 64)]
    assert errors[1] > 1e-5 and np.log2(errors[0] / errors[1]) > order - 0.25


def test_fibers_stiffen_what_they_lie_along_and_nothing_across(tmp_path):
    """A bar that hangs along x sags by ρ g L²/2E, nearly: lumped masses lie unevenly on the corners of its end."""
    def sag(name, params, kind="astvk"):
        rest, x = in_balance(tmp_path / name, params=params, kind=kind, gravity=(0.05, 0, 0))
        return (x - rest)[rest[:, 0] == LENGTH, 0].mean()

    plain = sag("plain", {}, None)
    assert plain == pytest.approx(1000.0 * 0.05 * LENGTH**2 / (2 * YOUNG), rel=0.1)
    assert sag("along", ALONG_X) / plain == pytest.approx(YOUNG / (YOUNG + FIBER), rel=0.02)
    assert sag("across", {"fiber_z": 1.0}) / plain == pytest.approx(1.0, rel=1e-3)
    assert sag("muscle", ALONG_X, "afung") / plain == pytest.approx(YOUNG / (YOUNG + FIBER), rel=0.02)


def bend_of_layers(activation, height):
    """Curvature [1/m] of a beam of Poisson ratio 0 whose upper half has active fibers: no net force, no moment."""
    z = (np.arange(4000) + 0.5) / 4000 * height - height / 2
    rest = 1.0 - 0.3 * activation

    def stress(mean, curvature):
        stretch = 1.0 + mean - curvature * z
        s = np.where(z > 0, np.maximum(stretch / rest - 1.0, 0.0), 0.0)
        return YOUNG * (stretch - 1.0) + FIBER * s * np.exp(STIFFENING * s * s) / rest

    def moment(curvature):
        mean = brentq(lambda value: stress(value, curvature).sum(), -0.3, 0.3)
        return (stress(mean, curvature) * z).sum()

    return brentq(moment, 0.0, 0.3 / height)


def test_a_bar_bends_towards_its_fibers(tmp_path):
    """Fibers in the upper half only. Tetrahedra of linear displacement are stiff in bending; six layers reach some
    0.9 of a beam's, more come nearer."""
    height, activation = 0.1, 0.15
    curvature = bend_of_layers(activation, height)
    reached = []
    for layers in (4, 8):
        nodes, tets = box((2 * layers, 1, layers), (LENGTH, 0.1 / layers, height))
        vectors = np.where(nodes[tets].mean(axis=1)[:, 2:] > height / 2, [[1.0, 0.0, 0.0]], 0.0)
        x = balance_of(nodes, tets, vectors, activation)
        middle = np.abs(nodes[:, 2] - height / 2) < 1e-9
        tip = middle & (nodes[:, 0] == LENGTH)
        reached.append((x - nodes)[tip, 2].mean() / (curvature * LENGTH**2 / 2))
    assert 0.7 < reached[0] < reached[1] < 1.05


def twist_of(cells, angle):
    """Turn of the free end about the axis [rad] of a bar whose fibers wind around it and contract."""
    nodes, tets = box(cells, (LENGTH, 0.08, 0.08))
    nodes[:, 1:] -= 0.04
    centres = nodes[tets].mean(axis=1)
    around = np.cross([1.0, 0.0, 0.0], centres)
    around /= np.linalg.norm(around, axis=1)[:, None]
    x = balance_of(nodes, tets, np.cos(angle) * np.array([1.0, 0, 0]) + np.sin(angle) * around, 0.5)
    end = (nodes[:, 0] == LENGTH) & (np.abs(nodes[:, 1:]).max(axis=1) == 0.04)
    before, after = nodes[end, 1:], x[end, 1:]
    sine = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return float(np.mean(np.arctan2(sine, (before * after).sum(axis=1))))


def test_a_helix_twists_its_bar_and_its_mirror_image_the_other_way():
    right, left, fine = twist_of((5, 2, 2), 0.7), twist_of((5, 2, 2), -0.7), twist_of((15, 6, 6), 0.7)
    assert fine < -0.2  # right-handed fibers that shorten unwind: the end turns against them
    assert 0.6 < right / fine < 1.1
    assert left == pytest.approx(-right, rel=0.2)  # the grid itself has a handedness


def balance_of(nodes, tets, directions, activation):
    """Positions in balance of a bar as below."""
    world = muscle_world(nodes, tets, directions, activation, None, integrator="quasistatic")
    return positions(world, world.step(world.initial_state(), 1 / 24))


def muscle_world(nodes, tets, directions, activation, over_time, **settings):
    """A bar of Poisson ratio 0 with active fibers, held at its lowest x, no gravity."""
    numbers = {"fiber_modulus": FIBER, "fiber_stiffening": STIFFENING, "activation": activation}
    muscle = Fibers(catalogue.find("fiber_material", "afung").load(), directions,
                    {key: np.full(len(tets), value) for key, value in numbers.items()}, over_time)
    base = catalogue.find("material", "arap").load()
    world = make(nodes, tets, pinned=np.flatnonzero(nodes[:, 0] == nodes[:, 0].min()), gravity=(0, 0, 0),
                 method="vanilla", **settings)
    elastic = Elastic(nodes, tets, base, base.constants(np.full(len(tets), YOUNG)), muscle)
    return replace(world, elastic=[elastic])
