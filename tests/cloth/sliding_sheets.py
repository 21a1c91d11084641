"""Sheets that lie flat on a box and are slid over it as one rigid piece, for tests of what conforms to its edges."""

from dataclasses import replace

import numpy as np
from sheets import grid
from solids import SHARP_ANGLE, box

from solver.contact.find.sharp import find_sharp_features
from solver.sheet.sheet_mesh import SheetMesh

SIDE = 1.2  #: of squares [m]


def box_features(low=(0.0, 0.0, 0.0), high=(1.0, 1.0, 1.0)):
    """Return the features of a box: its top is z = high."""
    x, triangles = box(low, high)
    return find_sharp_features(x, triangles, SHARP_ANGLE).at(x, np.zeros_like(x))


def flat(cells, middle=(0.8, 0.9), turn=0.3, z=1.0, side=SIDE):
    """A square in the plane of a height, its middle somewhere, turned by an angle."""
    rest, faces = grid(cells, cells, side, side)
    c, s = np.cos(turn), np.sin(turn)
    place = (rest[:, :2] - 0.5 * side) @ np.array([[c, s], [-s, c]]) + middle
    return SheetMesh.at_rest(np.column_stack([place, np.full(len(place), z)]), rest[:, :2].copy(), faces)


class Slid:
    """A flat sheet that moves as a rigid piece, and how its vertices on features go with it exactly."""

    def __init__(self, features, middle=(0.8, 0.9), turn=0.3):
        self.features, self.middle, self.turn = features, np.array(middle, float), turn
        self.velocity, self.spin = np.zeros(2), 0.0

    def rotation(self):
        c, s = np.cos(self.turn), np.sin(self.turn)
        return np.array([[c, -s], [s, c]])

    def world(self, X):
        return (X - 0.5 * SIDE) @ self.rotation().T + self.middle

    def material(self, x):
        return (x[:, :2] - self.middle) @ self.rotation() + 0.5 * SIDE

    def moving(self, x):
        """Velocity of the material at places (k, 3)."""
        off = x[:, :2] - self.middle
        return np.column_stack([self.velocity[0] - self.spin * off[:, 1], self.velocity[1] + self.spin * off[:, 0],
                                np.zeros(len(x))])

    def with_velocities(self, mesh):
        """The mesh with ẋ and Ẋ as the motion has them: no part of either that constraints forbid."""
        w, points = self.moving(mesh.x), len(self.features.points)
        v, slide, turned = w.copy(), np.zeros_like(mesh.slide), self.rotation()
        for i in np.flatnonzero(mesh.on >= 0):
            if mesh.on[i] < points:
                v[i] = 0.0
                slide[i] = -turned.T @ w[i, :2]
                continue
            along = self.features.along[mesh.on[i] - points]
            if mesh.border[i]:
                t = mesh.border_tangents[i]
                a, b = np.linalg.solve(np.column_stack([along[:2], -turned @ t]), w[i, :2])
                v[i], slide[i] = a * along, b * t
            else:
                v[i] = (w[i] @ along) * along
                slide[i] = turned.T @ (v[i] - w[i])[:2]
        return replace(mesh, v=v, slide=slide)

    def moved(self, mesh, h):
        """The mesh after h seconds, every vertex exactly where its material is, and those on edges on these."""
        here = self.with_velocities(mesh)
        self.middle, self.turn = self.middle + h * self.velocity, self.turn + h * self.spin
        x, X, on = here.x + h * here.v, mesh.material.copy(), mesh.on >= 0
        X[on] = self.material(x[on])
        for i in np.flatnonzero(on & mesh.border):
            t, along = mesh.border_tangents[i], self.features.along[mesh.on[i] - len(self.features.points)]
            off = X[i] - mesh.material[i]
            way = self.rotation().T @ along[:2]
            X[i] -= way * (off @ [-t[1], t[0]]) / (way @ [-t[1], t[0]])
            X[i] = mesh.material[i] + t * (t @ (X[i] - mesh.material[i]))
        x[:, :2] = self.world(X)
        return replace(here, x=x, material=X)
