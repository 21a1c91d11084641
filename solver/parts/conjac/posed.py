"""Stage that ConJac has condensed, and its solutions on the present factor. [ConJac Alg. 1]"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import scipy.linalg

from ...assembly.edges import Edges
from ...assembly.linearised import Linearised
from ...assembly.pattern import Pattern
from ...contact.laws.static_friction import StaticFriction
from ...coordinates.floating_frames import Frame, Frames
from ...errors import StepFailed
from ...iteration.iterate import iterate
from ...iteration.protocol import NO_STOP
from ...linear.interface import LinearSolver
from ...state import CarrierMotion, Index, Vec
from ..interface import Compliance, Evaluate, Mesh
from ..loads import Loads
from ..stage import NodeStage, NoJoints, Stage
from .compliance import compliance, compliance_without_contact
from .equilibrium_steps import EquilibriumDirections, EquilibriumProblem, EquilibriumSearch
from .prescribed_response import PrescribedResponse
from .quasistatic_motion import QuasistaticMotion
from .rigid_modes import RigidModeBasis


class Condensed(Protocol):
    """Protocol of the condensation that made a posed stage, with its factor."""

    mesh: Mesh
    linear: LinearSolver
    frames: Frames
    pattern: Pattern
    loads: Loads
    edges: Edges
    retained: Index  #: nodes of the small dense system, (k,)
    inner: Index  #: quasistatic nodes, in the order of the rows, (q,)
    to_free: Index  #: rows of the free nodes, (f,)
    corrections: int  #: number of corrections of positions after each step

    def hold_of(self, memory: Mapping[str, Vec]) -> RigidModeBasis:
        """Return the choice of dynamic nodes in a state with this memory."""

    def compute_removed_fraction(self, h: float) -> float:
        """Return the fraction of b_q that a step of h seconds removes."""

    def limit_fraction(self, fraction: float, moved: Vec) -> float:
        """Return the largest fraction, `fraction` at most, of a displacement, (n, 3) [m], that changes no edge by more
        than is admissible."""

    def in_single(self) -> Callable[[Vec], Vec] | None:
        """Return −K_qq⁻¹ by a factor in single precision, as a function of loads on the quasistatic rows, (3 q, c);
        None without such a factor."""

    def weight(self, lin: Linearised, stage: NodeStage) -> Vec:
        """Return the mass of each row plus a h times its drag in D, (3 (q + k),) [kg]."""

    def follow_at(self, lin: Linearised, posed: PosedConJac) -> QuasistaticMotion:
        """Return the motion of quasistatic nodes in a posed stage at other stiffness and forces, on a new factor.
        Raises NotPositiveDefinite."""

    def load(self, posed: PosedConJac) -> PosedConJac:
        """Return the stage with its right-hand side."""

    def balance(self, posed: PosedConJac, loads: Vec, solve: Callable[[Vec], Vec] | None = None) -> tuple[Vec, Vec]:
        """Return −K⁻¹ times loads, (n, 3, c), with dynamic unknowns fixed, and the residual of the loads then, both (3
        (q + k), c). solve: function of `in_single`, in place of the present factor."""

    def response(self, posed: PosedConJac, loads: Vec, solve: Callable[[Vec], Vec] | None = None) -> Vec:
        """Return −K⁻¹ times loads, (n, 3, c), with dynamic unknowns fixed, (3 (q + k), c), without their residual.
        solve: as in `balance`."""

    def follow_on(self, posed: PosedConJac, change: Vec) -> PrescribedResponse:
        """Return the response to prescribed velocities that differ from the stage's by `change`, (p, 3) [m/s]."""


@dataclass(frozen=True)
class PosedConJac(NoJoints):
    """Reduced stage on a factor. Rows run over quasistatic nodes, then retained ones. [ConJac 11]"""

    relative_noise = 1.0e-12  #: of energies that cancel in a correction's merit: smaller changes of it are noise
    trials = 4  #: lengths of one further correction, each half of the last

    owner: Condensed
    lin: Linearised
    stage: NodeStage
    hold: RigidModeBasis
    frames: list[Frame]
    motion: QuasistaticMotion  #: on the factor, contacts included
    velocities: Vec  #: V, velocities by the reduced unknowns, (3 (q + k), r)
    reduced: Vec  #: Vᵀ (M − hD − βh²K) V, (r, r) [kg]
    impulse: Vec  #: its right-hand side, (r,) [N s]
    follow: PrescribedResponse | None  #: response to prescribed nodes; None where all are at rest
    residual_shift: Vec  #: −K⁻¹ (f, M R) with dynamic unknowns fixed, (3 (q + k), 1 + modes) [m], [m s²]
    extra_forces: Vec | None = None  #: forces of additional impulses, which are not in f, (n, 3) [N]
    #: in place of `reduced` where velocities follow as if nothing touched, (r, r) [kg]: not symmetric
    slope: Vec | None = None
    #: B, positions by the reduced unknowns there, (3 (q + k), r)
    positions: Vec | None = None
#: there, −K⁻¹ of loads (n, 3, c) with dynamic unknowns fixed as if nothing touched, (3 (q + k), c), in few digits
    response_without_contact: Callable[[Vec], Vec] | None = None
    #: response to velocities of prescribed nodes for each rate of joints, (3 (q + k), c)
    carry: PrescribedResponse | None = None

    def solve(self) -> Vec:
        """Return velocities v = J v_d + w of the free nodes, (3 f,) [m/s]. Raises StepFailed where the reduced matrix
        is not positive definite. [ConJac 7]"""
        rows = np.zeros(len(self.velocities))
        if len(self.reduced):
            rows = self.velocities @ self._solve_reduced()
        return self.on_free(rows if self.follow is None else rows + self.follow.rows)

    def _solve_reduced(self) -> Vec:
        """Return v_d, (r,). Infinities pass through; the step itself detects them. Raises StepFailed."""
        if self.slope is not None:
            factor = scipy.linalg.lu_factor(self.slope, check_finite=False)
            solution: Vec = scipy.linalg.lu_solve(factor, self.impulse, check_finite=False)
            return solution
        try:
            factor = scipy.linalg.cho_factor(self.reduced, check_finite=False)
        except scipy.linalg.LinAlgError as failure:
            raise StepFailed("the reduced matrix is not positive definite") from failure
        solution = scipy.linalg.cho_solve(factor, self.impulse, check_finite=False)
        return solution

    def correction(self, u: Vec) -> Vec:
        """Return the position correction γ b of f − M a as a rate, (3 f,) [m/s], a the rigid part of the step's
        acceleration. u: velocities of the free nodes, (3 f,) [m/s].

        The loss of rigid motions by mass damping acts at each node and is part of a. Otherwise D does not enter: the
        rest of D v vanishes with v, and a body at rest is in equilibrium by f alone.

        [ConJac 12-13, changed: free fall and largest correction]
        """
        owner, rows = self.owner, self.correction_of_rows(u)
        moved = np.zeros(self.lin.x.shape)
        moved[owner.pattern.order] = rows.reshape(-1, 3)
        fraction = owner.limit_fraction(owner.compute_removed_fraction(self.stage.h), moved)
        return self.on_free(fraction / (self.stage.b * self.stage.h) * rows)

    def correction_of_rows(self, u: Vec) -> Vec:
        """Return the displacement of the rows by the full correction, (3 (q + k),) [m]. u: velocities of the free
        nodes, (3 f,) [m/s]."""
        rows = self.residual_shift[:, 0]
        if self.frames:
            inertial = self.residual_shift[:, 1:].reshape(len(self.owner.pattern.order), 3, -1)
            amplitudes = self.owner.frames.amplitudes(self.frames, self.lin.mass, self._acceleration(u))
            rows = rows - np.einsum("pak,pk->pa", inertial, amplitudes[self.owner.pattern.order]).ravel()
        return rows

    def _acceleration(self, u: Vec) -> Vec:
        return self.stage.acceleration(self.lin, self.owner.mesh.coordinates.spread(u, self.stage.w))

    def moving(self, u: Vec) -> Vec:
        """Return the rates of positions at velocities u, both (3 f,) [m/s], correction included, where velocities
        ignore contact; else u."""
        if self.positions is None:
            return u
        reduced = self.amplitudes(self.owner.mesh.coordinates.spread(u, None))
        return u + self.correction(u) + self.on_free((self.positions - self.velocities) @ reduced)

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None,
              carrier_motion: CarrierMotion | None = None) -> Vec:
        """Return coordinates, (3 f,) [m], after quasi-Newton steps of the quasistatic nodes towards f = M a on the
        reused factor, each of which lowers W + M a · x.

        corrections: number of steps; None: that of the method. carrier_motion: of attached nodes.
        [ConJac 12, changed: several corrections, each with a line search]
        """
        owner = self.owner
        corrections = owner.corrections if corrections is None else corrections
        if not corrections:
            return q
        coordinates, time = owner.mesh.coordinates, self.stage.time
        x = coordinates.positions(q, time, carrier_motion)
        carried = np.zeros_like(x)
        if self.frames:
            carried = owner.frames.inertia(self.frames, self.lin.mass, self._acceleration(u))
        if self.extra_forces is not None:
            carried = carried - self.extra_forces

        problem = EquilibriumProblem(evaluate, time, carried, self._remove_balanced)
        force, energy = evaluate(x, time)
        # six digits suffice for a direction, and half the bytes are read in half the time; the constraint of patches
        # would cancel most of the digits
        solve = owner.in_single() if self.motion.patches is None else None

        def respond(rest: Vec) -> Vec:
            moved = np.zeros_like(rest)
            moved[owner.pattern.order] = owner.response(self, rest[:, :, None], solve).reshape(-1, 3)
            return moved

        forces = float(np.abs(carried).sum() + np.abs(force).sum())
        noise = self.relative_noise * (abs(energy) + forces * float(np.ptp(x)))
        at = iterate(problem, problem.balance(x, force, energy), EquilibriumDirections(respond),
                     EquilibriumSearch(owner.limit_fraction, self.trials, noise), NO_STOP, corrections).at
        settled: Vec = at.x[coordinates.free].ravel()
        return settled

    def respond(self, impulses: Vec) -> Vec:
        """Return the changes of velocities J (JᵀSJ)⁻¹ Jᵀ of the free nodes, (3 f, c) [m/s], by impulses on them, (3 f,
        c) [N s]."""
        width, order = impulses.shape[1], self.owner.to_free
        rows = np.zeros((len(order), 3 * width))
        rows[order] = impulses.reshape(-1, 3 * width)
        moved = np.zeros((len(rows), 3 * width))
        if len(self.reduced):
            reduced = self.onto_basis(rows.reshape(-1, width))
            moved = (self.velocities @ scipy.linalg.solve(self.reduced, reduced, assume_a="pos")).reshape(moved.shape)
        rates: Vec = moved[order].reshape(-1, width)
        return rates

    def at(self, lin: Linearised, stage: NodeStage) -> PosedConJac:
        """Return the stage linearised at other positions on the present factor, for a quasi-Newton step without dynamic
        nodes. [ConJac 12]"""
        loads = lin.force[:, :, None]
        if stage.w is not None:
            loads = np.concatenate([loads, self.owner.loads.pull(lin, stage.w)[:, :, None]], axis=2)
        rows, left = self.owner.balance(replace(self, lin=lin), loads)
        follow = None if stage.w is None else PrescribedResponse(rows[:, 1], left[:, 1])
        return replace(self, lin=lin, stage=stage, follow=follow, residual_shift=rows[:, :1])

    def compliance(self, nodes: Index) -> Compliance:
        """Return the response of free nodes, (c,), as a function from impulses, (c, 3) [N s], to changes of velocities,
        (c, 3) [m/s]."""
        rows = self.owner.pattern.position[nodes].astype(np.int32)
        if self.positions is None or self.slope is None:
            return compliance(self.velocities, self.reduced, rows)
        contacts = self.lin.contacts
        normals = np.zeros((len(self.lin.x), 3))
        normals[contacts.nodes] = contacts.normal
        return compliance_without_contact(self.velocities, self.positions, self.slope, rows, normals[nodes])

    def under(self, impulses: Vec) -> PosedConJac:
        """Return the stage with additional impulses on all nodes, (n, 3) [N s], which act evenly over its length and
        are part of the equilibrium of quasistatic nodes."""
        force = impulses / (self.stage.a * self.stage.h)
        residual_shift = self.residual_shift.copy()
        residual_shift[:, 0] += self.owner.balance(self, force[:, :, None])[0][:, 0]
        rows = impulses[self.owner.pattern.order].ravel()
        # where positions follow otherwise than velocities, quasistatic nodes transmit loads as positions do
        impulse = self.impulse + (self.onto_basis(rows) if self.positions is None else self.positions.T @ rows)
        extra_forces = force if self.extra_forces is None else self.extra_forces + force
        return replace(self, impulse=impulse, residual_shift=residual_shift, extra_forces=extra_forces)

    @property
    def balances(self) -> bool:
        """Whether positions follow the reduced unknowns otherwise than velocities do: in contact."""
        return self.positions is not None

    def with_static_friction(self, friction: StaticFriction, x: Vec) -> PosedConJac:
        """Return the stage with static friction of the ground on quasistatic nodes, at positions x, (n, 3) [m], on a
        new factor; velocities remain those of this stage. Raises NotPositiveDefinite."""
        force, blocks = self.lin.force.copy(), self.lin.node_blocks.copy()
        friction.add_force(x, force)
        friction.add_stiffness(x, blocks)
        lin = replace(self.lin, force=force, node_blocks=blocks)
        motion = self.owner.follow_at(lin, self)
        shift = motion.static[:, : self.residual_shift.shape[1]]
        return replace(self, lin=lin, motion=motion, residual_shift=shift, extra_forces=None)

    def again(self, stage: Stage) -> PosedConJac:
        """Return another stage of this linearisation on the present factor."""
        known, follow = NodeStage.of(stage, self.owner.mesh.coordinates), self.follow
        if follow is not None and known.w is not None and self.stage.w is not None:
            follow = self.owner.follow_on(self, known.w - self.stage.w)
        return self.owner.load(replace(self, stage=known, follow=follow))

    def amplitudes(self, v: Vec) -> Vec:
        """Return the reduced unknowns, (r,), of velocities v, (n, 3) [m/s]."""
        patches, rows = self.motion.patches, v[self.owner.pattern.order].ravel()
        if self.motion.components is None:
            own = self.hold.amplitudes(self.lin.x, v[self.owner.retained].ravel())
        else:
            own = self.motion.components.amplitudes(rows)
        return own if patches is None else np.concatenate([own, patches.amplitudes(rows)])

    def onto_basis(self, momentum: Vec) -> Vec:
        """Return Vᵀ times an impulse on the rows, (3 (q + k),) [N s]: the impulse on the reduced unknowns, (r,) [N s].
        """
        reduced: Vec = self.velocities.T @ momentum
        return reduced

    def expand_retained(self, retained: Vec) -> Vec:
        """Return velocities of the free nodes, (3 f,) [m/s], as they follow velocities of the retained nodes, (3 k,)
        [m/s], alone."""
        return self.on_free(np.concatenate([self.motion.jacobian @ retained, retained]))

    def on_free(self, rows: Vec) -> Vec:
        """Return values of the free nodes, (3 f,), from values on the rows, (3 (q + k),)."""
        rates: Vec = rows.reshape(-1, 3)[self.owner.to_free].ravel()
        return rates

    def _remove_balanced(self, forces: Vec) -> Vec:
        """Return forces, (n, 3) [N], on the quasistatic rows, (3 q,), without the part that constraints of patches
        balance."""
        rows, patches = forces[self.owner.pattern.order].ravel(), self.motion.patches
        return (rows if patches is None else patches.not_shared(rows))[: len(self.motion.columns)]
