"""What a soft body is made of: tetrahedra of a material, maybe with fibers."""

from __future__ import annotations

import numpy as np

from .. import catalogue
from ..forces.activation import Activation
from ..forces.elastic import Elastic
from ..forces.fibers import Fibers
from ..job.folder import Job
from ..meshing.volume import face_parts, tet_volumes
from ..state import Vec
from ..world.bodies import lumped_mass
from .fields import Matter, Prepared, modulus_of
from .inputs import over_time


def matter_of(job: Job, one: Prepared, rest: Vec, start: int) -> Matter:
    """rest: of all nodes of the part, (n, 3) [m]; the body's own begin at `start`."""
    nodes, tets = one.volume.nodes, one.volume.tets
    volumes = tet_volumes(nodes, tets)
    material = catalogue.find("material", one.body.material.kind).load()
    elastic = Elastic(rest, tets + np.int32(start), material, material.constants(**one.fields.element_parameters),
                      _fibers(job, one))
    count, labels = face_parts(tets)
    modulus = modulus_of(one)
    return Matter(elastic, modulus, lumped_mass(nodes, tets, volumes, one.fields.density),
                  [np.unique(tets[labels == part]) + start for part in range(count)],
                  float(modulus.max() * np.cbrt(6.0 * volumes.mean())))


def _fibers(job: Job, one: Prepared) -> Fibers | None:
    """What the body's elements have besides their material."""
    body, directions, params = one.body, one.fields.fiber_directions, dict(one.fields.fiber_parameters)
    if body.fiber_material is None or directions is None:
        return None
    activation = None
    if body.fiber_activation is not None:
        activation = activation_of(job, body.fiber_activation)
        if catalogue.ACTIVATION.key not in body.painted:  # over time instead of the number, times what is painted
            params[catalogue.ACTIVATION.key] = np.ones(len(directions))
    return Fibers(catalogue.find("fiber_material", body.fiber_material.kind).load(), directions, params, activation)


def activation_of(job: Job, samples: str) -> Activation:
    """A share over time, by the name of its samples (T,)."""
    return Activation(over_time(job, job.array(samples)[:, None]))
