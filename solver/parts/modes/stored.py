"""Arrays of reduced bodies, from which they are restored, and the digest of all that these depend on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...state import Index, Vec
from .body import ReducedBody, Stepping, Truth
from .cubature import Cubature
from .operators import Substance
from .points import CubaturePoints
from .skinning import Subspace

FORM = 2  #: of the arrays; others are not read


def fingerprint(tets: Index, nodes: Vec, material: Substance, pins: Sequence[Index], m: int,
                points: int | None, pulled: Sequence[Index] = (), loads: Sequence[Vec] = ()) -> str:
    """Return a digest of mesh, material, pins, numbers of weights and points, pulled spots and loads of a reduced body.

    The arguments are those of `ReducedBody.build`; loads: also gravity, where that is the only one.
    """
    digest = hashlib.blake2b(digest_size=16)
    laws = [law.__name__ for law in (material.material, material.fiber_material) if law is not None]
    made_of = f"{FORM} {m} {points} {' '.join(laws)}" + (f" {len(pulled)} pulled" if pulled else "")
    digest.update(made_of.encode())
    fibers = material.fiber_constants
    for array in (np.asarray(nodes, float), np.asarray(tets, np.int32), material.constants, material.density,
                  np.zeros(0) if fibers is None else fibers,
                  *[np.asarray(indices, np.int32) for indices in (*pins, *pulled)],
                  np.asarray(loads, float)):
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def arrays_of(body: ReducedBody) -> dict[str, NDArray[Any]]:
    """Return the arrays of a reduced body from which `body_of` restores it, by name."""
    own, truth = body.subspace, body.truth
    arrays: dict[str, NDArray[Any]] = {
        "functions": own.functions, "prescribed": own.prescribed, "weights": own.weights,
        "stiffnesses": own.stiffnesses, "mass": own.mass, "pinned": own.pinned, "centre": own.centre,
        "size": np.array(own.size), "elements": body.points.elements,
        "volumes": body.points.volumes[: body.points.count], "frequencies": truth.frequencies,
        "spanned": truth.spanned, "sampled": truth.sampled, "factor": np.array(truth.factor)}
    return arrays | {f"group{k}": group for k, group in enumerate(own.groups)}


def body_of(arrays: Mapping[str, NDArray[Any]], tets: Index, nodes: Vec, material: Substance, seen: Any = None,
            stepping: Stepping | None = None) -> ReducedBody:
    """Return the reduced body on its mesh from the arrays of `arrays_of`. Raises KeyError where an array is missing."""
    nodes, tets = np.ascontiguousarray(nodes, dtype=np.float64), np.ascontiguousarray(tets, dtype=np.int32)
    substance = ReducedBody.substance_of(material, len(tets))
    groups = tuple(arrays[f"group{k}"] for k in range(sum(name.startswith("group") for name in arrays)))
    subspace = Subspace(arrays["functions"], arrays["prescribed"], arrays["weights"], arrays["stiffnesses"],
                        arrays["mass"], groups, arrays["pinned"], arrays["centre"], float(arrays["size"]))
    own = CubaturePoints(nodes, tets, substance, subspace, Cubature(arrays["elements"], arrays["volumes"]))
    body = ReducedBody(nodes, tets, substance, subspace, own, seen, stepping)
    body.truth = Truth(arrays["frequencies"], arrays["spanned"], arrays["sampled"], float(arrays["factor"]))
    return body
