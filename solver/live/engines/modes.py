"""A body on its skinning eigenmodes: steps cost the same on any mesh, so it is played as it will be baked."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ... import catalogue
from ...build.fields import Prepared
from ...build.half_life import half_life_at_start
from ...build.soft_bodies import prepare_all
from ...build.volumes import volumes_of
from ...coordinates.prescribed import carried
from ...errors import BadInput, StepFailed
from ...job.folder import Job, parameters
from ...meshing.volume import EDGES, unique_edges
from ...parts.modes.body import ReducedBody, ReducedState, Stepping
from ...parts.modes.loads import Floor, Grab, Planes
from ...parts.modes.operators import Substance
from ...parts.modes.stepping import Iterating
from ...state import Index, Vec
from ..bumps import pushed
from ..filled import filled
from ..pace import Effort
from .interface import Inputs, Report

INTEGRATOR = "bdf2"  #: one stage a step, and as lively as what new bodies are baked with
MODES = 12  #: weights, four ways to move each
CELLS = 2000  #: in the body's box, about
ITERATIONS = (4, 1)  #: of a stage, at best and where the clock asks for less
LONGER = 2  #: how many times longer the longest steps are
TAKEN = 1.5  #: what BDF2 makes of a share that is taken of velocities in every step
DRAG = 0.1  #: damping of what is held, as a share of what would keep it from swinging at all
FAR = 50.0  #: times its size: a body there was thrown out of the world


@dataclass(frozen=True)
class ReducedFrom:
    """What a reduced body was made of."""

    tets: Index  #: (e, 4)
    nodes: Vec  #: [m], (n, 3)
    pinned: Index  #: nodes
    substance: Substance

    def stiffer_than(self, other: ReducedFrom) -> float | None:
        """How many times stiffer this is than another that differs in nothing else; None where it does."""
        mine, its = self.substance, other.substance
        same = mine.material is its.material and all(
            np.array_equal(one, two) for one, two in ((self.tets, other.tets), (self.nodes, other.nodes),
                                                      (self.pinned, other.pinned), (mine.density, its.density)))
        if not same or mine.constants.shape != its.constants.shape:
            return None
        times = float(mine.constants.flat[0] / its.constants.flat[0])
        return times if np.allclose(mine.constants, times * its.constants, rtol=1e-9, atol=0.0) else None


class ModesEngine:
    """One soft body on a few dozen coordinates."""

    _body: ReducedBody

    def __init__(self, job: Job, report: Report) -> None:
        """Raises BadInput where the job has anything but one soft body, and what its volume and maps raise."""
        self._report, self.notes, self.restarts = report, list[str](), 0
        self._held: dict[int, Grab] = {}
        self._away: dict[int, Vec] = {}  # from the hand to the point that it has hold of
        self._carrier, self._placed = np.eye(4), False
        self._made: ReducedFrom | None = None
        self._build(job)
        self._state = self._begin()

    def _build(self, job: Job) -> None:
        job = filled(job, CELLS, by_bake=True)
        scene = job.scene
        if len(scene.bodies) != 1 or scene.mechanisms or scene.bodies[0].cloth is not None:
            raise BadInput("only one soft body can be played live", "Select a soft body that nothing is joined to")
        prepared = prepare_all(job, self._report, volumes_of(job, self._report))[0]
        substance = substance_of(prepared)
        h = scene.time.step
        self.efforts = [Effort("", h), Effort("fewer iterations", h), Effort("longer steps", LONGER * h)]
        self._set_up(job, prepared, substance)

    def _set_up(self, job: Job, prepared: Prepared, substance: Substance) -> None:
        body, volume = prepared.body, prepared.volume
        damping = parameters("damping", body.damping)
        stepping = Stepping(INTEGRATOR, job.scene.gravity, float(damping.get("stiffness_damping", 0.0)),
                            float(damping.get("mass_damping", 0.0)))
        made = ReducedFrom(volume.tets, volume.nodes, prepared.fields.pinned, substance)
        stiffer = None if self._made is None else made.stiffer_than(self._made)
        if stiffer is not None:
            # its ways to move are the same, and stiffness is proportional to what each point stands for
            self._body.points.scale(np.full(self._body.points.count, stiffer))
        else:
            seen = None if prepared.embedding is None else prepared.embedding.matrix
            self._report("world", body.name, None, "Finding how it moves")
            self._body = ReducedBody.build(volume.tets, volume.nodes, substance, pin_groups(made.tets, made.pinned),
                                           MODES, seen=seen, stepping=stepping)
        self._nodes, self._made = volume.nodes, made
        self._mass = float(self._body.subspace.mass.sum())
        self._shape = self._body.placed(2.0 * self._nodes).y  #: coordinates of the rest shape itself, (p, 3)
        self._half_life = half_life_at_start(job, body)
        self._body.stepping = replace(stepping, floor=self._floor(job))
        self._strength = self._body.firm_grab()
        self._push = self._body.floor(np.array([0.0, 0.0, 1.0]), 0.0).stiffness
        self._drag = DRAG * 2.0 * np.sqrt(self._strength * self._mass)

    def _floor(self, job: Job) -> Floor | None:
        ground = job.scene.ground
        if ground is None:
            return None
        friction = 0.0
        if ground.friction is not None:
            friction = float(parameters("friction", ground.friction).get("friction_coefficient", 0.0))
        normal = np.array(ground.normal) / np.linalg.norm(ground.normal)
        return self._body.floor(normal, float(normal @ np.array(ground.point)), friction)

    def _lead(self, carrier: Vec) -> Vec:
        groups = self._body.pin_groups
        return self._body.lead([carried(carrier, self._nodes[nodes]) for nodes in groups])

    def _begin(self) -> ReducedState:
        """The start, where the object is now."""
        rest = replace(self._body.rest(), carrier_motion=self._lead(self._carrier))
        return self._body.placed(carried(self._carrier, self._nodes), rest)

    @property
    def places(self) -> Vec:
        return self._body.surface(self._state)

    def step(self, effort: int, inputs: Inputs) -> None:
        body, h = self._body, self.efforts[effort].step
        if not self._placed:
            self._placed, self._carrier = True, inputs.carrier
            self._state = self._begin()
        led = None
        if not np.array_equal(self._carrier, inputs.carrier):
            led, self._carrier = self._lead(inputs.carrier), inputs.carrier
        how, (x, y, z) = body.stepping, inputs.gravity.tolist()
        iterating = Iterating(iterations=ITERATIONS[min(effort, 1)])
        body.stepping = replace(how, gravity=(x, y, z), iterating=iterating, floor=self._under(inputs.ground),
                                planes=self._bumped(h, inputs))
        self._hold(inputs)
        pulls = list(self._held.values())
        for parts in (1, 4):
            state = self._state
            with suppress(StepFailed):
                for k in range(parts):
                    state = body.step(state, h / parts, pulls, led if k == parts - 1 else None)
                    state = self._calmed(state, h / parts)
                if self._is_here(state):
                    self._state = state
                    return
        self.notes.append("It began anew: it was thrown too far")
        self.restarts += 1
        self._held.clear()
        self._state = self._begin()

    def _under(self, ground: Vec | None) -> Floor | None:
        """The floor where the artist has it now."""
        floor = self._body.stepping.floor
        if floor is None or ground is None:
            return floor
        normal = ground[1] / np.linalg.norm(ground[1])
        return replace(floor, normal=normal, offset=float(normal @ ground[0]))

    def _bumped(self, h: float, inputs: Inputs) -> Planes | None:
        """Planes that push points of the skin out of what they would be in at the step's end: each goes through where
        the surface is nearest to that."""
        if not inputs.bumps:
            return None
        skin, state = self._body._touching, self._state
        places = skin.rest + skin.rows @ (state.y + h * state.u)
        if len(state.carrier_motion):
            places += skin.carrier_motion @ (state.carrier_motion + h * state.led_rate)
        rows, targets = pushed(inputs.bumps, places)
        away = targets - places[rows]
        normals = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-300)
        return Planes(rows, normals, np.einsum("ij,ij->i", targets, normals), self._push) if len(rows) else None

    def _is_here(self, state: ReducedState) -> bool:
        away = float(np.linalg.norm(state.y))  # [√kg m], as coordinates are orthonormal in mass
        return bool(away < FAR * self._body.subspace.size * np.sqrt(self._mass))  # not so where it is no number

    def _calmed(self, state: ReducedState, h: float) -> ReducedState:
        """Without what a half-life takes of the motion in h seconds, but for that of the body as a whole.

        Taken of velocities it takes half as much of what swings: v ← v exp(−2 ln 2 h / T). BDF2, whose next velocity is
        (4 v − v₋) / 3 and more, takes half as much again of what is taken of v in each step.
        """
        if not self._half_life:
            return state
        u, whole = state.u, np.zeros_like(state.u)
        if not len(self._body.pin_groups):
            whole = self._rigid(state)
        left = 2.0 ** (-2.0 * h / (TAKEN * self._half_life))
        return replace(state, u=whole + left * (u - whole))

    def _rigid(self, state: ReducedState) -> Vec:
        """The part of the rates that moves and turns all of it, nearest in mass, (p, 3)."""
        body = self._body
        shift = body._weighed
        places = self._shape + state.y
        columns = []
        for k in range(3):
            move, turn = np.zeros_like(state.u), np.zeros_like(state.u)
            move[:, k] = shift
            a, b = (k + 1) % 3, (k + 2) % 3
            turn[:, b], turn[:, a] = places[:, a], -places[:, b]
            columns += [move.ravel(), turn.ravel()]
        basis = np.stack(columns, axis=1)
        found: Vec = basis @ np.linalg.lstsq(basis, state.u.ravel(), rcond=None)[0]
        return found.reshape(state.u.shape)

    def _hold(self, inputs: Inputs) -> None:
        """Let what is held follow the artist's hand."""
        asked = {hold.id: hold for hold in inputs.grabs}
        for key in self._held.keys() - asked.keys():
            del self._held[key], self._away[key]
        for key, hold in asked.items():
            if key not in self._held:
                places = self.places
                vertex = int(np.argmin(np.linalg.norm(places - hold.start, axis=1)))
                self._away[key] = places[vertex] - hold.start
                self._held[key] = self._body.grab(vertex, places[vertex], 0.0)
            self._held[key] = replace(self._held[key].to(hold.target + self._away[key]),
                                      stiffness=hold.strength * self._strength,
                                      damping=np.sqrt(hold.strength) * self._drag)

    def change(self, job: Job) -> None:
        before, old, state = self.__dict__.copy(), self._body, self._state
        try:
            self._build(job)
        except Exception:
            self.__dict__ = before
            raise
        if old is self._body:
            return
        if len(old.nodes) != len(self._body.nodes):
            self._held.clear()
            self._state = self._begin()
            return
        led = replace(self._body.rest(), carrier_motion=state.carrier_motion, led_rate=state.led_rate, time=state.time)
        placed = self._body.placed(old.positions(state), led)
        self._state = self._body.moving(old.velocities(state), placed)
        self._held.clear()  # they are taken hold of anew where they are


def substance_of(prepared: Prepared) -> Substance:
    """What a body's elements are made of, fibers left out."""
    material = catalogue.find("material", prepared.body.material.kind).load()
    fields = prepared.fields
    return Substance(material, material.constants(**fields.element_parameters), fields.density)


def pin_groups(tets: Index, pinned: Index) -> list[Index]:
    """Pinned nodes, in groups of those that hang together by edges of tets (e, 4)."""
    if not len(pinned):
        return []
    edges = unique_edges(tets, EDGES)
    both = np.isin(edges, pinned).all(axis=1)
    count = int(tets.max()) + 1
    graph = coo_matrix((np.ones(both.sum()), tuple(edges[both].T)), shape=(count, count))
    label = connected_components(graph, directed=False)[1][pinned]
    return [pinned[label == one].astype(np.int32) for one in np.unique(label)]
