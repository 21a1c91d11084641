"""Estimates of the size, memory and time of a job, before anything is computed.

Sizes are exact where the tetrahedra exist, else estimated from the surface. Memory and time are those of `costs`:
right in order of magnitude.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import catalogue
from . import costs, hashes
from .body_size import BodySize
from .kinds import kind_of
from .load import load
from .schema import step_size
from .schema_mechanisms import Mechanism

POSE_BYTES = 200  #: of a rigid body in a frame: its pose and its joint's rates
BASE_BYTES = 250e6  #: memory of Python with its libraries


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
    sizes = tuple(kind_of(body).size(job, read.bodies[body.name]["tets"]) for body in job.scene.bodies)
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
