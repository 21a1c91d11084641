"""Strips of cloth over boxes, stepped without a job."""

import numpy as np
from cloth_jobs import BOX
from sheets import grid
from solids import SHARP_ANGLE

from solver.contact.find.sharp import find_sharp_features
from solver.coordinates.prescribed import Constant
from solver.forces.cloth.corotated_membrane import CorotatedMembrane
from solver.forces.cloth.quadratic_bending import QuadraticBending
from solver.parts.eol.cloth import Cloth
from solver.parts.eol.eol_elements import EolElements
from solver.parts.eol.obstacles import FeatureObstacles, Obstacle
from solver.parts.eol.sliding_cloth import SlidingCloth
from solver.sheet.limits import RemeshLimits
from solver.sheet.sheet_mesh import SheetMesh

DENSITY, STRETCH = 0.2, 400.0


def block(low, high, friction=0.0):
    """A box between two corners, as cloth without thickness feels it."""
    low, high = np.array(low, float), np.array(high, float)
    x = low + (BOX[0] + 1.0) / 2.0 * (high - low)
    sharp = find_sharp_features(x, BOX[1], SHARP_ANGLE)
    return Obstacle("box", Constant(x), BOX[1], True, sharp, friction, friction, 0.0)


def fabric(bending=0.0, damping=0.0, exact=False):
    params = {"stretch_warp": STRETCH, "stretch_weft": STRETCH, "shear": STRETCH / 2, "poisson_ratio": 0.0}
    return EolElements(lambda sheet: CorotatedMembrane(sheet, params),
                       lambda sheet: QuadraticBending(sheet, {"bending_stiffness": bending}), DENSITY, damping,
                       exact=exact)


def folded_strip(cells, length, width, hangs, friction=0.0, edge=0.0):
    """A strip that lies on a box and hangs straight down over its edge at x = edge by `hangs`, at rest.

    Columns of vertices stand evenly on both sides of the edge and one on it. The sheet and the box.
    """
    lies = length - hangs
    before, after = max(2, round(cells * lies / length)), max(2, round(cells * hangs / length))
    along = np.concatenate([np.linspace(0.0, lies, before + 1), np.linspace(lies, length, after + 1)[1:]])
    rest, faces = grid(len(along) - 1, 2, length, width)
    columns = np.round(rest[:, 0] / length * (len(along) - 1)).astype(int)
    material = np.column_stack([along[columns], rest[:, 1]])
    past = np.maximum(material[:, 0] - lies, 0.0)
    x = np.column_stack([edge - lies + material[:, 0] - past, rest[:, 1] - width / 2, -past])
    mesh = SheetMesh.at_rest(x, material, faces)
    return mesh, FeatureObstacles([block((edge - 4, -2, -4), (edge, 2, 0), friction)])


def steps_of(mesh, things, made, *, gravity=(0.0, 0.0, -9.81), sizing=None, pins=None, **how):
    pinned_to = np.zeros((0, 3)) if pins is None else pins
    return SlidingCloth([made], np.array(gravity), things, RemeshLimits.of(mesh, 1e-3), sizing, lambda time: pinned_to,
                        **how)


def run(steps, cloth, h, count, look=lambda cloth, k: None):
    for k in range(count):
        cloth = steps.step(cloth, k * h, h)
        look(cloth, k)
    return cloth


def start(mesh, pinned=()):
    return Cloth.at_rest(mesh, np.array(pinned, dtype=int))
