"""Meshers that misbehave in their own process, for the tests of what watches over them."""

import os
import time

import numpy as np

from solver.meshing.grid import box_tets


class Odd:
    in_child = True

    def settings(self, surface, params):
        return {}

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


class AbortsOnce(Prints):
    def mesh(self, vertices, triangles, settings):
        if not settings.get("again"):
            os.abort()
        return super().mesh(vertices, triangles, settings)


class Nonsense(Odd):
    """Success, with tetrahedra that have nothing to do with the surface: `what` says which nonsense."""

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
