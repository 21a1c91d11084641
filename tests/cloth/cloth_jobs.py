"""Job folders of cloth, as a pipeline would write them."""

import numpy as np
from sheets import grid
from small_jobs import write_job

from solver.job.load import load
from solver.state import State

BOX = (np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float),
       np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
                 [0, 6, 4], [1, 5, 7], [1, 7, 3]], np.int32))


def obstacle(name, vertices, triangles, arrays, **more):
    arrays[f"{name}_places"], arrays[f"{name}_faces"] = np.asarray(vertices, float), np.asarray(triangles, np.int32)
    return {"name": name, "vertices": f"arrays/{name}_places.npy", "triangles": f"arrays/{name}_faces.npy", **more}


def cloth_body(name, vertices, triangles, arrays, *, pinned=None, motion=None, uv=None, laws=None, **cloth):
    """A body for `cloth_job`, its arrays added to `arrays`. pinned: vertices. laws: other fields of the body."""
    arrays[f"{name}_vertices"], arrays[f"{name}_triangles"] = vertices, np.asarray(triangles, np.int32)
    body = {"name": name, "cloth": cloth, "method": {"kind": "vanilla"}, **(laws or {}),
            "surface": {"vertices": f"arrays/{name}_vertices.npy", "triangles": f"arrays/{name}_triangles.npy"}}
    if pinned is not None:
        arrays[f"{name}_pinned"] = np.asarray(pinned, np.int32)
        body["pin"] = {"nodes": f"arrays/{name}_pinned.npy"}
        if motion is not None:
            arrays[f"{name}_motion"] = motion
            body["pin"]["node_motion"] = f"arrays/{name}_motion.npy"
    if uv is not None:
        arrays[f"{name}_uv"] = uv
        body["cloth"]["uv"] = f"arrays/{name}_uv.npy"
    return body


def cloth_job(folder, bodies, arrays, *, end=25, step=1 / 96, **scene):
    """A job folder, frames 1 to `end` at 24 a second, Backward Euler."""
    whole = {"version": 1, "name": "cloth", "time": {"start": 1, "end": end, "fps": 24, "step": step},
             "bodies": bodies, "integrator": {"kind": "backward_euler"}, **scene}
    return write_job(folder, whole, arrays)


def square(folder, cells=6, size=0.5, *, end=25, step=1 / 96, scene=None, **body):
    """A level square as a job."""
    arrays = {}
    vertices, triangles = grid(cells, cells, size, size)
    return cloth_job(folder, [cloth_body("Cloth", vertices, triangles, arrays, **body)], arrays, end=end, step=step,
                     **(scene or {}))


def part_of(job):
    from worlds import nodes_of

    return nodes_of(load(job))


def moving(part, x, v):
    """A state at positions and velocities of all nodes, (n, 3)."""
    free = part.coordinates.free
    return State(0.0, x[free].ravel(), v[free].ravel(), {})


class Quiet:
    """A reporter that discards its messages."""

    def __getattr__(self, name):
        return lambda *arguments: None


def stepped(part, state, h, count):
    for _ in range(count):
        state = part.step(state, h)
    return state


def places(part, state):
    return part.coordinates.positions(state.q, state.time)


def membrane(stretch=1000.0, shear=400.0, ratio=0.0):
    return {"kind": "corotated_membrane",
            "params": {"stretch_warp": stretch, "stretch_weft": stretch, "shear": shear, "poisson_ratio": ratio}}


def bending(k, kind="quadratic_bending"):
    return {"kind": kind, "params": {"bending_stiffness": k}}
