"""BIPED: a ragdoll of fourteen bodies is pushed down a flight of stairs. [Thesis 3]

Balls at hips, spine, neck and shoulders, hinges at knees, ankles and elbows, all with limits; the stairs are boxes that
stand still, and the limbs touch each other too. Shapes, masses and the push are ours.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

HIGH = 2.35  #: of the pelvis above the ground at the start [m]
STEPS, TREAD, RISE = 6, 0.3, 0.2  #: of the stairs, down along Y [m]
PUSH = 1.5  #: [m/s] along Y
FPS = 24
ALONG_X = [0.5**0.5, 0.0, 0.5**0.5, 0.0]  #: turns Z to X: a hinge's axis, from side to side
BALL = {"kind": "spherical", "damping": [0.4] * 3}

#: name, parent, kind of shape and sizes, middle, joint [m], limits of hinges [rad]
LIMBS: list[tuple[str, str, dict[str, float], tuple[float, float, float], tuple[float, float, float],
                  tuple[float, float] | None]] = [
    ("Spine", "Pelvis", {"size_x": 0.25, "size_y": 0.18, "size_z": 0.25}, (0, 0, 0.22), (0, 0, 0.08), None),
    ("Chest", "Spine", {"size_x": 0.3, "size_y": 0.2, "size_z": 0.25}, (0, 0, 0.5), (0, 0, 0.36), None),
    ("Head", "Chest", {"radius": 0.11}, (0, 0, 0.78), (0, 0, 0.65), None),
    *((f"{side} {name}", parent if parent in ("Pelvis", "Chest") else f"{side} {parent}", size,
       (x * middle[0], *middle[1:]), (x * joint[0], *joint[1:]), limits)
      for side, x in (("Left", -1.0), ("Right", 1.0))
      for name, parent, size, middle, joint, limits in (
          ("thigh", "Pelvis", {"radius": 0.06, "length": 0.3}, (0.1, 0, -0.3), (0.1, 0, -0.09), None),
          ("shin", "thigh", {"radius": 0.05, "length": 0.3}, (0.1, 0, -0.72), (0.1, 0, -0.51), (-2.4, 0.05)),
          ("foot", "shin", {"size_x": 0.1, "size_y": 0.24, "size_z": 0.06}, (0.1, 0.05, -0.96), (0.1, 0, -0.93),
           (-0.6, 0.6)),
          ("arm", "Chest", {"radius": 0.045, "length": 0.2}, (0.22, 0, 0.4), (0.2, 0, 0.55), None),
          ("forearm", "arm", {"radius": 0.04, "length": 0.2}, (0.22, 0, 0.1), (0.22, 0, 0.25), (-0.05, 2.4))))]


def shape(size: dict[str, float]) -> dict[str, Any]:
    """The catalogue's shape that has these sizes."""
    kind = "box" if "size_x" in size else "capsule" if "length" in size else "sphere"
    return {"kind": kind, "params": size}


def ragdoll() -> dict[str, Any]:
    """The falling one, upright, its pelvis at `HIGH`."""
    def up(position: tuple[float, float, float]) -> list[float]:
        return [position[0], position[1], position[2] + HIGH]

    bodies = [{"name": "Pelvis", "position": up((0, 0, 0)), "friction": 0.5,
               "shape": shape({"size_x": 0.3, "size_y": 0.2, "size_z": 0.15})}]
    joints = [{"name": "Root", "kind": "free", "child": "Pelvis", "position": up((0, 0, 0)),
               "rate": [-0.6, 0.0, 0.0, 0.0, PUSH, 0.0]}]
    for name, parent, size, middle, joint, limits in LIMBS:
        bodies.append({"name": name, "position": up(middle), "shape": shape(size), "friction": 0.5})
        how = BALL if limits is None else {"kind": "revolute", "rotation": ALONG_X, "damping": [0.2],
                                           "low": [limits[0]], "high": [limits[1]]}
        joints.append({"name": name, "child": name, "parent": parent, "position": up(joint), **how})
    return {"name": "Ragdoll", "bodies": bodies, "joints": joints, "self_collisions": True}


def stairs() -> dict[str, Any]:
    """Boxes that are fixed to the world."""
    size = {"size_x": 2.0, "size_y": TREAD, "size_z": RISE}
    positions = [[0.0, TREAD * k, 1.25 - RISE * (k + 0.5)] for k in range(STEPS)]
    bodies = [{"name": f"Step {k + 1}", "position": position, "shape": shape(size), "friction": 0.5}
              for k, position in enumerate(positions)]
    return {"name": "Stairs", "bodies": bodies,
            "joints": [{"name": body["name"], "kind": "fixed", "child": body["name"]} for body in bodies]}


def job(folder: Path, seconds: float = 3.0, step: float = 1.0 / 120.0) -> None:
    """Write the scene into `folder`."""
    (folder / "arrays").mkdir(parents=True)
    scene = {"version": 1, "name": "biped", "mechanisms": [ragdoll(), stairs()],
             "ground": {"point": [0, 0, 0], "normal": [0, 0, 1],
                        "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}},
             "time": {"start": 1, "end": 1 + round(seconds * FPS), "fps": FPS, "step": step}}
    (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")


def lowest_point(pose: np.ndarray) -> float:
    """Return the lowest point of all bodies' middles, [m]."""
    return float(pose[:, 2, 3].min())
