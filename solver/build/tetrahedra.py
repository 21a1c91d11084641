"""Elements of a soft body: tetrahedra of a material, with or without fibers."""

from __future__ import annotations

import numpy as np

from .. import catalogue
from ..fields.build import Fields
from ..forces.elastic import Elastic
from ..forces.fibers import Fibers
from ..job import schema
from ..job.folder import Job
from ..meshing.volume import Volume, face_parts, tet_volumes
from ..state import Vec
from ..world.bodies import lump_mass
from .inputs import activation_of
from .material_data import MaterialData


def material_data_of(job: Job, body: schema.Body, volume: Volume, fields: Fields, modulus: Vec, rest: Vec,
                     start: int) -> MaterialData:
    """Return the tetrahedra of a soft body as elements of its material. modulus: Young's modulus of each element, (e,)
    [Pa]. rest: positions of all nodes of the part, (n, 3) [m], of which the body's own begin at `start`."""
    nodes, tets = volume.nodes, volume.tets
    volumes = tet_volumes(nodes, tets)
    material = catalogue.find("material", body.material.kind).load()
    elastic = Elastic(rest, tets + np.int32(start), material, material.constants(**fields.element_parameters),
                      fibers_of(job, body, fields))
    count, labels = face_parts(tets)
    return MaterialData(elastic, modulus, lump_mass(nodes, tets, volumes, fields.density),
                        [np.unique(tets[labels == part]) + start for part in range(count)],
                        float(modulus.max() * np.cbrt(6.0 * volumes.mean())))


def fibers_of(job: Job, body: schema.Body, fields: Fields) -> Fibers | None:
    """Return the fibers of the body's elements; None without any."""
    directions, params = fields.fiber_directions, dict(fields.fiber_parameters)
    if body.fiber_material is None or directions is None:
        return None
    activation = None
    if body.fiber_activation is not None:
        activation = activation_of(job, body.fiber_activation)
        if catalogue.ACTIVATION.key not in body.painted:  # over time instead of the number, times what is painted
            params[catalogue.ACTIVATION.key] = np.ones(len(directions))
    return Fibers(catalogue.find("fiber_material", body.fiber_material.kind).load(), directions, params, activation)
