"""Eigenvectors of the largest eigenvalues of a symmetric matrix, by block Krylov spaces, which find multiple
eigenvalues."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..state import Vec

DEPTH = 3  #: blocks of one Krylov space before it restarts from its result
RESTARTS = 40  #: at most
TOLERANCE = 1.0e-9  #: residual of an eigenvector relative to its eigenvalue


def largest(product: Callable[[Vec], Vec], first: Vec, count: int, tolerance: float | None = None) -> Vec:
    """Return orthonormal eigenvectors (m, b) of the b largest eigenvalues of a symmetric matrix, descending.

    product: returns the matrix times columns (m, b). first: block to start from, (m, b). count: number of vectors whose
    residual is to be at most `tolerance`, by default TOLERANCE, times the eigenvalue; after RESTARTS restarts the block
    is returned as it is, without an error.
    """
    block, tolerance = np.linalg.qr(first)[0], TOLERANCE if tolerance is None else tolerance
    for _ in range(RESTARTS):
        basis, image = [block], [product(block)]
        for _ in range(DEPTH - 1):
            new, have = image[-1], np.concatenate(basis, axis=1)
            for _ in range(2):  # twice is enough
                new = np.linalg.qr(new - have @ (have.T @ new))[0]
            basis.append(new)
            image.append(product(new))
        have, images = np.concatenate(basis, axis=1), np.concatenate(image, axis=1)
        values, vectors = np.linalg.eigh(0.5 * (have.T @ images + images.T @ have))
        chosen = vectors[:, : -len(block.T) - 1 : -1]
        block, moved = have @ chosen, images @ chosen
        left = np.linalg.norm(moved - block * values[: -len(block.T) - 1 : -1], axis=0)[:count]
        if (left <= tolerance * values[: -count - 1 : -1]).all():
            break
    return block
