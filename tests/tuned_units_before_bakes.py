"""Small systems in which tuned constants of what is checked and made before a bake steer; see `tuned_units`."""

import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from mechanisms import mechanism_world
from small_jobs import box_tets, write_job
from solids import ball

from solver.build import filled, loading
from solver.build.explicit_steps import _fastest, notes_of_explicit
from solver.build.satisfiable import refuse_unmet
from solver.errors import BadMesh, BadScene
from solver.job.load import load
from solver.meshing.volume import Volume


class _Row:
    """A constraint on the first node, with a residual that a function of its position gives."""

    def __init__(self, residual):
        self._residual, self.rounds = residual, 0

    def rows(self, x, time):
        self.rounds += 1
        value, slope = self._residual(x[0], time)
        jacobian = sp.csr_array(np.concatenate([slope, np.zeros(3 * (len(x) - 1))])[None])
        return SimpleNamespace(value=np.array([value]), one_sided=np.array([False]), jacobian=lambda nodes: jacobian)


def _unmet(*residuals, is_free=(True, False)):
    """Whether constraints are refused, and after how many rounds."""
    kinds = [_Row(residual) for residual in residuals]
    try:
        refuse_unmet([(f"row {k}", kind) for k, kind in enumerate(kinds)], np.array([[0.3, 0.2, 0.1], [1.0, 0.0, 0.0]]),
                     np.ones(2), np.array(is_free))
    except BadScene:
        return True, kinds[0].rounds
    return False, kinds[0].rounds


def _distance(point, length):
    def residual(x, time):
        away = x - point
        size = np.linalg.norm(away)
        return size - length, away / size

    return residual


def constraints_that_pins_leave_open():
    """Whether constraints of pinned points are refused that are so far from being met."""
    return [_unmet(lambda x, time, off=off: (off, np.ones(3)), is_free=(False, False))[0] for off in (1e-9, 1e-3)]


def constraints_that_are_hard_to_meet():
    """Whether points at given distances from two others are refused, of which there is one, and none by so much."""
    left, right = np.array([-1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
    return [_unmet(_distance(left, length), _distance(right, length)) for length in (1.2, 1.0 - 1e-5, 0.98)]


def _sliders(stiff, damping=(0.0,)):
    """A world of masses of 1 kg on springs along lines."""
    bodies = [{"name": f"Box {k}", "position": [float(k), 0, 0], "mass": 1.0} for k in range(len(stiff))]
    joints = [{"name": f"Slide {k}", "kind": "prismatic", "child": f"Box {k}", "stiffness": [one],
               "damping": [damping[k % len(damping)]], "implicit": False} for k, one in enumerate(stiff)]
    with tempfile.TemporaryDirectory() as folder:
        return mechanism_world(Path(folder), bodies, joints, gravity=[0, 0, 0])


def springs_that_blow_up():
    """Numbers of notes on springs with such (ω h)², and on dampers with such c h."""
    return [len(notes_of_explicit(_sliders((square * 1e4,), (c * 100.0,)), 0.01))
            for square, c in ((2.0, 0.0), (6.0, 0.0), (0.5, 0.6), (0.5, 2.0))]


def springs_of_nearly_one_stiffness():
    """The largest eigenvalue of two springs that are nearly as stiff, to six digits."""
    return round(_fastest(_sliders((1e4, 0.97e4)), 0.01)[0], 6)


def springs_for_which_no_step_is_short_enough():
    """Sentence of the log about a spring that is far too stiff."""
    return notes_of_explicit(_sliders((1e24,)), 0.01)


def reports_while_kernels_are_compiled():
    """Whether a compilation of 2 s is reported more than twice and less than fifty times, and as nearly done and not as
    done."""
    left, reports = [2.0], []

    def join(seconds):
        left[0] -= seconds

    loads = object.__new__(loading.Loading)
    loads._progress, loads._notes = SimpleNamespace(fraction=lambda: 1.0), []
    loads._thread = SimpleNamespace(is_alive=lambda: left[0] > 0.0, join=join)
    loads.finish(lambda stage, body, progress, text: reports.append(progress))
    return 2 < len(reports) < 50, 0.9 < reports[0] < 1.0


@contextmanager
def _round_job(size=1.0):
    """A job of a ball in a box of twice its radius, with a fine bake."""
    vertices, triangles = ball(8)
    vertices = np.concatenate([size * vertices, [[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]])
    body = {"name": "Ball", "surface": {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"},
            "mesher": {"kind": "tetwild", "params": {"edge_length": 0.01}}, "method": {"kind": "live"}}
    scene = {"version": 1, "name": "ball", "time": {"start": 1, "end": 1, "fps": 24, "step": 1 / 60}, "bodies": [body],
             "integrator": {"kind": "backward_euler"}}
    with tempfile.TemporaryDirectory() as folder:
        yield load(write_job(Path(folder), scene, {"vertices": vertices, "triangles": triangles}))


def cells_of_a_body_that_cannot_be_meshed():
    """Whether a body that no mesher fills has more than 500 and less than 20 000 cells."""
    made = []

    def volume_of(job, body, tets_hash, report):
        if body.mesher.kind != "cells":
            raise BadMesh("it cannot be filled")
        made.append(body.mesher.params["edge_length"])
        return Volume(*box_tets((1, 1, 1), (1.0, 1.0, 1.0)))

    with pytest.MonkeyPatch.context() as patch, _round_job() as job:
        patch.setattr(filled, "volume_of", volume_of)
        filled.fill_for_bake(job, lambda *_: None)
    cells = 4.0 / 3.0 * np.pi / made[0] ** 3
    return cells > 500, cells < 20_000


def bakes_that_are_played_as_they_are():
    """Meshers of live bodies whose bakes have so many tetrahedra."""
    found = []
    for count in (10_000, 1_000_000):
        with pytest.MonkeyPatch.context() as patch, _round_job() as job:
            patch.setattr(filled, "load_stage", lambda *_, count=count: {"tets": range(count)})
            found.append(filled.replace_meshers(job, 500, True).scene.bodies[0].mesher.kind)
    return found


def tetrahedra_of_a_live_body():
    """Whether a live body with a fine bake has more than a thousand and less than 40 000 tetrahedra."""
    with _round_job() as job:
        edge = filled._like_bake(job, job.scene.bodies[0]).mesher.params["edge_length"]
    tets = 4.0 / 3.0 * np.pi * filled.PER_CUBE / edge**3
    return tets > 1000, tets < 40_000


def cells_of_a_thin_body():
    """Edge of the cells in a ball, and in one that fills a thousandth of its box, relative to that by their boxes."""
    found = []
    for size in (1.0, 0.1):
        with _round_job(size) as job:
            edges = [filled.replace_meshers(job, 1000, False, inside).scene.bodies[0].mesher.params["edge_length"]
                     for inside in (False, True)]
        found.append(round(edges[1] / edges[0], 3))
    return found


UNITS = (
    constraints_that_pins_leave_open, constraints_that_are_hard_to_meet, springs_that_blow_up,
    springs_of_nearly_one_stiffness, springs_for_which_no_step_is_short_enough, reports_while_kernels_are_compiled,
    cells_of_a_body_that_cannot_be_meshed, bakes_that_are_played_as_they_are, tetrahedra_of_a_live_body,
    cells_of_a_thin_body)
