"""Solution of one step of sliding cloth on the mesh that it begins with: its program of rows, friction and barrier
contact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ...rows.names import Multipliers
from ...rows.sparse.minimum import Infeasible, Minimum, Singular
from ...rows.sparse.program import SparseProgram
from ...rows.tables import MOST, VertexRows
from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Vec
from .barrier_contact import BarrierContacts, ContactSettings, MotionPath
from .cloth import Cloth
from .cone import cone
from .eol_elements import AssembledSystem, Assembler
from .feature_contacts import FeatureContacts
from .friction import ALIKE, FrictionResult, SlipState, along_surface, over_features
from .obstacles import FeatureObstacles, ObstacleMotion, of_sheets
from .rows import StepRows, widen
from .sheet_offsets import SheetOffsets
from .step_log import StepLog, format_position
from .step_result import StepResult
from .tangled_region import TangledRegion
from .tunnelling import detect_tunnelling

#: whether a solution ends where its round was linearised
Stays = Callable[[Minimum], bool]


@dataclass
class Solving:
    """Solver of the steps of one cloth on given meshes. Values of earlier steps save time alone."""

    enough_rounds = 30  #: rounds after which a motion without contact is accepted although they do not converge
    #: largest error of a vertex' barrier force in the last round: over its mass [m/s], and relative to all of its
    #: barrier forces. A displacement would be no measure: near the barrier's wall a hundredth of its range changes all
    missed_speed, missed_fraction = 0.02, 0.02
    #: of its displacement: a round that ends so near to one of so many last ones is halved
    recurrence, cycle = 0.5, 4
    settled = 0.3  #: of the activation distance: a round that moves less is the last
    renewals = 4  #: updates of friction in a solution
    #: of all friction: it is updated while its error is larger. On a slope that is steeper by a twentieth than friction
    #: supports, a twentieth of friction is what moves the cloth, and so is its error
    friction_error = 1.0e-3
    friction_agreement = 0.02  #: of all friction: its largest error where a round ends
    rounds = 16  #: of barrier contact that end in contact, before the step is tried shorter
    stiffest_contact = 1.0e7  #: of a vertex' own diagonal: stiffer contact leaves too few digits of all other forces

    assembler: Assembler
    obstacles: FeatureObstacles
    sheet_offsets: SheetOffsets  #: where each sheet is in the material
    contact: ContactSettings | None  #: barrier contact with itself and with smooth obstacles; None: there is none
    step_log: StepLog
    needs_reactions: bool  #: whether another part needs the reactions of obstacles and pins
    tolerance: float  #: admissible depth of cloth in an obstacle [m]
    detect: Callable[[SheetMesh, ObstacleMotion, float], FeatureContacts]  #: near pairs of a step of so many seconds
    program: SparseProgram = field(default_factory=SparseProgram)

    def solve_substep(self, cloth: Cloth, now: ObstacleMotion, barrier: BarrierContacts | None, on_pins: VertexRows,
                      free_rates: Vec, time: float, h: float, warm: Multipliers | None = None) -> StepResult | None:
        """Return the end of a step that begins on this mesh; None where barrier contact does not converge in time.

        barrier: barrier contact; None without any. on_pins: rows of pinned vertices. free_rates: δ of movable obstacles
        without contact, (c, 3). time, h: start and length of the step [s]. warm: multipliers of the last step. Raises
        StepFailed. [Thesis 2.12]"""
        mesh = cloth.mesh
        posed = self.assembler.assemble(mesh, h, time)
        pairs = self.detect(mesh, now, h)
        rows = StepRows(mesh.x, cone(mesh, now.features, cloth.flat, h), pairs.rows(posed.unknowns),
                        on_pins, h * cloth.pressing, np.concatenate([mesh.v, mesh.slide], axis=1),
                        SlipState.unknown(len(mesh.x)))

        def solve_with(one: AssembledSystem, warm: Multipliers | None, renewals: int = self.renewals,
                       stays: Stays | None = None) -> tuple[Minimum, bool]:
            """Return the solution of a system, and whether friction agrees with its normal forces."""
            nonlocal rows
            friction = self._frictional(mesh, rows, now)
            if friction is None:
                return self.solve_rows(one, rows, warm), True
            solution, agrees, rows = self._solve_with_friction(one, rows, friction, warm, renewals, stays)
            return solution, agrees

        def add_rows(end: Minimum) -> bool:
            """Add rows where a solution takes cloth through an obstacle, and return whether it does."""
            nonlocal rows
            more, deepest = detect_tunnelling(pairs, posed.unknowns, posed.unknowns.split(end.u)[0], self.tolerance)
            rows = replace(rows, deepest=deepest, touched=rows.touched.with_more(more) if deepest else rows.touched)
            return bool(deepest)

        impulses, obstacle_rates = np.zeros((len(now.smooth_x) if self.needs_reactions else 0, 3)), free_rates
        try:
            solution, impulses, obstacle_rates = (None, impulses, obstacle_rates) if barrier is None else (
                self._separate(posed, barrier, solve_with, add_rows, h, warm))
        except Singular as failure:
            assert barrier is not None
            # layers so near that their barrier leaves no digit of all other forces; no shorter step helps
            softer = replace(barrier, max_stiffness=self.stiffest_contact * float(
                np.median(posed.blocks[posed.unknowns.diagonal, 0, 0])) / h**2)
            if softer.max_stiffness < barrier.max_stiffness:
                solved = self.solve_substep(cloth, now, softer, on_pins, free_rates, time, h, warm)
                if solved is not None:
                    return solved
            if self.needs_reactions:  # the cloth would go through a body of another part, which does not know of it
                return None
            without = self._without_pressed(mesh, now, barrier, failure)
            return self.solve_substep(cloth, now, without, on_pins, free_rates, time, h, warm)
        if barrier is None:
            solution, _ = solve_with(posed, warm)
            for _ in range(self.rounds):
                if not add_rows(solution):
                    break
                solution, _ = solve_with(posed, solution.warm)
        if solution is None:
            return None
        # reactions of pins
        pin_impulses = -solution.multipliers.at(rows.on_pins.name).reshape(-1, 3)
        return StepResult(mesh, rows.on_features, solution, rows.deepest, impulses, obstacle_rates, pin_impulses,
                          rows.pressing[:len(mesh.x)] / h)

    def _without_pressed(self, mesh: SheetMesh, now: ObstacleMotion, barrier: BarrierContacts, failure: Singular,
                         ) -> BarrierContacts | None:
        """Return the barrier without the region where layers are pressed together more than can be computed; None where
        it was without that already."""
        assert self.contact is not None
        tangled = TangledRegion.at(mesh, np.unique(failure.vertices))
        tangled = tangled if barrier.tangled is None else tangled.and_more(barrier.tangled)
        self.step_log.once("pressed", "its layers were pressed together more than can be computed near "
                           f"{format_position(mesh.x[failure.vertices[0]])}: for a moment nothing kept them apart "
                           "there")
        known = barrier.tangled is not None and bool(barrier.tangled.of(mesh)[failure.vertices].all())
        return None if known else self.contact.of(mesh, now, tangled)

    def _separate(self, posed: AssembledSystem, barrier: BarrierContacts,
                    solve_with: Callable[[AssembledSystem, Multipliers | None, int, Stays | None],
                                         tuple[Minimum, bool]],
                    add_rows: Callable[[Minimum], bool], h: float, warm: Multipliers | None,
                    ) -> tuple[Minimum | None, Vec, Vec]:
        """Return the solution with barrier forces in equilibrium with all else, after rounds of Newton's method without
        intersections, or None; impulses on smooth obstacles, (o, 3) [N s], (0, 3) where these are not needed; and their
        rates δ, (c, 3)."""
        at, near = barrier.initial_guess(h)
        last, blocked = None, 0
        iterates = list[MotionPath]()
        obstacle_impulses, obstacle_rates = np.zeros(
            (len(at.obstacles) if self.needs_reactions else 0, 3)), barrier.start_rates
        own = posed.unknowns.count
        threshold, masses = self.settled * barrier.activation, self.assembler.masses(barrier.mesh)
        for k in range(self.enough_rounds + self.rounds):
            self.step_log.barrier_iterations += 1
            with_barrier, used = barrier.add_to_system(posed, at, h)

            def end_of(solution: Minimum, used: Index = used) -> MotionPath:
                return MotionPath(barrier.mesh.x + h * posed.unknowns.split(solution.u[:own])[0],
                                  barrier.advance_positions(barrier.rates(solution.u[own:], used), h))

            def stays(solution: Minimum, at: MotionPath = at, end_of: Callable[[Minimum], MotionPath] = end_of) -> bool:
                return at.off(end_of(solution)) <= threshold

            # friction is updated once in each round: updates within one would be at positions that are not the last
            renewals = self.renewals if not near else 0 if k else 1
            solution, friction_agrees = solve_with(with_barrier, warm, renewals, stays)
            obstacle_rates, end = barrier.rates(solution.u[own:], used), end_of(solution)
            solution, warm, moved = replace(solution, u=solution.u[:own]), solution.warm, at.off(end)
            back = moved > threshold and k < self.enough_rounds and any(
                iterate.off(end) < self.recurrence * moved for iterate in iterates)
            was_near, was_at, iterates = near, at, [*iterates[-self.cycle:], at]
            at, fraction = barrier.advance(at, at.half(end) if back else end)
            near = barrier.is_near(at)
            blocked, last = blocked + (fraction < 1.0), None
            settled = fraction == 1.0 and not back and (k >= self.enough_rounds or not (near or was_near) or (
                friction_agrees and moved <= threshold and self._is_as_predicted(barrier, was_at, end, masses / h)))
            if settled:
                last = solution
                if self.needs_reactions:
                    obstacle_impulses = barrier.obstacle_impulses(was_at, end, h)
                if not add_rows(solution):
                    break
            if blocked == self.rounds:
                break
        return last, obstacle_impulses, obstacle_rates

    @staticmethod
    def _is_as_predicted(barrier: BarrierContacts, at: MotionPath, end: MotionPath, masses: Vec) -> bool:
        """Return whether barrier forces at a round's end agree with those that it was solved with. masses: of vertices
        over the step, (n,) [kg/s]."""
        errors, barrier_forces = barrier.force_errors(at, end)
        admissible = np.maximum(Solving.missed_speed * masses, Solving.missed_fraction * barrier_forces)
        return bool((errors <= admissible).all())

    def solve_rows(self, posed: AssembledSystem, rows: StepRows, warm: Multipliers | None) -> Minimum:
        """Return the solution of the program of a system and its rows. Raises StepFailed where rows contradict each
        other."""
        try:
            solution = self.program.solve(posed.matrix, posed.rhs, posed.unknowns.table, rows.on_vertices,
                                         widen(rows.touched.spread, posed.unknowns.count), warm)
        except Infeasible as failure:
            raise rows.contradiction(failure.names, posed.unknowns) from failure
        return self._count_solution(solution)

    def _count_solution(self, solution: Minimum) -> Minimum:
        self.step_log.factored += solution.factored
        self.step_log.one_by_one += solution.one_by_one
        return solution

    def _frictional(self, mesh: SheetMesh, rows: StepRows, now: ObstacleMotion) -> FrictionResult | None:
        """Return contacts with friction; None without any. A vertex with several contacts has the friction of the
        first."""
        on_features, touched = rows.on_features, rows.touched
        sheet = self.sheet_offsets.sheet_of(mesh.material[on_features.vertices])
        coefficient = of_sheets(self.obstacles.friction_on(now.features, mesh.on[on_features.vertices]), sheet)
        for k, properties in enumerate(self.assembler.sheet_properties):
            if properties.friction is not None:
                own = sheet == k
                coefficient[own] = properties.friction(coefficient[own], on_features.fold[own])
        no_slip_rates = np.zeros((len(coefficient), MOST))
        no_slip_rates[:, :3] = on_features.velocity
        vertex, first = np.unique(touched.vertex_contacts.vertex, return_index=True)
        mu = np.concatenate([coefficient, of_sheets(
            touched.vertex_contacts.friction[first], self.sheet_offsets.sheet_of(mesh.material[vertex]))])
        if not mu.any():
            return None
        other = np.zeros((len(first), MOST))
        other[:, :3] = touched.vertex_contacts.velocity[first]
        return FrictionResult(np.concatenate([on_features.vertices, vertex]).astype(np.int32),
                              np.concatenate([over_features(on_features.along),
                                              along_surface(touched.vertex_contacts.normal[first])]),
                              np.concatenate([no_slip_rates, other]), mu)

    def _solve_with_friction(self, posed: AssembledSystem, step_rows: StepRows, friction: FrictionResult,
                             warm: Multipliers | None, renewals: int, stays: Stays | None,
                             ) -> tuple[Minimum, bool, StepRows]:
        """Return the solution with friction, whether its drag agrees with its normal impulses, and the rows with its
        normal impulses, rates and slips. The drag starts from the last solution or step, and is updated `renewals`
        times at most, or more while solutions stay where they are linearised."""
        contact, rows = len(step_rows.on_features.rows) + len(step_rows.touched.rows), step_rows.on_vertices
        is_contact = (rows.factor[:, 3:] == 0.0).all(axis=1) & (np.arange(len(rows)) < contact)
        vertices, dragged, correction = friction.vertices, None, np.zeros_like(friction.no_slip_rates)
        index = np.full(len(posed.impulse), -1)
        index[vertices] = np.arange(len(vertices))
        along = friction.along(step_rows.rates[vertices])
        coulomb_drag = friction.coulomb_drag(step_rows.pressing[vertices], along)
        drag, faster = friction.predict_drag(step_rows.pressing[vertices], coulomb_drag, step_rows.slips)
        for k in range(self.renewals + 1):
            if dragged is None:
                factored_drag, correction = drag, np.zeros_like(along)
                dragged = posed.with_resistance(vertices, factored_drag[:, None, None] * friction.projectors,
                                                friction.no_slip_rates)
                solution = self.solve_rows(dragged, step_rows, warm)
            else:  # on the present factor: the error of its drag is an impulse
                correction = (factored_drag * faster - coulomb_drag)[:, None] * along
                again = self.program.again(dragged.with_impulse(vertices, correction).rhs, warm)
                solution = self._count_solution(again)
            warm, pressing = solution.warm, np.zeros((len(vertices), 3))
            np.add.at(pressing, index[rows.vertex[is_contact]],
                      (solution.on_vertex[:, None] * rows.factor[:, :3])[is_contact])
            impulses, rates = np.zeros(len(posed.impulse)), np.concatenate(posed.unknowns.split(solution.u), axis=1)
            impulses[vertices] = np.linalg.norm(pressing, axis=1)
            along, pressed = friction.along(rates[vertices]), impulses[vertices]
            coulomb_drag, drags = friction.coulomb_drag(pressed, along), factored_drag[:, None] * along - correction
            wrong = np.linalg.norm(drags - coulomb_drag[:, None] * along, axis=1)
            most = float(friction.most(pressed).sum())
            enough, agrees = (bool(wrong.sum() <= bound * most)
                              for bound in (self.friction_error, self.friction_agreement))
            slips = step_rows.slips.then(vertices, np.einsum("ki,ki->k", drags, along) / np.maximum(
                np.einsum("ki,ki->k", along, along), 1e-300), coulomb_drag)
            step_rows = replace(step_rows, pressing=impulses, rates=rates, slips=slips)
            if enough or (k >= renewals and (stays is None or not stays(solution))):
                break
            drag, faster = friction.predict_drag(pressed, coulomb_drag, step_rows.slips)
            differs = np.maximum(factored_drag, drag) > ALIKE * np.minimum(factored_drag, drag)
            if wrong[differs].sum() > self.friction_error * most:
                dragged = None
        return solution, agrees, step_rows
