"""Files of reduced bodies: a subspace is loaded again where its mesh, material and settings still match."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StaleCache
from ...state import Index, Vec
from .body import ReducedBody, Stepping, Truth
from .cubature import Cubature
from .operators import Substance
from .points import CubaturePoints
from .skinning import Subspace

FORM = 1  #: of the file; another one is not read


def fingerprint(tets: Index, nodes: Vec, material: Substance, pins: Sequence[Index], m: int,
                points: int | None, pulled: Sequence[Index] = ()) -> str:
    """Return a digest of mesh, material, pins, numbers of weights and points, and pulled spots of a reduced body."""
    digest = hashlib.blake2b(digest_size=16)
    laws = [one.__name__ for one in (material.material, material.fiber_material) if one is not None]
    made_of = f"{FORM} {m} {points} {' '.join(laws)}" + (f" {len(pulled)} pulled" if pulled else "")
    digest.update(made_of.encode())
    fibers = material.fiber_constants
    for array in (np.asarray(nodes, float), np.asarray(tets, np.int32), material.constants, material.density,
                  np.zeros(0) if fibers is None else fibers, *[np.asarray(one, np.int32) for one in (*pins, *pulled)]):
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


def store(path: Path, body: ReducedBody, print_: str) -> None:
    """Write the arrays of a reduced body and its fingerprint to a file, atomically."""
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as file:
        np.savez(file, print=np.array(print_), **arrays_of(body))
    os.replace(beside, path)


def load(path: Path, tets: Index, nodes: Vec, material: Substance, pins: Sequence[Index], m: int,
         points: int | None, seen: Any = None, stepping: Stepping | None = None) -> ReducedBody:
    """Return the reduced body of a file that was stored for this mesh, material and settings.

    Raises StaleCache where the file belongs to another mesh or other settings, or cannot be read.
    """
    try:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        same = str(arrays["print"]) == fingerprint(tets, nodes, material, pins, m, points)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise StaleCache(f"the subspace in {path.name} cannot be read", "Delete the file to compute it again"
                         ) from error
    if not same:
        raise StaleCache(f"the subspace in {path.name} belongs to another mesh or to other settings",
                         "Delete the file to compute it again")
    return body_of(arrays, tets, nodes, material, seen, stepping)


def built_or_loaded(path: Path, tets: Index, nodes: Vec, material: Substance, pins: Sequence[Index] = (),
                    m: int = 16, points: int | None = None, **more: Any) -> ReducedBody:
    """Return the reduced body of a file, or build it and write that file. more: other arguments of `ReducedBody.build`,
    which are not part of the fingerprint."""
    try:
        return load(path, tets, nodes, material, pins, m, points, more.get("seen"), more.get("stepping"))
    except StaleCache:
        body = ReducedBody.build(tets, nodes, material, pins, m, points, **more)
        store(path, body, fingerprint(tets, nodes, material, pins, m, points))
        return body
