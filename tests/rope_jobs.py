"""Ropes as jobs, for tests and benchmarks."""

import numpy as np
from small_jobs import write_job

from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake


class Quiet:
    """A reporter that discards its messages."""

    def __getattr__(self, name):
        return lambda *told: None


def chain(count):
    """Edges of a strand of so many links."""
    return np.stack([np.arange(count), np.arange(1, count + 1)], axis=1).astype(np.int32)


def rope_body(name, places, arrays, edges=None, pinned=(0,), loads=None, **rope):
    """A body of scene.json, whose arrays go into `arrays`."""
    edges = chain(len(places) - 1) if edges is None else edges
    made = {"v": np.asarray(places, float), "t": np.zeros((0, 3), np.int32), "e": np.asarray(edges, np.int32)}
    body = {"name": name, "method": {"kind": "vanilla"},
            "surface": {"vertices": f"arrays/{name}_v.npy", "triangles": f"arrays/{name}_t.npy"},
            "rope": {"edges": f"arrays/{name}_e.npy", **rope}}
    if len(pinned):
        made["p"] = np.zeros(len(places))
        made["p"][list(pinned)] = 1.0
        body["pin"] = {"weights": f"arrays/{name}_p.npy"}
    if loads is not None:
        made["l"] = np.asarray(loads, float)
        body["rope"]["loads"] = f"arrays/{name}_l.npy"
    arrays.update({f"{name}_{key}": value for key, value in made.items()})
    return body


def rope_job(folder, places, *, end=25, fps=24, step=1 / 96, scene=None, **body):
    """A job of one rope. places: of its points (n, 3) [m], joined one to the next."""
    arrays = {}
    made = rope_body("Rope", places, arrays, **body)
    return write_job(folder, {"version": 1, "name": "rope", "time": {"start": 1, "end": end, "fps": fps, "step": step},
                              "bodies": [made], "integrator": {"kind": "backward_euler"}, **(scene or {})}, arrays)


def baked(job, *ends, body="Rope"):
    """Positions at all frames, (frames, n, 3) [m]."""
    last = load(job).scene.time.end
    for end in ends or (last,):
        bake(job, Quiet(), frames=(1, end), resume=True)
    cache = Cache(job / "cache")
    return np.array([cache.frame(k)[body] for k in range(1, last + 1)])


def stretched(frame, places, edges=None):
    """How much longer each link is than at the start, as a share of its length."""
    edges = chain(len(places) - 1) if edges is None else edges
    long, rest = (np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1) for x in (np.asarray(frame), places))
    return long / rest - 1.0
