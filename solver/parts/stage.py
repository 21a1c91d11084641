"""A stage: the implicit equations of all parts at one moment of an integrator's step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..assembly.pattern import Pattern
from ..assembly.products import Products
from ..coordinates.free_nodes import FreeNodes
from ..state import CarrierMotion, Index, Mask, Vec

STANDARD_GRAVITY = 9.81  #: [m/s²]


class Momentum(Enum):
    """Form of the momentum with which the bodies of a tree of joints enter a stage.

    A stage that is solved to its root has that of the rates, M_r û, except where the form is STRAIGHT; the other forms
    are for stages that are linearised at the start of a step.
    """

    PROJECTED = "projected"  #: straight on from where the last step was solved, projected onto what joints allow
    REFLECTED = "reflected"  #: the same, reflected where the step starts and projected midway through it
    CENTRED = "centred"  #: reflected too, in stages that are linearised midway, where all of the weight acts
    PRINTED = "printed"  #: M_r u − h Jᵀ (M J̇u + quadratic velocities), as the dissertation has it
    STRAIGHT = "straight"  #: straight on from a solved stage's base, projected: rates kept over a wide turn gain energy


class NoJoints:
    """Base of posed stages without joints."""

    tree_stage: Any = None  #: stage of the joints; None without any


@dataclass(frozen=True)
class StageShape:
    """Length of a stage and the weights in its matrix M − a h D − β a b h² K, common to all parts."""

    h: float  #: the whole step [s]
    a: float  #: fraction of the step in rates, 1, 2/3, 1 − 1/√2, …
    b: float  #: fraction of the step in coordinates, a except for generalized-α
    time: float  #: of the coordinates and rates at its end [s]
    base: Vec | None  #: coordinates, (m_q,); None: those at the start of the step
    beta: float = field(default=1.0, kw_only=True)  #: on K of a linearised stage alone [ConJac 10]
    inertia: float = field(default=1.0, kw_only=True)  #: on M; 0 for equilibrium

    @property
    def inside(self) -> float:
        """Return the time midway through the stage [s], at which constraints that end with the stage still act."""
        return self.time - 0.5 * self.a * self.h

    @property
    def stiffness_factor(self) -> float:
        """Return the factor of K in the linearised stage's matrix, β a b h² [s²]."""
        return self.beta * self.a * self.b * self.h**2


@dataclass(frozen=True)
class Stage(StageShape):
    """Stage of an integrator in coordinates q and rates u: M (u − û) = a h f(q, u), q = base + b h u.

    Its matrix is M − a h D − a b h² K, with K = ∂f/∂x and D = ∂f/∂v negative semi-definite near rest. Each part itself
    knows the prescribed motion at the stage's time.
    """

    u_hat: Vec  #: û, rates at its end without forces, (m,)
    #: coordinates and rates at which explicit forces are taken; None: where the stage is linearised
    predicted: tuple[Vec, Vec] | None = None
    momentum: Momentum = field(default=Momentum.PROJECTED, kw_only=True)  #: of joints

    def part(self, coordinates: slice | Index, rates: slice | Index) -> Stage:
        """Return the stage of one part. coordinates, rates: those of the part among the world's."""
        base = None if self.base is None else self.base[coordinates]
        predicted = None if self.predicted is None else (self.predicted[0][coordinates], self.predicted[1][rates])
        return replace(self, base=base, u_hat=self.u_hat[rates], predicted=predicted)


@dataclass(frozen=True)
class NodeStage(StageShape):
    """Stage of nodes, M (v − v̂) = a h f(x, v), with the motion of prescribed nodes."""

    v_hat: Vec  #: v̂, velocities at its end without forces [m/s], (n, 3)
    w: Vec | None  #: velocities of the prescribed nodes [m/s], (p, 3); None where all are still
    carrier_motion: CarrierMotion | None = None  #: motion of the carriers of attached nodes at its end

    @classmethod
    def of(cls, stage: Stage, coordinates: FreeNodes) -> NodeStage:
        """Return a stage for nodes. Prescribed nodes have their velocities at the stage's time, or their mean over the
        step where the stage is linearised at its start."""
        start_time = stage.time - stage.a * stage.h
        w = (coordinates.compute_prescribed_velocity(start_time, stage.h) if stage.base is None
             else coordinates.kinematic_rate(stage.time))
        v_hat = coordinates.spread(stage.u_hat, coordinates.kinematic_rate(start_time))
        return cls(stage.h, stage.a, stage.b, stage.time, stage.base, v_hat, w, beta=stage.beta,
                   inertia=stage.inertia)

    def compute_damped_stiffness_factor(self, lin: Linearised) -> float:
        """Return the factor of K in the stage's matrix, that in stiffness damping included: β a b h² + a h α [s²], α
        the stiffness damping [s]."""
        stiffness_damping = 0.0 if lin.damped is None else lin.damped.stiffness_damping
        return self.stiffness_factor + self.a * self.h * stiffness_damping

    def weight(self, lin: Linearised) -> Vec:
        """Return the mass of each node plus a h times its drag in D, (n,) [kg]."""
        inert = self.inertia * lin.mass
        return inert if lin.damped is None else inert + self.a * self.h * lin.damped.drag

    def net_impulse(self, lin: Linearised) -> Vec:
        """Return the net impulse a h (f + D v) − M (v − v̂), (n, 3) [N s]; 0 at a root."""
        return self.net_impulse_of(lin.mass, lin.force, lin.v, lin.damped)

    def net_impulse_of(self, mass: Vec, force: Vec, v: Vec, damped: Damped | None) -> Vec:
        """Return the net impulse a h (f + D v) − M (v − v̂), (n, 3) [N s], of masses (n,) [kg], forces (n, 3) [N],
        velocities (n, 3) [m/s] and damping D."""
        force = force if damped is None else force + damped.force(v)
        out: Vec = self.a * self.h * force - self.inertia * mass[:, None] * (v - self.v_hat)
        return out

    def work(self, mass: Vec, nodes: Index, change: Vec) -> float:
        """Return the change of the energy at the stage's end, near its root [J], by a small change of the velocities of
        some nodes, (3 k,) [m/s]. mass: of all nodes, (n,) [kg].

        At the root forces have changed the momentum from M v̂, so that of ½ |v|²_M + W only v̂ᵀ M Δv is left.
        """
        weight = self.inertia * mass[nodes, None]
        return float(np.vdot(self.v_hat[nodes], weight * change.reshape(-1, 3)))

    def energy_at_stake(self, mass: Vec, nodes: Index) -> float:
        """Return the kinetic energy that some nodes have before the stage plus the energy that their weight adds to a
        body at rest in it [J]. mass: of all nodes, (n,) [kg]."""
        predicted, weight = self.v_hat[nodes], self.inertia * mass[nodes, None]
        fall = self.a * self.h * STANDARD_GRAVITY
        return 0.5 * float(np.vdot(predicted, weight * predicted) + weight.sum() * fall**2)

    def acceleration(self, lin: Linearised | Products, v: Vec) -> Vec:
        """Return the accelerations that take v̂ to velocities v, (n, 3) [m/s], plus the drag of mass damping, (n, 3)
        [m/s²]."""
        gained: Vec = (v - self.v_hat) / (self.a * self.h)
        if lin.damped is not None:
            gained += lin.damped.drag_rate(lin.mass)[:, None] * v
        return gained

    def has_equal_weights(self, other: NodeStage) -> bool:
        """Whether another stage has the weights of this one in its matrix M − a h D − β a b h² K."""
        return (self.inertia, self.a * self.h, self.stiffness_factor) == (other.inertia, other.a * other.h,
                                                                         other.stiffness_factor)

    def moving(self, w: Vec, carrier_motion: CarrierMotion) -> NodeStage:
        """Return the stage with additional velocities w, (p, 3) [m/s], of prescribed nodes, and attached nodes at
        `carrier_motion`."""
        return replace(self, w=w if self.w is None else self.w + w, carrier_motion=carrier_motion)

    def fill(self, pattern: Pattern, lin: Linearised, requested: Mask | None = None) -> None:
        """Write M − a h D − β a b h² K into the pattern. requested: the nodes whose columns are written, (p,); None:
        all."""
        factor, weight = self.compute_damped_stiffness_factor(lin), self.weight(lin)
        damped, ah = lin.damped, self.a * self.h
        if damped is None or not damped.has_blocks:
            pattern.gather(lin.blocks, lin.node_blocks, -factor, weight, lin.others, requested)
            return
        node_blocks, others, more = factor * lin.node_blocks, lin.others, None
        if damped.node_blocks is not None:
            node_blocks += ah * damped.node_blocks
        if damped.between is not None:
            # damping may join other nodes than forces do: D is that of predicted positions
            nodes, more = damped.between
            others = nodes if others is None else np.concatenate([others, nodes])
        blocks = pattern.combine_blocks(lin.blocks, factor, damped.blocks, more, ah)
        pattern.gather(blocks, node_blocks, -1.0, weight, others, requested)
