"""Small bars that are cut, with a skin of their own triangles that lie on no node of the volume."""

from types import SimpleNamespace

import numpy as np
from small_jobs import box_tets, write_job

from solver.build.soft_bodies import prepare_all
from solver.build.world import build_soft_part
from solver.job.load import load
from solver.meshing.volume import boundary_faces
from solver.reshape.reshape import Reshape
from solver.world.world import World

SIZE, CELLS = (0.24, 0.06, 0.06), (12, 3, 3)
PLANE = {"kind": "plane", "point": [0.155, 0.0, 0.03], "normal": [1.0, 0.0, 0.3]}
SHEET = {"kind": "sheet", "vertices": "arrays/sheet.npy", "triangles": "arrays/sheet_triangles.npy"}
FACES = {"kind": "faces", "faces": "arrays/faces.npy"}


def skin(cells=(17, 5, 5), size=SIZE):
    """Vertices and outward triangles of a box."""
    nodes, tets = box_tets(cells, size)
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    return nodes[used], corners.reshape(-1, 3).astype(np.int32)


def faces_at(nodes, tets, x):
    """All faces in the plane of this x, (f, 3)."""
    faces = np.unique(np.sort(tets[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1), axis=0)
    return faces[(np.abs(nodes[faces][..., 0] - x) < 1e-9).all(axis=1)].astype(np.int32)


def bar_job(folder, *cuts, surface=True, young=6e5, dynamic=(0.12, 0.03, 0.03), pinned=(0.0,), end=25, velocity=None,
            sheet=((0.1, -1, 0.02), (0.1, 1, 0.02), (0.1, 1, 1.0), (0.1, -1, 1.0)), **scene):
    """A bar held at its left end, its dynamic node in the middle; frames 1 to `end`, four steps each."""
    nodes, tets = box_tets(CELLS, SIZE)
    vertices, triangles = skin()
    pinned_nodes = (np.flatnonzero(np.isclose(nodes[:, :1], pinned, atol=1e-9).any(axis=1)) if pinned
                    else np.zeros(0, int))
    lively = [int(np.argmin(np.linalg.norm(nodes - dynamic, axis=1)))] if dynamic else []
    arrays = {"nodes": nodes, "tets": tets, "vertices": vertices, "triangles": triangles,
              "dynamic": np.array(lively, np.int32), "pinned": pinned_nodes.astype(np.int32),
              "sheet": np.array(sheet, float), "sheet_triangles": np.array([[0, 1, 2], [0, 2, 3]], np.int32),
              "faces": faces_at(nodes, tets, 0.1)}
    body = {"name": "Bar", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": young, "poisson_ratio": 0.4}},
            "dynamic": {"nodes": "arrays/dynamic.npy"}, "pin": {"nodes": "arrays/pinned.npy"}, "cuts": list(cuts)}
    if surface:
        body["surface"] = {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"}
    time = {"start": 1, "end": end, "fps": 24, "step": 1 / 96}
    return write_job(folder, {"version": 1, "name": "bar", "time": time, "bodies": [body], **scene}, arrays)


class OfOnePart:
    """The reshape of a scene whose bodies are one part, asked with that part and its own states."""

    def __init__(self, reshape):
        self._reshape, self.moments, self.record = reshape, reshape.moments, reshape.record

    def at(self, frame, part, state, share=0.0):
        world = World([part])
        done = self._reshape.at(frame, share, world, world.merge_states([state]))
        return SimpleNamespace(world=done.world.parts[0], state=done.world.split_state(done.state)[0], notes=done.notes)

    def again(self, part, records):
        return self._reshape.again(World([part]), records).parts[0]


def opened(folder):
    """(part, reshape) of a job folder."""
    job = load(folder)
    prepared = prepare_all(job, lambda *stage: None)
    soft = build_soft_part(job, prepared)
    return soft.part, OfOnePart(Reshape(job, prepared, [soft]))


def placed(world, state):
    return world.coordinates.positions(state.q, state.time)


class Listener:
    """Reporter that stores its messages."""

    def __init__(self):
        self.logs = []

    def log(self, text):
        self.logs.append(text)

    def stage(self, *stage): ...
    def start(self, *start): ...
    def frame(self, *frame): ...
