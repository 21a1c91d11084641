"""All fields of one body: values per element, and its dynamic, pinned and moved nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from ..coordinates.patches import Patch
from ..errors import BadScene, NoFreeNode
from ..job import schema
from ..meshing.volume import Volume, face_parts
from ..state import Index, Mask, Vec
from .attach import PINNED, find_attached_nodes, no_attachments, read_listed_nodes
from .fibers.build import fiber_directions
from .harmonic import harmonic_extension
from .hold import firm_nodes
from .painted import Painted, weights_of
from .pins import follow, hard_weights
from .spots import find_dynamic_nodes, spots_of

Arrays = Callable[[str], NDArray[Any]]

PIN_WEIGHTS = "pin.weights"  #: key of the map of hard pins, which may differ from the painted array


class CarriedVertices(Protocol):
    """Protocol of an embedding of vertices in tetrahedra."""

    @property
    def corners(self) -> Index:
        """Return the nodes of the tetrahedron around each vertex, (n, 4)."""

    @property
    def weights(self) -> Vec:
        """Return the barycentric weights of these nodes, (n, 4); each row sums to 1."""


@dataclass(frozen=True)
class Fields:
    """Values of the painted maps, handles and pins of a body at its elements and nodes."""

    element_parameters: Mapping[str, Vec]  #: of the material, by key, each (e,), SI units
    density: Vec  #: [kg/m³], (e,)
    dynamic: Index  #: dynamic nodes, ascending
    pinned: Index  #: pinned nodes, ascending
    fiber_parameters: Mapping[str, Vec]  #: of the fibers, by key, each (e,), SI units
    fiber_directions: Vec | None  #: in material space, unit length or zero, (e, 3); None where there are no fibers
    motion: Vec | None  #: positions of pinned nodes at each sample [m], (T, pinned, 3); None where none moves
    notes: tuple[str, ...]  #: sentences for the user
    attached: Index = field(default_factory=no_attachments)  #: nodes that follow rigid bodies, ascending
    attached_by: Index = field(default_factory=no_attachments)  #: index of the attachment of each
    patches: tuple[Patch, ...] = ()  #: nodes that are dynamic as a whole
    moved_nodes: Vec | None = None  #: rest positions of all nodes [m], (k, 3); None where none moved to painted ones


def build_fields(body: schema.Body, arrays: Arrays, volume: Volume, embedding: CarriedVertices | None) -> Fields:
    """Return the fields of a body on its volume.

    arrays: returns the array of a name in the scene. embedding: of the body's surface, None for a body without one.
    Raises BadScene where a map does not fit the surface or a number is out of range, NoFreeNode where all nodes are
    pinned; each with the path of the field from the body on, such as "pin.weights".
    """
    painted = _carry(body, arrays, volume, embedding)
    parameters = {
        param.key: _per_element(param, body.material.params, "material.params.", body, volume, painted)
        for param in catalogue.find("material", body.material.kind).params if param.field
    }
    density = _per_element(catalogue.DENSITY, {catalogue.DENSITY.key: body.density}, "", body, volume, painted)
    notes: list[str] = []
    fibers, directions = _fibers(body, arrays, volume, painted, notes)
    before = volume
    pinned, volume = _find_pinned_nodes(body, arrays, volume, painted, notes)
    at_nodes, volume = _firmly_attached(body, arrays, volume, painted, pinned)
    attached, by = find_attached_nodes(body, arrays, at_nodes, len(volume.nodes), pinned, notes)
    if len(attached) and len(pinned) + len(attached) == len(volume.nodes):
        raise NoFreeNode("every node is attached or pinned, so nothing can move", "Attach less of it",
                         where="attach[0]")
    dynamic, as_one = find_dynamic_nodes(body, arrays, volume, painted, np.union1d(pinned, attached), notes)
    carried = None if painted is None else (painted.vertices, painted.corners)
    motion = sample_prescribed_motion(body, arrays, volume, carried, pinned)
    return Fields(parameters, density, dynamic, pinned, fibers, directions, motion, tuple(notes),
                  attached, by, as_one, None if volume is before else volume.nodes)


def _fibers(body: schema.Body, arrays: Arrays, volume: Volume, painted: Painted | None,
            notes: list[str]) -> tuple[dict[str, Vec], Vec | None]:
    """Return the parameters of the fibers, (e,) each, and their directions, (e, 3) or None."""
    if body.fiber_material is None:
        return {}, None
    given: dict[str, Vec | None] = {name: None if name is None or painted is None else painted.at_nodes.get(name)
                                    for name in (body.fibers, body.fiber_vectors) if name}
    directions = fiber_directions(body, arrays, volume, given.get(body.fibers or ""),
                                  given.get(body.fiber_vectors or ""), notes)
    return {param.key: _per_element(param, body.fiber_material.params, "fiber_material.params.", body, volume, painted)
            for param in catalogue.find("fiber_material", body.fiber_material.kind).params}, directions


def _carry(body: schema.Body, arrays: Arrays, volume: Volume, embedding: CarriedVertices | None) -> Painted | None:
    """Return all painted maps at the nodes, the material's by the method of `carry`; None for a body without a
    surface."""
    of_material = {f"painted.{key}.weights": blend.weights for key, blend in body.painted.items()}
    maps = dict(of_material)
    if body.pin.weights:
        maps[PIN_WEIGHTS] = body.pin.weights
    maps |= {where: spots.weights for where, spots in spots_of(body).items() if spots.weights and spots.spot}
    if body.fiber_material is not None and body.fibers:
        maps["fibers"] = body.fibers
    maps |= {f"attach[{i}].weights": attach.weights for i, attach in enumerate(body.attach) if attach.weights}
    if body.surface is None or embedding is None:
        if maps or any(spots.weights for spots in spots_of(body).values()):
            raise BadScene("it has painted maps but no surface that they are painted on", "Give it a surface",
                           where=next(iter(maps), "dynamic.weights"))
        return None
    vertices = np.asarray(arrays(body.surface.vertices), dtype=np.float64)
    triangles = np.asarray(arrays(body.surface.triangles), dtype=np.int32)
    weights: dict[str, Vec] = {}
    for where, name in maps.items():
        values = weights_of(arrays(name), len(vertices), name, where)
        if where == PIN_WEIGHTS:
            weights[PIN_WEIGHTS] = hard_weights(body.pin, values)
        else:
            weights[name] = values
    at_nodes: dict[str, Vec] = {}
    inwards = catalogue.find("carry", body.carry.kind).load()
    for extension, names in ((inwards, {*of_material.values()}), (harmonic_extension, {*maps.values(), PIN_WEIGHTS})):
        new = [name for name in weights if name in names and name not in at_nodes]
        if new:
            values = np.stack([weights[name] for name in new], axis=1)
            fields = extension(volume.nodes, volume.tets, vertices, triangles, values)
            at_nodes |= {name: fields[:, i] for i, name in enumerate(new)}
    if body.fiber_material is not None and body.fiber_vectors:
        vectors = np.asarray(arrays(body.fiber_vectors), dtype=np.float64)
        at_nodes[body.fiber_vectors] = harmonic_extension(volume.nodes, volume.tets, vertices, triangles, vectors)
    return Painted(vertices, triangles, embedding.corners, embedding.weights, at_nodes)


def _per_element(param: catalogue.Param, numbers: Mapping[str, float], path: str, body: schema.Body, volume: Volume,
                 painted: Painted | None) -> Vec:
    """Return a parameter at each element, (e,): its number, or its painted blend from low to high.

    A parameter with a unit (moduli, densities) blends log-linearly, so that weight 0.5 is the geometric mean.
    """
    blend = body.painted.get(param.key)
    if blend is None or painted is None:
        given = float(numbers.get(param.key, param.default))
        _refuse_out_of_range(param, given, f"{path}{param.key}")
        return np.full(len(volume.tets), given)
    for end, value in (("low", blend.low), ("high", blend.high)):
        _refuse_out_of_range(param, value, f"painted.{param.key}.{end}")
    weight = painted.at_nodes[blend.weights][volume.tets].mean(axis=1)
    values: Vec = (np.exp((1.0 - weight) * np.log(blend.low) + weight * np.log(blend.high)) if param.unit
                   else (1.0 - weight) * blend.low + weight * blend.high)
    return values


def _refuse_out_of_range(param: catalogue.Param, value: float, where: str) -> None:
    """Raise BadScene where a number is outside of its limits or, having a unit, is not positive."""
    low = param.low if param.low is not None else -np.inf
    high = param.high if param.high is not None else np.inf
    if not low <= value <= high or (param.unit and not value > 0.0):
        unit = f" {param.unit}" if param.unit else ""
        raise BadScene(f"{param.label} is {value:g}{unit}", f"Use a value from {low:g} to {high:g}{unit}", where=where)


def _find_pinned_nodes(body: schema.Body, arrays: Arrays, volume: Volume, painted: Painted | None,
                       notes: list[str]) -> tuple[Index, Volume]:
    """Return the pinned nodes, and the volume with some of its nodes moved to painted vertices.

    Pinned are nodes where the Pin map is above 0.5, those that hold painted vertices, and those listed by hand. Raises
    NoFreeNode where these are all nodes.
    """
    pinned = np.zeros(len(volume.nodes), dtype=bool)
    if body.pin.weights is not None and painted is not None:
        pinned = painted.at_nodes[PIN_WEIGHTS] > PINNED
        weights = np.asarray(arrays(body.pin.weights))
        hard = hard_weights(body.pin, weights)
        if (hard > PINNED).any():
            pinned, volume = _firmly_prescribed(hard, volume, painted, pinned, np.ones(len(pinned), dtype=bool))
        elif body.pin.stiffness is None or not weights.any():
            notes.append("Pin is painted on nothing, so nothing is pinned")
    if body.pin.nodes is not None:
        pinned[read_listed_nodes(arrays(body.pin.nodes), len(pinned), "pinned", "pin.nodes")] = True
    if pinned.all() and body.pin.until is None:  # a body with pins that end may be pinned whole until then
        raise NoFreeNode("every node is pinned, so nothing can move", "Unpaint part of the Pin group",
                         where="pin.weights" if body.pin.weights is not None else "pin.nodes")
    return np.flatnonzero(pinned).astype(np.int32), volume


def _firmly_prescribed(weights: NDArray[Any], volume: Volume, painted: Painted, prescribed: Mask,
                       free: Mask) -> tuple[Mask, Volume]:
    """Return the nodes that hold vertices (n,) with weights above `PINNED`, as a mask (k,), and the volume with moved
    nodes.

    prescribed: nodes that the map itself prescribes, (k,); both stay unchanged where no node would be left free.
    """
    chosen = np.flatnonzero(weights > PINNED)
    firm, moved = firm_nodes(painted.vertices[chosen], painted.corners[chosen], painted.weights[chosen], volume.nodes,
                              volume.tets, prescribed, free)
    if (firm | ~free).all():
        return prescribed, volume
    return firm, volume if moved is volume.nodes else replace(volume, nodes=moved)


def _firmly_attached(body: schema.Body, arrays: Arrays, volume: Volume, painted: Painted | None,
                     pinned: Index) -> tuple[Mapping[str, Vec], Volume]:
    """Return the maps at the nodes, (k,) each, and the volume with some nodes moved to painted vertices.

    Maps of attachments are raised to 1 at nodes that hold painted vertices, and are 0 at other nodes near a hinge.
    """
    if painted is None:
        return {}, volume
    at_nodes, free = dict(painted.at_nodes), np.ones(len(volume.nodes), dtype=bool)
    free[pinned] = False
    for attach in body.attach:
        if attach.weights is not None and (np.asarray(arrays(attach.weights)) > PINNED).any():
            prescribed = at_nodes[attach.weights] > PINNED
            firm, volume = _firmly_prescribed(np.asarray(arrays(attach.weights)), volume, painted, prescribed, free)
            released = np.where(prescribed & free & ~firm, 0.0, at_nodes[attach.weights])
            at_nodes[attach.weights] = np.where(firm & ~prescribed, 1.0, released)
            free &= ~firm
    return at_nodes, volume


def sample_prescribed_motion(body: schema.Body, arrays: Arrays, volume: Volume, carried: tuple[Vec, Index] | None,
                             pinned: Index
        ) -> Vec | None:
    """Return positions of pinned nodes at each sample, (T, p, 3) [m]; None where no pinned node moves.

    carried: the vertices of the surface, (n, 3) [m], and nodes of the tetrahedron around each, (n, 4); None without a
    surface. pinned: nodes, (p,) ascending. Raises BadScene where the motion does not fit the vertices.
    """
    pin = body.pin
    if not len(pinned) or (pin.motion is None and pin.node_motion is None):
        return None
    moved = np.asarray(arrays(pin.motion or pin.node_motion or ""), dtype=np.float64)
    where = np.repeat(volume.nodes[None, pinned], len(moved), axis=0)
    if pin.motion is not None and carried is not None:
        vertices, corners = carried
        moving_vertices = (np.asarray(arrays(pin.motion_vertices), dtype=np.int64) if pin.motion_vertices is not None
                else np.arange(len(vertices)))
        if moved.ndim != 3 or moved.shape[1:] != (len(moving_vertices), 3) or not np.isfinite(moved).all():
            raise BadScene(f"the motion of its pins does not fit its {len(moving_vertices)} vertices",
                           "Gather the object again", where="pin.motion")
        if len(moving_vertices):
            _follow_own_part(where, pinned, volume, vertices[moving_vertices], corners[moving_vertices, 0], moved)
    if pin.nodes is not None and pin.node_motion is not None:
        listed = read_listed_nodes(arrays(pin.nodes), len(volume.nodes), "pinned", "pin.nodes")
        own = np.isin(listed, pinned)
        where[:, np.searchsorted(pinned, listed[own])] = np.asarray(arrays(pin.node_motion), dtype=np.float64)[:, own]
    return where


def _follow_own_part(where: Vec, pinned: Index, volume: Volume, vertices: Vec, corner: Index, moved: Vec) -> None:
    """Write into `where` the positions of pinned nodes that follow the moving vertices of their own part of the volume.

    vertices: rest positions of these, (s, 3) [m]. corner: a node of the tetrahedron around each, (s,). moved: their
    positions at each sample, (T, s, 3) [m].
    """
    _, part = face_parts(volume.tets)
    part_of_node = np.zeros(len(volume.nodes), dtype=np.int32)
    part_of_node[volume.tets] = part[:, None]
    part_of_vertex = part_of_node[corner]
    for number in np.unique(part_of_node[pinned]):
        rows = np.flatnonzero(part_of_node[pinned] == number)
        leaders = np.flatnonzero(part_of_vertex == number)
        leaders = leaders if len(leaders) else np.arange(len(vertices))
        where[:, rows] = follow(volume.nodes[pinned[rows]], vertices[leaders], moved[:, leaders])
