"""Small systems in which tuned constants of wobbles, their damping and checks of a scene steer; see `tuned_units`."""

import math
import re
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rope_jobs import rope_job
from small_jobs import box_job, box_tets, change, write_job
from tuned_jobs import VANILLA
from worlds import world_of

from solver.build import drafts, half_life, stiffness, suggest, wobble
from solver.build.soft_bodies import prepare_all
from solver.errors import BadInput
from solver.forces.elastic import corner_products
from solver.job.load import load
from solver.linear.choose import choose
from solver.linear.interface import NotPositiveDefinite
from solver.meshing.volume import Volume
from solver.state import State


def _quiet(*_):
    """Discard the progress of a stage."""


def half_lives_that_are_solved_for():
    """How many of 20 and of 1000 keyframed half-lives are solved for."""
    found = []
    for count in (20, 1000):
        solved = []

        def strength(seconds, solved=solved):
            solved.append(seconds)
            return 1.0 / max(seconds, 0.1)

        half_life._table(strength, np.linspace(0.5, 2.0, count))
        found.append(len(solved))
    return found


def _hanging():
    """The world of a bar that hangs from one end, with a half-life."""
    with tempfile.TemporaryDirectory() as folder:
        job = box_job(Path(folder), motion=False, end=3, step=1 / 48, method=VANILLA)
        change(job, "bodies.0.wobble_half_life", 0.5)
        change(job, "bodies.0.dynamic", {})
        return world_of(load(job))


def _stepped(h):
    """Positions after a step of h [s] of a bar with a half-life that is bent fast, to the last bit; and what the log
    has about it."""
    world = _hanging()
    state = world.initial_state()
    moving = np.cos(7.0 * state.q) * state.q
    return world.step(State(0.0, state.q, moving, state.memory), h).q.tobytes(), world.notes


def steps_that_are_cut_short():
    """Positions after a fourth of a step of a bar with a half-life."""
    return _stepped(1 / 192)


def wobbles_that_are_seen():
    """Positions after a step of a bar with a half-life, and the sentences on it."""
    return _stepped(1 / 48)


def half_lives_of_slow_and_fast_wobbles():
    """Times of what was asked by which the slowest wobble decays where steps take more from faster ones."""
    numerical = object.__new__(half_life._Numerical)
    numerical.__dict__.update(h=1 / 48, _beta=1.0, _integrator=_hanging().parts[0].integrator, _omega=2.0 * math.pi,
                              _own=0.0, _label="")
    rho = numerical.rate(0.5)
    return round(numerical.loses(2.0 * math.pi, 0.0, rho) / (math.log(2.0) / 0.5), 2)


def bodies_that_hang_slackly():
    """Whether a report advises a body of each frequency to be so much stiffer that it wobbles with 1.5 to 5 Hz."""
    found = []
    for hertz in (0.6, 1.8):
        text = half_life._frequency(2.0 * math.pi * hertz)
        times = re.search(r"with ([\d.e+]+) times", text)
        found.append(times and 1.5 < hertz * float(times[1]) ** 0.5 < 5.0)
    return found


def _stiffened(fibers, at_first):
    """How much stiffer a body is made to wobble at 1 Hz, whose squared frequency [Hz²] is so much by its fibers and so
    much at first by its material; and the number of tries."""
    tries = []

    def frequency(job, times):
        tries.append(times)
        return math.sqrt(fibers + times * at_first) if isinstance(times, float) else math.sqrt(fibers + at_first)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stiffness, "_frequency", frequency)
        patch.setattr(stiffness, "_stiffer", lambda prepared, times: float(times))
        prepared = SimpleNamespace(body=SimpleNamespace(name="Ear"))
        job = SimpleNamespace(scene=SimpleNamespace(bodies=[prepared.body]))
        try:
            return round(stiffness.fit_stiffness(job, prepared, 1.0)[1], 9), len(tries)
        except BadInput:
            return "refused", len(tries)


def bodies_with_some_fibers():
    """How a body is made to wobble as asked that has a few fibers, many, and so many that it is soft without them."""
    return _stiffened(0.3, 1.0), _stiffened(0.8, 1.0), _stiffened(0.0, 5e4)


def bodies_that_are_nearly_as_asked():
    """Whether a body's frequency is right to a hundredth, and whether fewer than seven tries take it there."""
    times, tries = _stiffened(0.3, 1.0)
    return times != "refused" and abs(math.sqrt(0.3 + times) - 1.0) < 0.01, tries < 7


def bodies_that_are_soft_enough():
    """How bodies are made to wobble as asked whose material has to be so much softer."""
    return [_stiffened(0.5, stiff)[0] for stiff in (50.0, 5e6)]


def _bar(cells=(4, 2, 2), pinned=True):
    """Elements of a bar, its rest shape, masses, free nodes and prepared body."""
    with tempfile.TemporaryDirectory() as folder:
        job = box_job(Path(folder), motion=False, end=2, cells=cells, method=VANILLA)
        if not pinned:
            change(job, "bodies.0.pin", {})
        change(job, "bodies.0.dynamic", {})
        loaded = load(job)
        [prepared] = prepare_all(loaded, _quiet)
        rest = prepared.volume.nodes
        made = prepared.material_data(loaded, rest, 0)
        free = np.setdiff1d(np.arange(len(rest)), prepared.fields.pinned).astype(np.int32)
        return loaded, prepared, made, rest, free


def _slowest(cells=(4, 2, 2), pinned=False):
    _, _, made, rest, free = _bar(cells, pinned)
    return wobble.slowest(made.elements, (), rest, made.mass, free, None, choose("auto", [len(made.elements.tets)]))


def wobbles_that_are_found():
    """Numbers of wobbles of a free bar of 45 nodes and of one of 81 nodes."""
    return len(_slowest().omegas), len(_slowest((8, 2, 2)).omegas)


def accuracy_of_the_slowest():
    """Number of wobbles of a free bar, and whether its slowest one is right to a millionth; the error where none is
    found."""
    try:
        found = _slowest((8, 2, 2))
    except (NotPositiveDefinite, ArithmeticError) as failure:
        return type(failure).__name__
    _, _, made, rest, _ = _bar((8, 2, 2), False)
    elements, field = made.elements, found.fields[0]
    forces, blocks = np.zeros((*elements.tets.shape, 3)), np.zeros((len(elements.tets), 6, 9))
    elements.fill(rest, False, forces, blocks)
    corners = field[None, elements.tets]
    square = -float(np.vdot(corners, corner_products(blocks, corners)))
    return len(found.omegas), abs(square / found.omegas[0] ** 2 - 1.0) < 1e-6


def bodies_under_their_weight():
    """Powers of ten of the largest force, relative to the weight, that is left on a bar that hangs."""
    _, _, made, rest, free = _bar()
    gravity = np.array([0.0, 0.0, -9.81])
    x = wobble.equilibrium_under_weight(made.elements, rest, made.mass, free, gravity, choose("auto", [96]))
    body = wobble._IsolatedBody(made.elements, rest, made.mass, gravity)
    left = body.evaluate(x, 0.0)[0][free]
    return round(float(np.log10(np.abs(left).max() / (made.mass.sum() * 9.81))), 1)


def _pin_groups(motion, across=2):
    nodes, tets = box_tets((16, across, across), (1.6, 0.2, 0.2))
    pinned = np.arange(len(nodes), dtype=np.int32)
    at = SimpleNamespace(moves=True, at=lambda time: nodes + np.outer(motion(nodes, time), [0.0, 0.0, 1.0]))
    return len(drafts._groups(Volume(nodes, tets), pinned, at, 1.0))


def pins_that_bend():
    """Numbers of groups of pins that bend by such parts of the body's size."""
    return [_pin_groups(lambda x, time, part=part: part * time * np.sin(4.0 * x[:, 0])) for part in (5e-4, 0.03)]


def pins_that_bend_strongly():
    """Numbers of groups of pins that bend by as much as the body is long."""
    return _pin_groups(lambda x, time: 3.0 * time * np.sin(40.0 * x @ [1.0, 1.3, 1.7]), 4)


def pins_that_bend_for_a_moment():
    """Numbers of groups of pins that bend for a tenth and for a two hundredth of a bake."""
    return [_pin_groups(lambda x, time, long=long: 0.05 * (abs(time - 0.4171) < long) * np.sin(4.0 * x[:, 0]))
            for long in (0.05, 0.0025)]


def modes_of_a_suggestion():
    """Numbers of modes that are looked at for two and for forty dynamic nodes."""
    job, prepared, _, _, _ = _bar()
    counts = []

    def vibration(job, prepared, count):
        counts.append(count)
        raise BadInput("enough is known")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suggest, "vibration", vibration)
        for count in (2, 40):
            with pytest.raises(BadInput):
                suggest.suggest(job, prepared, count)
    return counts


def vibrations_of_a_free_bar():
    """Power of ten of the largest ω² of a rigid motion of a free bar, relative to the first wobble's."""
    job, prepared, _, _, _ = _bar((4, 2, 2), False)
    try:
        _, squares, _ = suggest.vibration(job, prepared, 10)
    except Exception as failure:
        return type(failure).__name__
    return round(float(np.log10(np.abs(squares[:6]).max() / squares[6])), 0)


def links_of_a_drafted_rope():
    """Whether a rope that may not stretch is longer by less than a hundredth when it falls from level in projective
    dynamics, and has fallen by more than a quarter of its length after 12 steps."""
    x = np.stack([np.linspace(0.0, 1.0, 11), np.zeros(11), np.zeros(11)], axis=1)
    with tempfile.TemporaryDirectory() as folder:
        job = rope_job(Path(folder), x, end=5, step=1 / 48)
        change(job, "bodies.0.method", {"kind": "projective"})
        world = world_of(load(job))
        state = world.initial_state()
        for _ in range(12):
            state = world.step(state, 1 / 48)
        shown = world.parts[0].output(state, 1)
    length = np.linalg.norm(np.diff(shown, axis=0), axis=1)
    return bool(length.max() < 0.1 * 1.01), bool(shown[-1, 2] < -0.25)


def loads_that_bounce_on_cloth():
    """Positions after a step of cloth with a half-life that is stretched fast, to the last bit."""
    vertices = np.stack([c.ravel() for c in np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 1, 4), [0.0])], axis=1)
    first = np.array([4 * k + i for k in range(3) for i in range(3)])
    triangles = np.concatenate([np.stack([first, first + 1, first + 5], axis=1),
                                np.stack([first, first + 5, first + 4], axis=1)]).astype(np.int32)
    body = {"name": "Cloth", "cloth": {}, "method": VANILLA, "wobble_half_life": 0.5,
            "surface": {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"},
            "pin": {"nodes": "arrays/pinned.npy"}}
    with tempfile.TemporaryDirectory() as folder:
        world = world_of(load(write_job(Path(folder), {
            "version": 1, "name": "cloth", "time": {"start": 1, "end": 3, "fps": 24, "step": 1 / 96}, "bodies": [body],
            "integrator": {"kind": "backward_euler"}}, {"vertices": vertices, "triangles": triangles,
                                                        "pinned": np.array([0, 3], np.int32)})))
        state = world.initial_state()
        return world.step(State(0.0, state.q, 0.3 * state.q, state.memory), 1 / 96).q.tobytes()


UNITS = (
    half_lives_that_are_solved_for, steps_that_are_cut_short, wobbles_that_are_seen,
    half_lives_of_slow_and_fast_wobbles, bodies_that_hang_slackly, bodies_with_some_fibers,
    bodies_that_are_nearly_as_asked, bodies_that_are_soft_enough, wobbles_that_are_found, accuracy_of_the_slowest,
    bodies_under_their_weight, pins_that_bend, pins_that_bend_strongly, pins_that_bend_for_a_moment,
    modes_of_a_suggestion, vibrations_of_a_free_bar, links_of_a_drafted_rope, loads_that_bounce_on_cloth)
