"""Semismooth Newton method for a few dozen impulses with bounds and friction: which are active, stick or slip."""

from __future__ import annotations

import numpy as np

from ..threads import kernel

UNSETTLED = -1  #: what `semismooth_newton` returns instead of a number of iterations


@kernel("i8(f8[:,::1], f8[::1], f8[::1], f8[::1], f8[::1], i8, i8, f8[::1], i8[::1])",
        fastmath={"contract"})
def semismooth_newton(W, at, low, high, friction, iterations, most_free, x, side):  # type: ignore[no-untyped-def]
    """Write x with W x + at = 0 in every free row, and with x on its bound where the row's velocity points beyond it.

    The first p impulses have the bounds low and high, (p,). The other 2 k belong to the first k in pairs: |x| ≤ μ times
    the normal impulse, friction: μ, (k,). x: initial and final impulses, (p + 2 k,), exactly within their bounds. side:
    written, −1 and 1 at a bound, 0 where the row's velocity vanishes. Without friction W is symmetric and the solution
    a minimum, so a pivot that is not positive ends the iteration. Returns the number of iterations; UNSETTLED where
    these run out, where a matrix is singular or where more than `most_free` impulses are on no bound.
    """
    size, p, symmetric = x.shape[0], low.shape[0], friction.shape[0] == 0
    tried, least, most, slide = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    free, slot, of = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    for i in range(size):
        side[i] = 2
        of[i] = (i - p) // 2  # the normal row of this friction row
        if i < p:
            least[i], most[i], of[i] = low[i], high[i], i
    for iteration in range(iterations):
        same, count = True, 0
        for i in range(size):
            velocity = at[i]
            for j in range(size):
                velocity += W[i, j] * x[j]
            tried[i] = x[i] - velocity / W[i, i]
            if i >= p:
                most[i] = friction[of[i]] * max(tried[of[i]], 0.0)
                least[i] = -most[i]
            now = 0
            if tried[i] < least[i] or i < p and (tried[i] == least[i] or least[i] == most[i]):
                now = -1
            elif tried[i] > most[i] or i < p and tried[i] == most[i]:
                now = 1
            same = same and now == side[i]
            side[i] = now
            if now == 0:
                free[count], slot[i] = i, count
                count += 1
        if same:
            for i in range(size):
                if i >= p:
                    most[i] = friction[of[i]] * max(x[of[i]], 0.0)
                    least[i] = -most[i]
                x[i] = min(max(x[i], least[i]), most[i])
            return iteration
        if count > most_free:
            return UNSETTLED

        # impulses on a bound are known or μ times the normal impulse: W on the others remains
        for i in range(size):
            if side[i] != 0:
                x[i] = least[i] if side[i] < 0 else most[i]
                if i >= p:
                    slide[i] = side[i] * friction[of[i]]
                    x[i] = slide[i] * x[of[i]]
        matrix = np.zeros((count, count + 1))
        for r in range(count):
            row, to = W[free[r]], matrix[r]
            to[count] = -at[free[r]]
            for j in range(size):
                if side[j] == 0:
                    to[slot[j]] += row[j]
                elif side[of[j]] == 0:
                    to[slot[of[j]]] += slide[j] * row[j]
                else:
                    to[count] -= row[j] * x[j]
        for c in range(count):
            best = c
            for r in range(c + 1, count):
                if not symmetric and abs(matrix[r, c]) > abs(matrix[best, c]):
                    best = r
            if matrix[best, c] == 0.0 or symmetric and not matrix[c, c] > 0.0:
                return UNSETTLED
            for j in range(c, count + 1):
                matrix[c, j], matrix[best, j] = matrix[best, j], matrix[c, j]
            for r in range(c + 1, count):
                factor = matrix[r, c] / matrix[c, c]
                for j in range(c + 1, count + 1):
                    matrix[r, j] -= factor * matrix[c, j]
        for r in range(count - 1, -1, -1):
            for j in range(r + 1, count):
                matrix[r, count] -= matrix[r, j] * matrix[j, count]
            matrix[r, count] /= matrix[r, r]
            x[free[r]] = matrix[r, count]
        for i in range(p, size):
            if side[i] != 0:
                x[i] = slide[i] * x[of[i]]
    return UNSETTLED
