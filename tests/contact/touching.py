"""Jobs of soft bodies in contact with each other and with obstacles, and measures of them and of their states."""

import json

import numpy as np
import pytest
from small_jobs import box_tets, change, write_job
from worlds import nodes_of

from solver.errors import BadScene
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

VANILLA = {"kind": "vanilla"}
QUICK = {"integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": "quick"}}


def sheet(size=1.0, cells=2, z=0.0):
    """Vertices and triangles of a square in a plane of constant height, its normal upwards."""
    grid = np.linspace(-size / 2, size / 2, cells + 1)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    vertices = np.stack([x, y, np.full_like(x, z)], axis=-1).reshape(-1, 3)
    number = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = number[:-1, :-1].ravel(), number[1:, :-1].ravel(), number[1:, 1:].ravel(), number[:-1, 1:].ravel()
    return vertices, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)


def hollow(size, at):
    """Vertices and triangles of a closed box, facing outwards, whose least corner is there."""
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float) * np.asarray(size) + at
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], np.int32)


def soft(name, nodes, tets, arrays, *, modulus=2e4, poisson=0.4, pinned=None, **more):
    """A body for `contact_job`, its arrays added to `arrays`."""
    arrays[f"{name}_nodes"], arrays[f"{name}_tets"] = nodes, tets
    body = {"name": name, "tets": {"nodes": f"arrays/{name}_nodes.npy", "tets": f"arrays/{name}_tets.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": modulus, "poisson_ratio": poisson}},
            **more}
    if pinned is not None:
        arrays[f"{name}_pinned"] = np.asarray(pinned, np.int32)
        body["pin"] = {"nodes": f"arrays/{name}_pinned.npy"}
    return body


def obstacle(name, vertices, triangles, arrays, motion=None, **more):
    """An obstacle for `contact_job`."""
    arrays[f"{name}_vertices"], arrays[f"{name}_triangles"] = vertices, triangles
    one = {"name": name, "vertices": f"arrays/{name}_vertices.npy", "triangles": f"arrays/{name}_triangles.npy", **more}
    if motion is not None:
        arrays[f"{name}_motion"] = motion
        one["motion"] = f"arrays/{name}_motion.npy"
    return one


def contact_job(folder, bodies, obstacles, arrays, *, end=25, step=1 / 96, contact=None, **scene):
    """A job folder, frames 1 to `end` at 24 a second, Vanilla FEM and Backward Euler."""
    whole = {"version": 1, "name": "touching", "time": {"start": 1, "end": end, "fps": 24, "step": step},
             "bodies": bodies, "obstacles": obstacles, "contact": contact or {}, "method": VANILLA,
             "integrator": {"kind": "backward_euler"}, **scene}
    return write_job(folder, whole, arrays)


def box(cells=(2, 2, 2), size=(0.1, 0.1, 0.1), at=(0.0, 0.0, 0.0)):
    """Nodes and tets of a box whose least corner is there."""
    nodes, tets = box_tets(cells, size)
    return nodes + np.asarray(at, dtype=float), tets


def distance(part, state):
    """Between the nearest surface pieces that push each other, infinite where none do; as exact as doubles are."""
    law = part.contacts[0]
    found = law.find_active_pairs(part.coordinates.positions(state.q, state.time))
    return float(np.sqrt(found.work[:, 16].min(initial=np.inf)))


def crosses(part, state):
    """Whether any edge goes through any triangle, by ipctk's exact test."""
    return part.contacts[0].surfaces.intersection(part.coordinates.positions(state.q, state.time)) is not None


def stepped(part, state, h, count, check=True):
    """The state after some steps, each looked at."""
    for _ in range(count):
        state = part.step(state, h)
        if check:
            assert distance(part, state) > 0.0
            assert not crosses(part, state)
    return state


def keep_momentum_where_they_collide(part, state, h):
    """Two free boxes of 27 nodes, the left one on its way to the right one: seen to meet and to part."""
    momentum = part.mass @ part.velocity(state)
    touched = False
    for _ in range(20):
        state = stepped(part, state, h, 1)
        touched |= distance(part, state) < np.inf
        assert np.abs(part.mass @ part.velocity(state) - momentum).max() <= 1e-9
    v = part.velocity(state)
    assert touched
    assert v[:27, 0].mean() < 1.2
    assert v[27:, 0].mean() > 0.0


def read(job):
    return json.loads((job / "scene.json").read_text())


def lively(body, arrays, picked):
    """The body with these dynamic nodes."""
    arrays[f"{body['name']}_dynamic"] = np.asarray(picked, np.int32)
    return body | {"dynamic": {"nodes": f"arrays/{body['name']}_dynamic.npy"}}


class Quiet:
    """A reporter that discards its messages."""

    def __getattr__(self, name):
        return lambda *arguments: None


def resumed_alike(jobs, first=6, end=9, then=()):
    """The cache of the first of two equal jobs, baked at once; the other is stopped in between and has the same bytes.

    then: frames at which it is stopped again.
    """
    for job in jobs:
        change(job, "time.snapshot_every", 2)
    bake(jobs[0], Quiet(), frames=(1, end))
    bake(jobs[1], Quiet(), frames=(1, first))
    for last in (*then, end):
        bake(jobs[1], Quiet(), frames=(1, last), resume=True)
    whole, resumed = (Cache(job / "cache") for job in jobs)
    assert np.array_equal(whole.vertices(end), resumed.vertices(end))
    return whole


def two_on_a_floor(folder, **scene):
    """One box falls on another one, which falls on a sheet."""
    arrays = {}
    bodies = [soft("Jelly", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.03)), arrays, modulus=1e4),
              soft("Top", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.07, -0.06, 0.26)), arrays, modulus=3e4)]
    return contact_job(folder, bodies, [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays, **scene)


def energy(part, state):
    x, v = part.coordinates.positions(state.q, state.time), part.velocity(state)
    return part.evaluate(x, state.time)[1] + 0.5 * float(part.mass @ np.einsum("ni,ni->n", v, v))


def refused(job, error=BadScene):
    with pytest.raises(error) as caught:
        nodes_of(load(job))
    return str(caught.value)
