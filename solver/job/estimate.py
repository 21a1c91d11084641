"""Estimates of the size, memory and time of a job, before anything is computed.

Sizes are exact where the tetrahedra exist, else estimated from the surface. Memory and time are those of `costs`:
right in order of magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from . import costs, hashes, stages
from .folder import Job, parameters
from .load import load
from .schema import Body, step_size
from .schema_mechanisms import Mechanism

TETS_PER_NODE = 4.5  #: of a solid body; thin ones have fewer
ACROSS_THIN = 4.5  #: longest edge of a thin body, relative to its thickness
UNSURE = 2.0  #: factor by which an estimate may be wrong
POSE_BYTES = 200  #: of a rigid body in a frame: its pose and its joint's rates
BASE_BYTES = 250e6  #: memory of Python with its libraries


@dataclass(frozen=True)
class BodySize:
    """Size of a soft body, cloth or rope, exact or estimated from its surface."""

    name: str
    vertices: int
    triangles: int
    nodes: int
    tets: int
    exact: bool  #: whether numbers are exact, not estimated from the surface
    least_tets: int  #: bounds of an estimated number
    most_tets: int
    is_cloth: bool = False  #: whether `tets` is the number of triangles or links of cloth or a rope

    @property
    def sentence(self) -> str:
        """Return the size as a sentence without a full stop."""
        start = f'Body "{self.name}": {self.vertices} vertices, {self.triangles} triangles, '
        if self.is_cloth:
            return f"{start}cloth"
        if self.exact:
            return f"{start}{self.nodes} nodes, {self.tets} tetrahedra"
        return (f"{start}about {self.nodes} nodes, about {self.tets} tetrahedra "
                f"(from {self.least_tets} to {self.most_tets})")


@dataclass(frozen=True)
class MechanismSize:
    """Size of a mechanism."""

    name: str
    bodies: int
    rates: int  #: number of joint rates, without the constraints of loops


@dataclass(frozen=True)
class Estimate:
    """Size, memory and time of a job, as the command `check` prints them."""

    name: str
    bodies: tuple[BodySize, ...]
    frames: tuple[int, int]
    steps_per_frame: int
    memory_mb: float
    step_s: float
    total_s: float  #: of all steps of all frames
    cache_mb: float  #: frames on disk
    why_multigrid: str | None = None  #: reason why the bake chooses multigrid automatically; None where it does not
    mechanisms: tuple[MechanismSize, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return the estimate as plain values by name, for JSON."""
        return asdict(self)

    def sentences(self) -> list[str]:
        """Return the estimate as lines of text."""
        lines = [f"{self.name}: frames {self.frames[0]} to {self.frames[1]}, {self.steps_per_frame} steps each"]
        lines += [body.sentence for body in self.bodies]
        lines += [f'Mechanism "{mechanism.name}": {mechanism.bodies} bodies, {mechanism.rates} joint rates'
                  for mechanism in self.mechanisms]
        if self.why_multigrid is not None:
            lines.append(f"Linear solver: multigrid, since {self.why_multigrid}")
        return [*lines, f"Memory: about {self.memory_mb:.0f} MB; frames on disk: {self.cache_mb:.0f} MB",
                f"Time: about {self.step_s * 1e3:.0f} ms a step, {self.total_s:.0f} s in all"]


def estimate(path: Path | str) -> Estimate:
    """Check a job folder and estimate its memory and time. Raises BadScene, BadMesh, NoSuchThing as `load` does."""
    job = load(path)
    read = hashes.hashes(hashes.settings(job))
    sizes = tuple(body_size(job, body, read.bodies[body.name]["tets"]) for body in job.scene.bodies)
    time, tets = job.scene.time, [size.tets for size in sizes]
    steps, _ = step_size(time.fps, time.step)
    chosen = job.scene.linear_solver
    because = costs.why_multigrid(tets, costs.machine_memory()) if chosen == "auto" else None
    iterates = because is not None or (chosen != "auto" and catalogue.find("linear_solver", chosen).able("large"))
    cost = costs.multigrid(tets) if iterates else costs.direct(tets)
    step_s = cost.seconds
    rigid = sum(len(mechanism.bodies) for mechanism in job.scene.mechanisms)
    output = sum(size.vertices or size.nodes for size in sizes) * 12 + rigid * POSE_BYTES
    return Estimate(job.scene.name, sizes, (time.start, time.end), steps, (BASE_BYTES + cost.memory) / 1e6, step_s,
                    step_s * steps * (len(job.frames) - 1), output * len(job.frames) / 1e6, because,
                    tuple(mechanism_size(mechanism) for mechanism in job.scene.mechanisms))


def mechanism_size(mechanism: Mechanism) -> MechanismSize:
    """Return the numbers of bodies and joint rates of a mechanism.

    A body that is no joint's child has six rates, a body with prescribed motion none.
    """
    children = {joint.child for joint in mechanism.joints}
    free = sum(body.name not in children and body.motion is None for body in mechanism.bodies)
    rates = sum(len(catalogue.find("joint", joint.kind).rates) for joint in mechanism.joints)
    return MechanismSize(mechanism.name, len(mechanism.bodies), rates + 6 * free)


def body_size(job: Job, body: Body, tets_hash: str) -> BodySize:
    """Return the numbers of vertices, nodes and tetrahedra of a body.

    They are exact for cloth, ropes, and volumes that are given or already in the job; otherwise estimated from the
    surface and the edge length. tets_hash: hash of the body's stage "tets". Raises BadScene, NoSuchThing.
    """
    vertices = triangles = np.zeros((0, 3))
    if body.surface is not None:
        vertices, triangles = job.array(body.surface.vertices), job.array(body.surface.triangles)
    of_surface = (body.name, len(vertices), len(triangles))
    if body.rope is not None:
        links = len(job.array(body.rope.edges))
        return BodySize(*of_surface, len(vertices), links, True, links, links, True)
    if body.cloth is not None:
        return BodySize(*of_surface, len(vertices), len(triangles), True, len(triangles), len(triangles), True)
    made = stages.load_stage(job, "tets", body.name, tets_hash)
    if body.tets is not None:
        nodes, tets = len(job.array(body.tets.nodes)), len(job.array(body.tets.tets))
        return BodySize(*of_surface, nodes, tets, True, tets, tets)
    if made is not None and {"nodes", "tets"} <= made.keys():
        return BodySize(*of_surface, len(made["nodes"]), len(made["tets"]), True, len(made["tets"]), len(made["tets"]))

    coarse, tets = guessed_tets(vertices, triangles, parameters("mesher", body.mesher))
    return BodySize(*of_surface, max(4, round(tets / TETS_PER_NODE)), tets, False, max(1, round(coarse / UNSURE)),
                    round(tets * UNSURE))


def guessed_tets(vertices: NDArray[Any], triangles: NDArray[Any], params: Mapping[str, float | bool]
                 ) -> tuple[int, int]:
    """Return two estimates of the number of tetrahedra that fill a surface, at least 6 each.

    The first is for tetrahedra of the requested edge length; the second for edges that also fit a thin body.
    vertices: (n, 3) [m]. triangles: (m, 3). params: parameters of the mesher.
    """
    corners = (vertices - vertices.mean(axis=0))[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    volume = abs(float(np.einsum("ij,ij->", normals, corners[:, 0]))) / 6
    area = float(np.linalg.norm(normals, axis=1).sum()) / 2
    edge = float(params.get("edge_length", 0.0)) or float(np.linalg.norm(np.ptp(vertices, axis=0))) / 20
    if not area or not edge:
        return 6, 6
    sheet = float(params.get("sheet_thickness", 0.0))
    if 2 * volume / area < sheet:
        volume, area = area * sheet, 2 * area
    # a regular tetrahedron fills edge³ / 6√2; the surface adds some two for each of its triangles of that size, which
    # is smaller where the body is thin
    across = ACROSS_THIN * 2 * volume / area or edge
    inside, outside = 6 * math.sqrt(2) * volume / edge**3, 2 * area / (math.sqrt(3) / 4)
    coarse, fine = (max(6, round(inside + outside / side**2)) for side in (edge, min(edge, across)))
    return coarse, fine
