"""Newton's method on who pushes, who sticks and who slides: a few dozen impulses within their bounds."""

from __future__ import annotations

import numpy as np

from ...threads import kernel

UNSETTLED = -1  #: what `agree` says instead of a number of iterations


@kernel("i8(f8[:,::1], f8[::1], f8[::1], f8[::1], f8[::1], i8, i8, f8[::1], i8[::1])",
        fastmath={"contract", "reassoc"})
def agree(W, at, low, high, friction, iterations, most_free, x, side):  # type: ignore[no-untyped-def]
    """x with W x + at = 0 in every row, or with x on its bound and the row's velocity to the bound's outer side.

    The first p impulses have the bounds low and high, (p,). The other 2 k belong to the first k of them two by two:
    |x| ≤ μ of what pushes there, friction (k,). x: where to start, and the answer, within its bounds to the last
    digit. side: written, −1 and 1 at a bound, 0 where the row's velocity vanishes. Without friction W is symmetric
    and the answer a minimum, so a pivot that is not positive ends it.
    Returns how many iterations it took, UNSETTLED where these run out, where a matrix is singular or where more than
    `most_free` impulses are on no bound.
    """
    size, p, k = x.shape[0], low.shape[0], friction.shape[0]
    pairs_pivots = k > 0
    tried, free, place = np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64)
    for i in range(size):
        side[i] = 2
    for iteration in range(iterations):
        for i in range(size):
            velocity = at[i]
            for j in range(size):
                velocity += W[i, j] * x[j]
            tried[i] = x[i] - velocity / W[i, i]
        same, count = True, 0
        for i in range(size):
            if i < p:
                least, most = low[i], high[i]
            else:
                most = friction[(i - p) // 2] * max(tried[(i - p) // 2], 0.0)
                least = -most
            now = 0
            if i < p and (tried[i] <= least or least == most) or tried[i] < least:
                now = -1
            elif i < p and tried[i] >= most or tried[i] > most:
                now = 1
            if now != side[i]:
                same = False
            side[i] = now
            if now == 0:
                free[count], place[i] = i, count
                count += 1
        if same:
            for i in range(size):
                if i < p:
                    least, most = low[i], high[i]
                else:
                    most = friction[(i - p) // 2] * max(x[(i - p) // 2], 0.0)
                    least = -most
                if i < p and side[i] != 0:
                    x[i] = least if side[i] < 0 else most
                else:
                    x[i] = min(max(x[i], least), most)
            return iteration
        if count > most_free:
            return UNSETTLED

        # what is on a bound is known, or as many times what pushes there: what is left is W on the others
        matrix = np.zeros((count, count + 1))
        for r in range(count):
            row, to = W[free[r]], matrix[r]
            right = -at[free[r]]
            for j in range(size):
                if side[j] == 0:
                    to[place[j]] += row[j]
                elif j < p:
                    right -= row[j] * (low[j] if side[j] < 0 else high[j])
                else:
                    of = (j - p) // 2
                    slides = row[j] * side[j] * friction[of]
                    if side[of] == 0:
                        to[place[of]] += slides
                    else:
                        right -= slides * (low[of] if side[of] < 0 else high[of])
            to[count] = right
        for c in range(count):
            best = c
            if pairs_pivots:
                for r in range(c + 1, count):
                    if abs(matrix[r, c]) > abs(matrix[best, c]):
                        best = r
            if matrix[best, c] == 0.0 or not pairs_pivots and not matrix[c, c] > 0.0:
                return UNSETTLED
            if best != c:
                for j in range(c, count + 1):
                    matrix[c, j], matrix[best, j] = matrix[best, j], matrix[c, j]
            pivot = matrix[c]
            for r in range(c + 1, count):
                if matrix[r, c] != 0.0:
                    share = matrix[r, c] / pivot[c]
                    for j in range(c + 1, count + 1):
                        matrix[r, j] -= share * pivot[j]
        for r in range(count - 1, -1, -1):
            value = matrix[r, count]
            for j in range(r + 1, count):
                value -= matrix[r, j] * matrix[j, count]
            matrix[r, count] = value / matrix[r, r]
            x[free[r]] = matrix[r, count]
        for i in range(size):
            if side[i] != 0:
                if i < p:
                    x[i] = low[i] if side[i] < 0 else high[i]
                else:
                    x[i] = side[i] * friction[(i - p) // 2] * x[(i - p) // 2]
    return UNSETTLED
