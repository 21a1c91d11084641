"""Meshers that misbehave in their own process, for the tests of what watches over them."""

import ctypes
import os
import time

import numpy as np

from solver.meshing.grid import box_tets


class Odd:
    in_child = True

    def settings(self, surface, params):
        return {}

    def coarser(self, vertices, triangles):
        return vertices, triangles

    def retry(self, settings, slow):
        return {**settings, "slow": slow, "again": True}

    def progress(self, line):
        return (0.5, line.strip()) if "half" in line else None


class Prints(Odd):
    """Floods both outputs, then returns two cells of the box of its input."""

    def mesh(self, vertices, triangles, settings):
        print("x" * 300_000, flush=True)
        os.write(1, b"half way there\n")
        time.sleep(0.3)
        low, size = vertices.min(axis=0), np.ptp(vertices, axis=0)
        return box_tets((2, 2, 2), size, low)


class Aborts(Odd):
    def mesh(self, vertices, triangles, settings):
        os.write(2, b"about to abort\n")
        os.abort()


class Raises(Odd):
    def mesh(self, vertices, triangles, settings):
        raise ValueError("no such luck")


class Hangs(Odd):
    def mesh(self, vertices, triangles, settings):
        print("half", os.getpid(), flush=True)
        time.sleep(600)


class Clutches(Odd):
    """Works without ever letting another Python thread run, as native meshers do."""

    def mesh(self, vertices, triangles, settings):
        os.write(2, b"half %d\n" % os.getpid())
        ctypes.PyDLL(None).sleep(600)


class AbortsOnce(Prints):
    def mesh(self, vertices, triangles, settings):
        if not settings.get("again"):
            os.abort()
        return super().mesh(vertices, triangles, settings)


class Nonsense(Odd):
    """Mesher that reports success with tetrahedra unrelated to the surface; `what` selects the kind."""

    def mesh(self, vertices, triangles, settings):
        nodes, tets = box_tets((2, 2, 2), np.ptp(vertices, axis=0), vertices.min(axis=0))
        what = settings["what"]
        if what == "none":
            return nodes, tets[:0]
        if what == "nan":
            nodes[3] = np.nan
        if what == "far":
            nodes += 5.0
        if what == "flat":
            nodes[:, 2] *= 1e-7
        if what == "indices":
            tets[5, 2] = 1000
        if what == "little":
            nodes = vertices.mean(axis=0) + 0.2 * nodes
        if what == "outside":
            nodes = vertices.max(axis=0) + 0.05 * (nodes - nodes.min(axis=0)) + 0.01
        return nodes, tets


class Columns(Odd):
    """Upright columns of a grid over the box of its input, those selected by `keeps`."""

    cells = 3

    def keeps(self, i, j):
        return True

    def mesh(self, vertices, triangles, settings):
        size, low = np.ptp(vertices, axis=0), vertices.min(axis=0)
        nodes, tets = box_tets((self.cells, self.cells, 1), size, low)
        where = ((nodes[tets].mean(axis=1) - low) / size * self.cells).astype(int)
        return nodes, tets[[self.keeps(i, j) for i, j, _ in where]]


class Pinched(Columns):
    """A ring that touches itself along an edge, as glued lips do."""

    def keeps(self, i, j):
        return (i, j) not in ((0, 0), (1, 1))


class Hinged(Columns):
    """A block and, in the corner, a column that hangs on it by an edge."""

    cells = 8

    def keeps(self, i, j):
        return (i < 7 and j < 7) or (i, j) == (7, 7)


class Surplus(Columns):
    """The box, a smaller one outside of it, a crumb inside it and nodes that nothing uses."""

    def mesh(self, vertices, triangles, settings):
        nodes, tets = super().mesh(vertices, triangles, settings)
        high = vertices.max(axis=0)
        outside = box_tets((1, 1, 1), (0.1, 0.1, 0.1), high + 0.02)
        crumb = box_tets((1, 1, 1), (1e-3, 1e-3, 1e-3), vertices.mean(axis=0))
        return (np.concatenate([nodes, [[0.0, 0.0, 0.0]], outside[0], crumb[0]]),
                np.concatenate([tets, outside[1] + len(nodes) + 1, crumb[1] + len(nodes) + 1 + len(outside[0])]))
