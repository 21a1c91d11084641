"""Live soft body on skinning eigenmodes, with pins, grabs, ground, colliders and contact with other bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from .. import catalogue
from ..build.drafts import FIRM
from ..build.fields import Prepared
from ..build.half_life import half_life_at_start
from ..build.soft_pins import make_soft_pins
from ..build.touching_surface import touching_surface
from ..coordinates.prescribed import transform_points
from ..errors import StepFailed
from ..job.folder import Job, parameters
from ..meshing.volume import EDGES, find_edges
from ..parts.modes.body import ReducedBody, ReducedState, Stepping
from ..parts.modes.loads import Grab, Planes, PointSprings, SkinPoints
from ..parts.modes.operators import Substance
from ..parts.modes.stepping import Iterating
from ..state import Index, Vec
from .bumps import planes_before
from .engines.interface import GrabbedVertex, Hold, Inputs, Report
from .fading import damp_oscillations
from .floors import floor_at, floor_of
from .inside_fractions import fraction_inside
from .leading import leading_of
from .played import PlayedBody
from .skins import Skin, SurfaceContacts, SurfaceMotion, friction_of

INTEGRATOR = "bdf2"  #: one stage a step, and as lively as what new bodies are baked with
MODES = 12  #: weights, four ways to move each
DRAG = 0.1  #: damping of points that are dragged, as a fraction of critical damping
NEAR = 0.02  #: of a body's size: points so near to a collider are kept before it
FAR = 50.0  #: times its size: a body there was thrown out of the world


@dataclass(frozen=True)
class ReducedFrom:
    """Mesh, pins and material from which a reduced body was built."""

    tets: Index  #: (e, 4)
    nodes: Vec  #: [m], (n, 3)
    pinned: Index  #: pinned nodes, (k,)
    substance: Substance

    def stiffer_than(self, other: ReducedFrom) -> float | None:
        """Return the ratio of the stiffness to that of `other`; None where they differ in anything else."""
        own, its = self.substance, other.substance
        same = own.material is its.material and all(
            np.array_equal(first, second) for first, second in ((self.tets, other.tets), (self.nodes, other.nodes),
                                                              (self.pinned, other.pinned), (own.density, its.density)))
        if not same or own.constants.shape != its.constants.shape:
            return None
        times = float(own.constants.flat[0] / its.constants.flat[0])
        return times if np.allclose(own.constants, times * its.constants, rtol=1e-9, atol=0.0) else None


class LiveBody(PlayedBody):
    """Live soft body with a few dozen coordinates. It is stepped alone; contact with others is resolved afterwards."""

    body: ReducedBody

    def __init__(self, job: Job, number: int, prepared: Prepared, report: Report) -> None:
        """number: in the scene. report: receives progress. Raises a ConJacError where the body cannot be built."""
        self._report, self._number = report, number
        self._grabs: dict[int, Grab] = {}  #: by number of the hand
        self._away: dict[int, Vec] = {}  # offset of each grabbed vertex from its hand [m], (3,)
        self._vertex: dict[int, int] = {}  # grabbed vertex of each hand
        self._carrier, self._placed = np.eye(4), False
        self._leading, self._pinned = leading_of(job).get(number), np.zeros((0, 3))
        self._made: ReducedFrom | None = None
        self._build(job, prepared)
        self.state = self._begin()
        self._before = self.state  #: state at the start of the last step

    def _build(self, job: Job, prepared: Prepared) -> None:
        """Build the reduced body, or scale the present one where only its stiffness has changed, and read all settings.
        Raises a ConJacError where the body cannot be built."""
        body, volume = prepared.body, prepared.volume
        damping = parameters("damping", body.damping)
        stepping = Stepping(INTEGRATOR, job.scene.gravity, float(damping.get("stiffness_damping", 0.0)),
                            float(damping.get("mass_damping", 0.0)))
        made = ReducedFrom(volume.tets, volume.nodes, self._find_pinned_nodes(job, prepared),
                           substance_of(job, prepared))
        stiffer = None if self._made is None else made.stiffer_than(self._made)
        if stiffer is not None:
            # the subspace is the same, and stiffness is proportional to the volumes of cubature points
            self._stiffen(stiffer)
        else:
            seen = None if prepared.embedding is None else prepared.embedding.matrix
            self._report("world", body.name, None, "Finding how it moves")
            self.body = ReducedBody.build(volume.tets, volume.nodes, made.substance,
                                          pin_groups(made.tets, made.pinned), MODES, seen=seen, stepping=stepping)
            touches = touching_surface(self.body, prepared, None if body.surface is None
                                       else job.array(body.surface.triangles))
            self._touches, self._skin = touches, Skin(touches.rest, touches.triangles)
            self.body.touch_by(touches.rest, touches.functions, touches.prescribed)
            #: Φ and Ψ of drawn vertices, in single precision: on fine meshes bandwidth limits their products
            self._drawn_by = (self.body.surface_functions.astype(np.float32),
                              self.body.surface_prescribed.astype(np.float32))
            self._drawn: list[tuple[ReducedState, Vec]] = []  #: positions of drawn vertices in the last two states
        self._made, self._nodes = made, volume.nodes
        self._mass = float(self.body.subspace.mass.sum())
        self._shape = self.body.fit_state(2.0 * self._nodes).y  #: coordinates of the rest shape, (p, 3) [√kg m]
        self._half_life = half_life_at_start(job, body)
        self._stepping = replace(stepping, floor=floor_of(job, self.body))
        self.body = self.body.with_stepping(self._stepping)
        self._springs = self._build_soft_pins(job, prepared)
        self._strength = self.body.grab_stiffness()
        #: of a point inside a collider [N/m]
        self._collider_stiffness = FIRM * self.body.floor(np.eye(3)[2], 0.0).stiffness
        self.friction = friction_of(body.friction)

    def _find_pinned_nodes(self, job: Job, prepared: Prepared) -> Index:
        """Return the nodes whose motion is prescribed, (k,)."""
        return prepared.fields.pinned

    def _stiffen(self, times: float) -> None:
        self.body.points.scale(np.full(self.body.points.count, times))

    def _take_back(self, before: dict[str, Any]) -> None:
        made = self._made
        super()._take_back(before)
        softer = None if self._made is made or self._made is None or made is None else self._made.stiffer_than(made)
        if softer is not None:
            self._stiffen(softer)

    def _continue(self, before: dict[str, Any]) -> None:
        """Continue on a rebuilt body from the present positions and velocities; restart where the number of nodes
        differs."""
        old, state = before["body"], self.state
        if old.subspace is self.body.subspace:
            return
        self._grabs = {}  # hands grab the body again, where it is now
        if len(old.nodes) != len(self.body.nodes):
            self.restart()
            return
        rest_state = replace(self.body.rest(), carrier_motion=state.carrier_motion, carrier_rate=state.carrier_rate,
                             time=state.time)
        self.state = self.body.moving(old.velocities(state), self.body.fit_state(old.positions(state), rest_state))

    @property
    def positions(self) -> Vec:
        """Return positions of the vertices of the artist's mesh in world space, (n, 3) [m]."""
        return self.displace_mesh(self.state)

    def displace_mesh(self, state: ReducedState) -> Vec:
        """Return positions of the vertices of the artist's mesh in a state, (n, 3) [m]."""
        drawn = next((positions for known, positions in self._drawn if known is state), None)
        if drawn is None:
            functions, prescribed = self._drawn_by
            moved = functions @ state.y.astype(np.float32)
            if len(state.carrier_motion):
                moved += prescribed @ state.carrier_motion.astype(np.float32)
            drawn = self.body.rest_surface + moved
            self._drawn = [*self._drawn[-1:], (state, drawn)]
        return drawn

    def _build_soft_pins(self, job: Job, prepared: Prepared) -> PointSprings | None:
        """Return springs from softly pinned points to their positions at the start; None where there are none."""
        mass, subspace = self.body.subspace.mass, self.body.subspace
        for pins in make_soft_pins(job, prepared, mass):
            nodes, stiffness, positions = pins.springs_at(0.0)
            points = SkinPoints(subspace.functions[nodes], subspace.prescribed[nodes], self._nodes[nodes])
            return PointSprings(points, positions, stiffness)
        return None

    def _lead(self, carrier: Vec, pinned: Vec) -> Vec:
        """Return coordinates of groups of pins, (4 g, 3) [m].

        carrier: motion of the object, (4, 4) [m]. pinned: positions of vertices that bones move, (s, 3) [m]; where
        there are any, groups follow them instead.
        """
        groups = self.body.pins.groups
        if self._leading is None or not len(pinned):
            return self.body.pins.lead([transform_points(carrier, self._nodes[nodes]) for nodes in groups])
        every = np.concatenate([np.zeros(0, np.int32), *groups])
        where = self._leading.at(self._nodes[every], pinned)
        return self.body.pins.lead(np.split(where, np.cumsum([len(group) for group in groups])[:-1]))

    def _begin(self) -> ReducedState:
        """Return the initial state, where the object is now."""
        rest = replace(self.body.rest(), carrier_motion=self._lead(self._carrier, self._pinned))
        return self.body.fit_state(transform_points(self._carrier, self._nodes), rest)

    def restart(self) -> None:
        """Reset the body to its initial state, where its object is now, and release all grabs."""
        self._grabs = {}
        self.set_state(self._begin())

    def set_state(self, state: ReducedState) -> None:
        """Set the state from which the next step begins."""
        self.state = self._before = state

    # -- contact -----------------------------------------------------------------------------------------------

    def place(self, inputs: Inputs) -> None:
        """Restart the body where its object is, before its first step; do nothing before later ones."""
        if not self._placed:
            self._placed, self._carrier = True, inputs.carrier(self._number)
            self.restart()

    def surface_motion(self) -> SurfaceMotion:
        """Return the surface of the body at the start and the end of its last step, for contact."""
        touching, state, before = self.body.touching, self.state, self._before
        at = self.displace_mesh if self._touches.is_drawn else self._touches.at
        now, earlier = at(state), at(before)
        return SurfaceMotion(self._skin, now, earlier,
                             self.body.points_of(touching, state.y, state.carrier_motion),
                             self.body.points_of(touching, before.y, before.carrier_motion))

    def rows_of(self, contacts: SurfaceContacts, is_first: bool) -> Vec:
        """Return Φ at this body's points of a contact, (k, p). is_first: whether its touching points are tested."""
        rows: Vec = self.body.touching.rows[contacts.points]
        if not is_first:
            rows = np.einsum("kc,kcp->kp", contacts.weights, self._touches.functions[contacts.corners])
        return rows

    def displace(self, moved: Vec) -> None:
        """Change the coordinates at the end of the last step. moved: the change, (3 p,), axis by axis [√kg m]."""
        self.state = self.body.displace(self.state, moved)

    def _find_bumps(self, h: float, inputs: Inputs) -> Planes | None:
        """Return planes for the touching points that a step of h seconds moves into colliders; None where none does."""
        if not inputs.bumps:
            return None
        body, touching, state = self.body, self.body.touching, self.state
        step_start = body.points_of(touching, state.y, state.carrier_motion)
        end = body.points_of(touching, state.y + h * state.u, state.carrier_motion + h * state.carrier_rate)
        planes = planes_before(inputs.bumps, step_start, end, h, NEAR * body.subspace.size)
        some, count = planes.points, len(planes.points)
        if not count:
            return None
        points = SkinPoints(touching.rows[some], touching.prescribed[some], touching.rest[some])
        return Planes(points, planes.normals, np.einsum("ij,ij->i", planes.positions, planes.normals),
                      np.full(count, self._collider_stiffness), np.full(count, self.friction), planes.speed)

    # -- a step ------------------------------------------------------------------------------------------------

    def step(self, h: float, iterations: int, inputs: Inputs) -> None:
        """Advance by h seconds without contact with other bodies; where one step fails, by four substeps.

        iterations: of each stage. Raises StepFailed where the substeps fail, too; the state is then unchanged.
        """
        body, carrier_motion = self.body, self._pins_after(inputs, h)
        x, y, z = inputs.gravity.tolist()
        stepping = replace(self._stepping, gravity=(x, y, z), iterating=Iterating(iterations=iterations),
                           floor=floor_at(self._stepping.floor, inputs.ground),
                           planes=self._find_bumps(h, inputs), springs=self._springs_after(inputs, h))
        pulls = list(self._grabs.values())
        failure: StepFailed | None = None
        for parts in (1, 4):
            state = self.state
            try:
                for k in range(parts):
                    state = body.step(state, h / parts, pulls, carrier_motion if k == parts - 1 else None,
                                      stepping=stepping)
                    state = damp_oscillations(state, h / parts, self._half_life, self.body, self._shape)
            except StepFailed as failed:
                failure = failed
                continue
            if self._is_in_world(state):
                self._carrier, self._pinned = inputs.carrier(self._number), inputs.pinned
                self._before, self.state = self.state, state
                return
            failure = StepFailed(f"it was thrown more than {FAR:g} times its size away")
        assert failure is not None
        raise failure

    def _pins_after(self, inputs: Inputs, h: float) -> Vec | None:
        """Return coordinates of groups of pins after a step of h seconds, (4 g, 3) [m]; None where they do not move."""
        carrier = inputs.carrier(self._number)
        if np.array_equal(self._carrier, carrier) and np.array_equal(self._pinned, inputs.pinned):
            return None
        return self._lead(carrier, inputs.pinned)

    def _springs_after(self, inputs: Inputs, h: float) -> PointSprings | None:
        """Return springs of softly pinned points at the end of a step of h seconds; None where there are none."""
        springs = self._springs
        return None if springs is None else replace(
            springs, targets=transform_points(inputs.carrier(self._number), springs.targets))

    def _is_in_world(self, state: ReducedState) -> bool:
        away = float(np.linalg.norm(state.y))  # [√kg m], as coordinates are orthonormal in mass
        return bool(away < FAR * self.body.subspace.size * np.sqrt(self._mass))  # false for NaN

    def hold(self, grabs: Sequence[Hold], h: float) -> None:
        """Make grabbed vertices follow the hands of the artist, each by a damped spring; a new grab takes the vertex
        nearest to its start. h: not used."""
        requested = {hold.id: hold for hold in grabs}
        self._grabs = {key: grab for key, grab in self._grabs.items() if key in requested}
        for key, hold in requested.items():
            if key not in self._grabs:
                vertex = int(np.argmin(np.linalg.norm(self.positions - hold.start, axis=1)))
                self._vertex[key] = vertex
                self._away[key] = self.positions[vertex] - hold.start
                self._grabs[key] = self.body.grab(vertex, self.positions[vertex], 0.0)
            stiffness = hold.strength * self._strength
            self._grabs[key] = replace(self._grabs[key].to(hold.target + self._away[key]), stiffness=stiffness,
                                       damping=self._drag_of(stiffness))

    def _drag_of(self, stiffness: float) -> float:
        """Return the damping of a grab [N s/m]. stiffness: of its spring [N/m]."""
        return float(DRAG * 2.0 * np.sqrt(stiffness * self._mass))

    @property
    def grabbed(self) -> list[GrabbedVertex]:
        """Return the grabbed vertices, numbered within the body, with their targets and stiffness."""
        return [GrabbedVertex(key, self._vertex[key], grab.target, grab.stiffness) for key, grab in self._grabs.items()]


def substance_of(job: Job, prepared: Prepared) -> Substance:
    """Return the material of a body's elements, without fibers.

    Stiffness and density of cells that cover the artist's mesh are multiplied by the fraction of volume inside it.
    """
    body, fields, volume = prepared.body, prepared.fields, prepared.volume
    material = catalogue.find("material", body.material.kind).load()
    constants = material.constants(**fields.element_parameters)
    mesher = catalogue.find("mesher", body.mesher.kind).load()
    if body.surface is None or body.tets is not None or not mesher.covers:
        return Substance(material, constants, fields.density)
    surface = np.asarray(job.array(body.surface.vertices), float), np.asarray(job.array(body.surface.triangles))
    fractions = fraction_inside(volume.nodes, volume.tets, *surface)
    return Substance(material, constants * fractions, fields.density * fractions)


def pin_groups(tets: Index, pinned: Index) -> list[Index]:
    """Return the pinned nodes of each group that is connected by edges of tets, (e, 4). pinned: nodes, (k,)."""
    if not len(pinned):
        return []
    edges = find_edges(tets, EDGES)
    both = np.isin(edges, pinned).all(axis=1)
    count = int(tets.max()) + 1
    graph = coo_matrix((np.ones(both.sum()), tuple(edges[both].T)), shape=(count, count))
    label = connected_components(graph, directed=False)[1][pinned]
    return [pinned[label == number].astype(np.int32) for number in np.unique(label)]
