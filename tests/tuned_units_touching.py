"""Small systems in which tuned constants of drafts, meshes that touch and cloth over sharp edges steer; see
`tuned_units`."""

import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small_jobs import box_job, change, write_job
from solids import box
from tuned_jobs import VANILLA
from worlds import world_of

from solver.build import contact, drafts
from solver.build.touching import Touching
from solver.job.load import load
from solver.meshing.grid import box_tets

NO_EDGES = np.zeros((0, 2), np.int32)


def _draft(folder, pulls=(), **scene):
    job = box_job(folder, motion=False, end=3, step=1 / 48, integrator={"kind": "sdirk2"},
                  method={"kind": "subspace", "params": {"subspace_weights": 4}}, gravity=[0.0, 0.0, -40.0], **scene)
    change(job, "bodies.0.pulls", list(pulls))
    return load(job)


def drafts_with_many_pulls():
    """For how many of two and of six pulls a draft has functions of its own."""

    class EnoughIsKnown(Exception):
        """The arguments are known."""

    counts = []

    def build(*given, pulled, **how):
        counts.append(len(pulled))
        raise EnoughIsKnown

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drafts.ReducedBody, "build", build)
        for count in (2, 6):
            pulls = [{"position": [0.03 * k, 0.05, 0.1], "radius": 0.06} for k in range(count)]
            with tempfile.TemporaryDirectory() as folder, pytest.raises(EnoughIsKnown):
                world_of(_draft(Path(folder), pulls))
    return counts


def drafts_that_sink_into_an_obstacle():
    """How deep the end of a draft sinks into a floor, in millimetres to four digits."""
    vertices, triangles = box((-1.0, -1.0, -0.2), (1.0, 1.0, -0.001))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "arrays").mkdir()
        for name, array in (("floor", vertices), ("faces", triangles.astype(np.int32))):
            np.save(Path(folder) / "arrays" / f"{name}.npy", array)
        world = world_of(_draft(Path(folder), contact={}, obstacles=[{
            "name": "Floor", "vertices": "arrays/floor.npy", "triangles": "arrays/faces.npy"}]))
        state = world.initial_state()
        for _ in range(6):
            state = world.step(state, 1 / 48)
        return round(1e3 * float(world.parts[0].output(world.split_state(state)[0], 1)[:, 2].min()), 4)


@contextmanager
def _captured():
    """A list of the contact surfaces that worlds are built with in this block."""
    found, arranges = [], contact.as_they_touch
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contact, "as_they_touch", lambda *given: found.append(arranges(*given)) or found[-1])
        yield found


def _meshes(overlap, side=0.1):
    """How far vertices of two blocks are within their meshes [mm], which overlap by so much as their tetrahedra do,
    and how many; "refused" where they are left as they are."""
    arrays, bodies = {}, []
    for name, up in (("A", np.zeros(3)), ("B", np.array([0.01, 0.02, side - overlap]))):
        nodes, tets = box_tets((1, 1, 1), (side,) * 3)
        vertices, triangles = box((0.0, 0.0, 0.0), (side,) * 3)
        arrays |= {f"{name}_n": nodes + up, f"{name}_t": tets, f"{name}_v": vertices + up,
                   f"{name}_f": triangles.astype(np.int32)}
        bodies.append({"name": name, "tets": {"nodes": f"arrays/{name}_n.npy", "tets": f"arrays/{name}_t.npy"},
                       "surface": {"vertices": f"arrays/{name}_v.npy", "triangles": f"arrays/{name}_f.npy"}})
    whole = {"version": 1, "name": "blocks", "time": {"start": 1, "end": 3, "fps": 24, "step": 1 / 96},
             "bodies": bodies, "contact": {"law": {"kind": "barrier", "params": {"push_apart": 0.25}}},
             "method": VANILLA, "integrator": {"kind": "backward_euler"}}
    with tempfile.TemporaryDirectory() as folder, _captured() as found:
        world_of(load(write_job(Path(folder), whole, arrays)))
    [made] = found
    if not len(made.embedded.corners):
        return "refused"
    at = made.now[made.embedded.nodes:][:len(arrays["A_v"])]
    moved = np.abs(at - arrays["A_v"]).max(axis=1)
    return round(1e3 * float(moved.max()), 3), int((moved > 1e-6).sum())


def meshes_that_overlap_a_little():
    """How far the vertices of blocks of 10 cm move into their meshes, which overlap by so much, and how many do."""
    return [_meshes(overlap) for overlap in (1e-4, 2e-4 - 2e-8, 5e-3)]


def intersections_that_are_examined():
    """Numbers of pairs of bodies that are known to intersect, of which a second one comes after a hundred intersections
    of the first one and a third after a hundred thousand."""
    def intersections(now):
        for number in range(200_000):
            other = 1 + (number > 100) + (number > 100_000)
            yield np.array([0, 0]), np.array([other, other, other])

    surfaces = SimpleNamespace(intersection=lambda now: True, intersections=intersections)
    made = Touching([], [], NO_EDGES, NO_EDGES, None, surfaces, None, np.arange(4))
    return len(made.intersecting_pairs())


def _sharp_cloth(fold=10.0):
    """Steps of level cloth of 1 m with Sharp Edges over a sheet that is folded by so much [°]."""
    first = np.array([4 * k + i for k in range(3) for i in range(3)])
    triangles = np.concatenate([np.stack([first, first + 1, first + 5], axis=1),
                                np.stack([first, first + 5, first + 4], axis=1)]).astype(np.int32)
    across, along, up = np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 1, 4), [0.0])
    end = [1.0 + np.cos(np.deg2rad(fold)), -0.1 - np.sin(np.deg2rad(fold))]
    ridge = np.array([[x, y, z] for x, z in ((0.0, -0.1), (1.0, -0.1), end) for y in (0.0, 1.0)])
    arrays = {"vertices": np.stack([across.ravel(), along.ravel(), up.ravel()], axis=1), "triangles": triangles,
              "ridge": ridge, "faces": np.array([[0, 2, 1], [1, 2, 3], [2, 4, 3], [3, 4, 5]], np.int32)}
    body = {"name": "Cloth", "cloth": {"eulerian": {"angle": 0.35}, "thickness": 1e-3}, "method": VANILLA,
            "surface": {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"}}
    ridge = {"name": "Ridge", "vertices": "arrays/ridge.npy", "triangles": "arrays/faces.npy"}
    with tempfile.TemporaryDirectory() as folder:
        job = write_job(Path(folder), {
            "version": 1, "name": "cloth", "time": {"start": 1, "end": 3, "fps": 24, "step": 1 / 96}, "bodies": [body],
            "integrator": {"kind": "backward_euler"}, "contact": {}, "obstacles": [ridge]}, arrays)
        return world_of(load(job)).parts[0].steps


def edges_of_remeshed_cloth():
    """Whether cloth of edges of 33 cm and 47 cm is remeshed to shorter ones, of more than a tenth, where it folds, and
    whether nothing of it is split where it is level, nor anything left twice as long."""
    sizing = _sharp_cloth().sizing
    return sizing.smallest < 0.3, sizing.smallest > 0.03, sizing.largest > 2**0.5 / 3, sizing.largest < 0.9


def distances_of_sharp_cloth():
    """Whether the cloth's contact forces begin nearer than its thickness, and farther than a third of it."""
    distance = _sharp_cloth().contact._made.activation
    return distance < 1e-3, distance > 0.33e-3


def sheets_that_are_bevelled():
    """Numbers of open obstacles that count as smooth with folds of so many degrees."""
    return [len(_sharp_cloth(fold).obstacles.smooth_surfaces) for fold in (40.0, 80.0)]


UNITS = (drafts_with_many_pulls, drafts_that_sink_into_an_obstacle, meshes_that_overlap_a_little,
         intersections_that_are_examined, edges_of_remeshed_cloth, distances_of_sharp_cloth, sheets_that_are_bevelled)
