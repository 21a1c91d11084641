"""Steps of cloth that slides over sharp features. [Thesis Alg. 2.1]"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import StepFailed
from ...rows.names import Multipliers
from ...rows.sparse.minimum import Minimum
from ...sheet.limits import RemeshLimits
from ...sheet.mending import THINNEST
from ...sheet.sheet_mesh import SheetMesh
from ...sheet.sizing import Sizing
from ...sheet.tracking import limit_slide
from ...state import Vec
from .barrier_contact import BarrierContacts, ContactSettings, MotionPath
from .cloth import Cloth
from .contact_rows import renumber
from .eol_elements import AirFlow, Assembler, EolElements
from .feature_contacts import FeatureContacts
from .interface_inertia import InterfaceInertia
from .lifting_off import displacements_off, stays_within
from .obstacles import FeatureObstacles, ObstacleMotion
from .remeshing import Remeshing
from .rigid_jump import Pins, follow_rigid_jump
from .rows import build_pin_rows
from .sheet_offsets import SheetOffsets
from .solving import Solving
from .step_log import StepLog, format_position
from .step_result import InterfaceReaction, RemainingStep, StepResult
from .tunnelling import WITHIN

#: result of a step, the mesh at its end, its length [s], the obstacles' motion and barrier contact in it
Taken = tuple[StepResult, SheetMesh, float, ObstacleMotion, BarrierContacts | None]


@dataclass
class SlidingCloth:
    """Solver of the steps of one cloth among obstacles. Steps are pure: stored values save time alone."""

    #: of the activation distance: an obstacle that ended so near its prediction needs no other step
    tolerated_offset = 0.1
    #: length relative to the shortest below which triangles may get thinner than remeshing leaves them
    thinning_limit = 8.0
    lengthening = 2.0  #: length of the next substep, relative to one that was solved
    shortest_try = 1.0 / 64.0  #: shortest try, relative to the step
    shortening = 0.5  #: length of the next try, relative to a step that cannot be solved
    #: next try, relative to the part of a step in which no face is pulled through an edge, and at most to the whole
    slide_margin, largest_retry = 0.9, 0.75
    on_feature = 1.0e-9  #: [m]: a vertex that is nearer to its feature is on it

    sheet_properties: Sequence[EolElements]  #: of each of its sheets
    gravity: Vec  #: [m/s²], (3,)
    obstacles: FeatureObstacles
    limits: RemeshLimits
    sizing: Sizing | None  #: None: triangles change at sharp features alone
    pins: Pins
    sharp: bool = True  #: False: Lagrangian, the mesh conforms to no feature
    contact: ContactSettings | None = None  #: barriers of itself and of smooth obstacles; None: there are none
    air: AirFlow | None = None
    #: where each sheet is in the material
    sheet_offsets: SheetOffsets = field(default_factory=SheetOffsets.single_sheet)
    step_log: StepLog = field(default_factory=StepLog)
    needs_reactions: bool = False  #: whether another part needs the reactions of obstacles and pins

    def __post_init__(self) -> None:
        self._last_detection: FeatureContacts | None = None
        self._step_pins = self.pins  #: positions of pins in this step
        self._warm: Multipliers | None = None  #: of rows that were active at the end of the last substep
        self._solving = Solving(Assembler(self.sheet_properties, self.gravity, self.air, self.sheet_offsets),
                                self.obstacles, self.sheet_offsets, self.contact, self.step_log, self.needs_reactions,
                                WITHIN * self.limits.thickness, self._detect)
        self._remeshing = Remeshing(self.gravity, self.limits, self.sizing, self.contact, self.step_log, self._detect)

    @property
    def backend(self) -> str:
        """Return the name of the linear solver."""
        return self._solving.program.backend

    def forget_past(self) -> None:
        """Discard what depends on earlier steps and is not in the state."""
        self.__post_init__()
        if self.contact is not None:
            self.contact.forget_past()

    def step(self, cloth: Cloth, time: float, h: float) -> Cloth:
        """Return the cloth after a step of h seconds from `time` [s] on. Raises StepFailed."""
        return self.step_with_reaction(cloth, time, h)[0]

    def step_with_reaction(self, cloth: Cloth, time: float, h: float, interface: InterfaceInertia | None = None,
                           ) -> tuple[Cloth, InterfaceReaction]:
        """Return the cloth after a step of h seconds from `time` [s] on, and the reactions of obstacles and pins.
        interface: inertia of smooth obstacles; None: their motion is prescribed. Raises StepFailed."""
        left = RemainingStep.start_of(interface)
        cloth, self._step_pins = follow_rigid_jump(cloth, self.pins, time, h, self.step_log)
        done, longest, impulses = 0.0, h, np.zeros((0, 3))
        while done < h * (1.0 - 1e-9):
            tried = min(h - done, longest)
            cloth, taken, did, left = self._substep(cloth, time + done, tried, h * self.shortest_try, left)
            done, impulses = done + taken, did + impulses if len(impulses) else did
            longest = self.lengthening * taken if longest < h or taken < tried else h
            self.step_log.substeps += 1
        return cloth, InterfaceReaction(impulses, left.off)

    def may_finish(self, cloth: Cloth, time: float, off: Vec) -> bool:
        """Return whether smooth obstacles may differ by `off`, (o, 3) [m], from the positions at the end of a step:
        nothing is in between, and barrier forces hardly differ. time: of the step's end [s]."""
        if self.contact is None or not off.any():
            return True
        now = self.obstacles.at(time, 1.0)
        barrier = self.contact.of(cloth.mesh, now)
        end = MotionPath(cloth.mesh.x, now.smooth_x + off)
        if barrier is None:
            return True
        farthest = float(np.linalg.norm(off, axis=1)[barrier.find_near_points(end)].max(initial=0.0))
        return farthest <= self.tolerated_offset * barrier.activation and barrier.largest(end, barrier.start) == 1.0

    def _substep(self, cloth: Cloth, time: float, h: float, shortest: float, left: RemainingStep
                 ) -> tuple[Cloth, float, Vec, RemainingStep]:
        """Return the cloth after a substep of at most h seconds from `time` [s] on, its length [s], the impulses on
        obstacles and pins, and the remaining step. shortest: least length of a substep [s]. left: the step so far.
        Raises StepFailed."""
        def at(seconds: float) -> ObstacleMotion:
            now = self.obstacles.at(time, seconds)
            return replace(now, smooth_x=now.smooth_x + left.off) if left.off.any() else now

        now = at(h)
        cloth = self._remesh(cloth, now, h)
        solved, moved, h, now, barrier = self._take_step(cloth, self._barrier(cloth.mesh, now, left),
                                                         left.free_rates, time, h, shortest, now, at)
        mesh, on_features = solved.mesh, solved.on_features
        self._warm = solved.solution.warm
        displacement = displacements_off(on_features, moved, h)
        off = np.linalg.norm(displacement, axis=1) > stays_within(on_features, moved, h, self.limits, self.gravity)
        # vertices that hardly leave their feature stay on it
        back = moved.x.copy()
        back[on_features.vertices[~off]] -= displacement[~off]
        ended = now.smooth_x if barrier is None else barrier.advance_positions(solved.obstacle_rates, h)
        if barrier is None or barrier.largest(MotionPath(moved.x, ended), MotionPath(back, ended)) == 1.0:
            moved = moved.replace(x=back)
        else:
            off[:] = np.linalg.norm(displacement, axis=1) > self.on_feature
        free = np.zeros(len(mesh.x), dtype=bool)
        free[on_features.vertices] = off
        flat = np.ones(len(mesh.x), dtype=bool)
        flat[on_features.vertices] = on_features.flat
        return (Cloth(moved, cloth.pin, flat, free, solved.pressing), h, self._impulses(cloth, solved),
                left.after(h, solved.obstacle_rates))

    def _take_step(self, cloth: Cloth, barrier: BarrierContacts | None, free_rates: Vec, time: float, h: float,
                   shortest: float, now: ObstacleMotion, at: Callable[[float], ObstacleMotion]) -> Taken:
        """Return a step from this mesh, of h [s] at most, that can be solved and in which triangles retain their area,
        and their angles as well unless that takes a much shorter step. free_rates: of obstacles without contact,
        (c, 3). Raises StepFailed."""
        why, thins = "", None  # the shortest in which one gets thinner
        while True:
            on_pins, shorter = build_pin_rows(cloth, self._step_pins(time + h), h), self.shortening
            solved = self._solving.solve_substep(cloth, now, barrier, on_pins, free_rates, time, h, self._warm)
            if solved is None:
                why = self._explain_failure(barrier)
            elif not solved.deepest or h * self.shortening < shortest:  # the shortest may leave cloth in an obstacle
                moved = self._advance_mesh(solved.mesh, solved.solution, h)
                taken, slides = (solved, moved, h, now, barrier), solved.mesh.replace(slide=moved.slide)
                fraction = limit_slide(slides, h)
                if fraction == 1.0:
                    thins, fraction = taken, limit_slide(slides, h, THINNEST)
                    if fraction == 1.0 or h <= self.thinning_limit * shortest:
                        return taken
                why, shorter = "cloth slides through an edge faster than its triangles can follow", min(
                    self.slide_margin * fraction, self.largest_retry)
            if thins is not None and h <= self.thinning_limit * shortest:  # the earlier solution is at least that long
                return thins
            h *= max(shorter, self.shortening**3)
            if thins is not None:
                h = max(h, self.thinning_limit * shortest)
            elif h < shortest:
                raise StepFailed(why)
            now = at(h)
            barrier = None if barrier is None else replace(barrier, now=now)

    def _explain_failure(self, barrier: BarrierContacts | None) -> str:
        """Return why a step could not be solved."""
        assert self.contact is not None
        near = "" if barrier is None else barrier.name_touched(barrier.start, self.contact.owner, self.contact.names)
        return f"cloth cannot be kept apart from itself, or from {near or 'what is around it'}"

    def _impulses(self, cloth: Cloth, solved: StepResult) -> Vec:
        """Return the impulses of a step on smooth obstacles and pins, (o + p, 3) [N s]; (0, 3) where these are not
        needed."""
        if not self.needs_reactions:
            return np.zeros((0, 3))
        pin_impulses = np.zeros((len(self.pins(0.0)), 3))
        pin_impulses[cloth.pin[cloth.pin >= 0]] = solved.pin_impulses
        return np.concatenate([solved.obstacle_impulses, pin_impulses])

    def _remesh(self, cloth: Cloth, now: ObstacleMotion, h: float) -> Cloth:
        """Return the cloth with its mesh for this step; the warm start gets the rows' new names."""
        if not self.sharp:
            return cloth
        made, was = self._remeshing.remesh(cloth, now, h)
        if self._warm is not None:
            self._warm = renumber(self._warm, was, len(cloth.mesh.x))
        return made

    def _detect(self, mesh: SheetMesh, now: ObstacleMotion, h: float) -> FeatureContacts:
        """Return the near pairs of a step from this mesh on; detected once."""
        last = self._last_detection
        if last is None or last.h != h or last.now is not now or any(
                getattr(last.mesh, name) is not getattr(mesh, name) for name in ("x", "v", "on", "faces")):
            last = self._last_detection = FeatureContacts.around(mesh, self.obstacles, now, self.gravity, h)
        return last

    def _barrier(self, mesh: SheetMesh, now: ObstacleMotion, left: RemainingStep) -> BarrierContacts | None:
        """Return the barrier contact of a step from this mesh on; regions where surfaces intersect already have none,
        with a message."""
        if self.contact is None:
            return None
        barrier = self._build_barrier(mesh, now)
        return barrier if barrier is None or left.interface is None else replace(
            barrier, interface=left.interface, start_rates=left.rates, done=left.done)

    def _build_barrier(self, mesh: SheetMesh, now: ObstacleMotion) -> BarrierContacts | None:
        """Return the barrier contact of a step from this mesh on, without the region where surfaces intersect; its
        first intersection is reported."""
        assert self.contact is not None
        intersection = self.contact.intersecting_pair(mesh, now)
        if intersection is None:
            return self.contact.of(mesh, now)
        one, other, position = intersection
        what = "itself" if one == other else f'"{other if one == self.contact.names[0] else one}"'
        self.step_log.once("crossing", f"it was pushed through {what} near {format_position(position)}: until it is "
                           "out again nothing keeps it apart there")
        return self.contact.of(mesh, now, self.contact.find_tangled_region(mesh, now))

    def _advance_mesh(self, mesh: SheetMesh, solution: Minimum, h: float) -> SheetMesh:
        """Return the mesh at the step's end, q + h u."""
        v, slide = self._solving.assembler.unknowns.split(solution.u)
        return mesh.replace(x=mesh.x + h * v, material=mesh.material + h * slide, v=v, slide=slide)
