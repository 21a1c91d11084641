"""Meshes with the sizes of the subspace paper's table 1, of our own making: creatures of balls and rods on a grid.

A cell of the grid is in a creature where its middle is inside of one of its balls or rods; each is cut into six
tetrahedra, so that a mesh has as many as asked for within a percent or so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solver.meshing.grid import box_tets
from solver.meshing.volume import drop_unused_nodes, face_parts

Rod = tuple[tuple[float, float, float], tuple[float, float, float], float]  #: ends and radius [m]


@dataclass(frozen=True)
class Creature:
    """A shape of about a metre and how stiff it is where."""

    rods: tuple[Rod, ...]
    young: Callable[[np.ndarray], np.ndarray]  #: of places (k, 3) [m] to Young's modulus [Pa]
    tets: int  #: how many the paper's has
    modes: int
    points: int
    paper_ms: float  #: of an iteration of the paper's subspace MFEM
    paper_plain_ms: float  #: and of its subspace FEM
    pinned: Callable[[np.ndarray], np.ndarray] | None = None  #: of places to which are held


def _distance(points: np.ndarray, rod: Rod) -> np.ndarray:
    """How far places are from a rod's line, less its radius."""
    low, high, radius = np.array(rod[0]), np.array(rod[1]), rod[2]
    along = high - low
    fraction = np.clip((points - low) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    found: np.ndarray = np.linalg.norm(points - low - fraction[:, None] * along, axis=1) - radius
    return found


def inside(points: np.ndarray, rods: tuple[Rod, ...], thinner: float = 1.0) -> np.ndarray:
    """Whether places are in one of the rods, of radii that are `thinner`."""
    found = np.zeros(len(points), bool)
    for low, high, radius in rods:
        found |= _distance(points, (low, high, thinner * radius)) < 0.0
    return found


def meshed(creature: Creature) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (n, 3) [m] and tets (e, 4) with as many tetrahedra as asked for, within two percent."""
    ends = np.array([end for low, high, radius in creature.rods for end in (low, high)])
    widest = max(radius for _, _, radius in creature.rods)
    low, high = ends.min(axis=0) - widest, ends.max(axis=0) + widest
    edge = float(np.cbrt(np.prod(high - low) / (creature.tets / 6.0)))
    for _ in range(12):
        cells = np.ceil((high - low) / edge).astype(int)
        axes = [lo + edge * (np.arange(n) + 0.5) for lo, n in zip(low, cells, strict=True)]
        middles = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        taken = inside(middles, creature.rods)
        count = 6 * int(taken.sum())
        if abs(count / creature.tets - 1.0) < 0.02:
            break
        edge *= float(np.cbrt(count / creature.tets))
    nodes, tets = box_tets((int(cells[0]), int(cells[1]), int(cells[2])), edge * cells, low)
    nodes, tets = drop_unused_nodes(nodes, tets.reshape(len(taken), 6, 4)[taken].reshape(-1, 4))
    parts, _ = face_parts(tets)
    if parts != 1:
        raise ValueError(f"a creature of {parts} parts")
    return np.ascontiguousarray(nodes), np.ascontiguousarray(tets)


def _ring(count: int, radius: float, height: float, out: float, low: float, thick: float) -> tuple[Rod, ...]:
    """Legs around the z axis."""
    angles = 2.0 * np.pi * np.arange(count) / count
    return tuple(((radius * np.cos(a), radius * np.sin(a), height), (out * np.cos(a), out * np.sin(a), low), thick)
                 for a in angles)


HEAD: Rod = ((0.0, 0.0, 0.12), (0.0, 0.0, 0.2), 0.17)
OCTOBOT = Creature((HEAD, *_ring(8, 0.1, 0.08, 0.45, 0.0, 0.05)),
                   lambda x: np.where(inside(x, (HEAD,)), 1e8, 1e5), 132_124, 5, 227, 1.19, 1.10)

TORSO: Rod = ((0.0, 0.0, 0.45), (0.0, 0.0, 0.8), 0.13)
SWORD: Rod = ((0.35, 0.0, 0.65), (0.35, 0.9, 0.65), 0.035)
GATORMAN = Creature((TORSO, ((0.0, 0.0, 0.95), (0.0, 0.15, 0.95), 0.1), ((-0.1, 0.0, 0.4), (-0.13, 0.0, 0.0), 0.075),
                     ((0.1, 0.0, 0.4), (0.13, 0.0, 0.0), 0.075), ((0.0, -0.05, 0.4), (0.0, -0.6, 0.15), 0.06),
                     ((0.1, 0.0, 0.75), (0.35, 0.0, 0.65), 0.055), ((-0.1, 0.0, 0.75), (-0.35, 0.0, 0.6), 0.055),
                     SWORD),
                    lambda x: np.where(inside(x, (SWORD,)), 1e12, 5e5), 227_035, 10, 192, 2.01, 2.04,
                    lambda x: x[:, 2] < 0.02)

LEGS: tuple[Rod, ...] = (((-0.35, -0.15, 0.5), (-0.35, -0.17, 0.0), 0.085), ((-0.35, 0.15, 0.5), (-0.35, 0.17, 0.0),
                         0.085), ((0.35, -0.15, 0.5), (0.35, -0.17, 0.0), 0.085), ((0.35, 0.15, 0.5), (0.35, 0.17, 0.0),
                         0.085))
TRUNK: tuple[Rod, ...] = (((-0.4, 0.0, 0.55), (0.35, 0.0, 0.62), 0.22), ((0.4, 0.0, 0.7), (0.6, 0.0, 0.8), 0.15),
                          ((0.7, 0.0, 0.7), (0.8, 0.0, 0.2), 0.055))
MAMMOTH = Creature((*LEGS, *TRUNK), lambda x: _mammoth(x), 531_565, 16, 581, 7.37, 7.56)

SHELL: Rod = ((-0.15, 0.0, 0.2), (0.15, 0.0, 0.2), 0.13)
CLAWS: tuple[Rod, ...] = (((0.2, 0.2, 0.22), (0.5, 0.3, 0.25), 0.05), ((-0.2, 0.2, 0.22), (-0.5, 0.3, 0.25), 0.05))
HIPS = (-0.25, -0.08, 0.08, 0.25)
CRAB = Creature((SHELL, *CLAWS, *(((x, s * 0.1, 0.2), (1.6 * x, s * 0.45, 0.0), 0.032) for x in HIPS for s in (-1, 1))),
                lambda x: _crab(x), 223_565, 16, 342, 5.87, 5.51,
                lambda x: (x[:, 1] < -0.35) & (x[:, 0] > 0.3) & (x[:, 2] < 0.02))


def _mammoth(points: np.ndarray) -> np.ndarray:
    """Bones inside of legs and trunk, joints between them, muscle around."""
    young = np.full(len(points), 5e5)
    young[inside(points, (*LEGS, *TRUNK), 0.4)] = 1e10
    joint = (abs(points[:, 2] - 0.28) < 0.03) & (points[:, 2] < 0.45) | (abs(points[:, 0] - 0.45) < 0.03)
    young[joint] = 1e5
    return young


def _crab(points: np.ndarray) -> np.ndarray:
    """A hard shell, and soft joints half way along the legs and where they begin."""
    away = np.linalg.norm(points[:, :2], axis=1)
    young = np.full(len(points), 1e10)
    soft = (abs(abs(points[:, 1]) - 0.16) < 0.02) | (abs(away - 0.4) < 0.02)
    young[soft & ~inside(points, (SHELL,))] = 1e6
    return young


CREATURES = {"octobot": OCTOBOT, "gatorman": GATORMAN, "mammoth": MAMMOTH, "crab": CRAB}
