"""Wobbles of a world, found anew, and how fast each fades."""

from dataclasses import replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from solver.nonlinear.equilibrium import equilibrium

RIGID = 1e-6  #: of the fastest one, in ω²


class Modes:
    """Modes of all free nodes about equilibrium, slowest first, by the true K there."""

    def __init__(self, world, hangs=False):
        x, self.free = world.rest, world.coordinates.free
        if hangs:
            x = equilibrium(world, x, 0.0, self.free, world.tets, type(world.linear)())
        lin, whole = world.linearise_at(x, None, 0.0, False), world.condensation.whole
        whole.pattern.gather(lin.blocks, lin.node_blocks, -1.0, np.zeros(len(x)))
        lower = whole.pattern.matrix()
        rows = (3 * whole.pattern.position[self.free][:, None] + np.arange(3)).ravel()
        stiffness = (lower + sp.tril(lower, -1).T).tocsr()[rows][:, rows].toarray()
        self.mass = np.repeat(world.mass[self.free], 3)
        squares, fields = scipy.linalg.eigh(stiffness, np.diag(self.mass))
        seen = squares > RIGID * squares[-1]
        self.omegas, self.fields = np.sqrt(squares[seen]), fields[:, seen].T
        self.at, self.x = x[self.free].ravel(), x

    @property
    def hertz(self):
        return self.omegas / (2 * np.pi)

    def band(self, low=0.5, high=12.0):
        """Return the indices of frequencies [Hz] in the band."""
        return np.flatnonzero((self.hertz >= low) & (self.hertz <= high))

    def bent(self, world, numbers, size=1e-3):
        """Let go from these at once, each bent by so much [m] at most."""
        state, q = world.initial_state(), self.at.copy()
        for k in numbers:
            q += size * self.fields[k] / np.abs(self.fields[k]).max()
        return replace(state, q=q)

    def heights(self, state, numbers):
        """Return the heights of these wobbles, moved and moving, (m,)."""
        along = self.fields[numbers] * self.mass
        return np.hypot(along @ (state.q - self.at), along @ state.u / self.omegas[numbers])


def half_lives(world, modes, numbers, seconds, h, size=1e-3):
    """Seconds in which each of these wobbles is halved, let go one after the other, (m,)."""
    out = []
    for k in numbers:
        state = modes.bent(world, [k], size)
        heights = [modes.heights(state, [k])[0]]
        for _ in range(round(seconds / h)):
            state = world.step(state, h)
            heights.append(modes.heights(state, [k])[0])
        slope = np.polyfit(h * np.arange(len(heights)), np.log(heights), 1)[0]
        out.append(-np.log(2.0) / slope)
    return np.array(out)
