"""Protocols of condensations and of posed stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import scipy.sparse as sp

from ..assembly.linearised import Linearised
from ..assembly.pattern import Pattern
from ..assembly.products import Products
from ..contact.laws.static_friction import StaticFriction
from ..coordinates.floating import FloatingParts
from ..coordinates.free_nodes import FreeNodes
from ..coordinates.patches import Patch
from ..linear.interface import LinearSolver
from ..state import CarrierMotion, Index, State, Vec
from .stage import NodeStage, Stage

if TYPE_CHECKING:
    from ..assembly.tangent import Tangent


@dataclass(frozen=True)
class Mesh:
    """Mesh, mass and dynamic nodes of a part, constant between reshapes."""

    tets: Index  #: (e, 4)
    rest: Vec  #: rest positions [m], (n, 3)
    mass: Vec  #: lumped [kg], (n,)
    parts: list[Index]  #: nodes of each face-connected part
    coordinates: FreeNodes
    dynamic: Index  #: nodes with inertia of their own; the other free nodes are quasistatic
    stiffness: float  #: a typical entry of K [N/m], for pivots that no solution depends on
    patches: tuple[Patch, ...] = ()  #: sets of nodes with inertia as a whole


#: forces [N], (n, 3), and the energy that they derive from [J], at positions (n, 3) and a time [s]
Evaluate = Callable[[Vec, float], tuple[Vec, float]]


#: impulses on some nodes, (c, 3) [N s], to the changes of their velocities, (c, 3) [m/s]
Compliance = Callable[[Vec], Vec]


@dataclass(frozen=True)
class ReducedOnRates:
    """Stage of soft bodies on the rates u of joints, G u = g, with the unknowns of the bodies eliminated."""

    matrix: Vec  #: G, symmetric, (c, c)
    impulse: Vec  #: g, (c,)


@dataclass(frozen=True)
class Eliminated(ReducedOnRates):
    """Stage of linearised bodies on the rates u of joints, with their own unknowns eliminated.

    G = (C; J_a)ᵀ S (C; J_a) and g = (C; J_a)ᵀ (M v̂ + a h f − S w), with S = M − ahD − βabh²K of all nodes, v = C u +
    v₀ on the free nodes and J_a u on those that joints carry. G and g are added to the joints' own equations; then
    `moving` returns the stage at the rates that were found. [ConJac MUSCLE]
    """

    columns: Vec  #: C, (3 f, c); Cᵀ maps impulses on the free nodes to g
    #: the stage at known rates of the joints, (c,), with the motion of the carriers of attached nodes
    moving: Callable[[Vec, CarrierMotion], tuple[PosedNodes, NodeStage]]


class StageOnFactor(Protocol):
    """Linearised stage A u = b on a factor of A, with rates u, (m,)."""

    def again(self, stage: Stage) -> Self:
        """Return another stage of this linearisation on the same factor; both stages must have equal β a b h²."""


class Posed(StageOnFactor, Protocol):
    """Linearised stage A u = b of nodes on a factor of A, with rates u, (m,)."""

    def solve(self) -> Vec:
        """Return the rates at the stage's end, (m,). Raises StepFailed where the stage has no solution."""

    def respond(self, impulses: Vec) -> Vec:
        """Return the changes of the rates by impulses on them, both (m, c)."""

    def correction(self, u: Vec) -> Vec:
        """Return the position correction at the new rates u, (m,), as a rate of coordinates alone, (m,): rates do not
        include it."""


class Touched(Posed, Protocol):
    """Linearised stage of nodes that may be in contact; its first rates are velocities of the free nodes, (3 f,) [m/s].
    """

    @property
    def tree_stage(self) -> Any:
        """Return the stage of the joints; None where there are none."""

    @property
    def lin(self) -> Linearised:
        """Return the linearisation of the stage."""

    @property
    def stage(self) -> NodeStage:
        """Return the stage of the nodes, with prescribed velocities at the rates of joints that were solved for."""

    def moving(self, u: Vec) -> Vec:
        """Return the rates, (3 f,) [m/s], that contacts of the free nodes act on at velocities u, (3 f,) [m/s]: u
        itself, or the rates of positions, correction included, where velocities ignore contact."""

    def compliance(self, nodes: Index) -> Compliance:
        """Return the response of these free nodes, (c,), as a function from impulses, (c, 3) [N s], to changes of their
        velocities, (c, 3) [m/s]; it is made for many evaluations."""

    def under(self, impulses: Vec) -> Self:
        """Return the stage with additional impulses on all nodes, (n, 3) [N s], which act evenly over its length."""

    @property
    def balances(self) -> bool:
        """Whether positions of some nodes depend on the unknowns of the stage otherwise than velocities do."""

    def with_static_friction(self, friction: StaticFriction, x: Vec) -> Self:
        """Return the stage with static friction of the ground on quasistatic nodes, at positions x, (n, 3) [m], and
        known velocities. Raises NotPositiveDefinite."""

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None) -> Vec:
        """Return coordinates at the stage's end, (m_q,), in which quasistatic nodes are nearer to equilibrium than in
        q.

        u: rates, (m,). evaluate: forces and energy at positions. corrections: number of iterations; None: that of the
        method.
        """


class PosedNodes(Touched, Protocol):
    """Linearised stage of nodes alone, without joints."""

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None,
              carrier_motion: CarrierMotion | None = None) -> Vec:
        """Return coordinates nearer to equilibrium, (m_q,), as `Touched.relax`, with attached nodes at
        `carrier_motion`."""


class NoQuasistatic:
    """Base of posed stages without quasistatic nodes: friction that stops their velocities fixes positions too."""

    @property
    def balances(self) -> bool:
        """Return False: no node is quasistatic."""
        return False

    def with_static_friction(self, friction: StaticFriction, x: Vec) -> Self:
        """Return the stage itself. friction: it needs no stiffness here. x: positions, (n, 3) [m]."""
        return self


#: V mean|Ṡ| of each element, (e,) [m³/s], at positions and velocities, (n, 3) [m], [m/s]
Stretching = Callable[[Vec, Vec], Vec]


class Sleeping(Protocol):
    """Choice of the dynamic nodes that are awake, in methods whose nodes may sleep. All of its state is in
    State.memory."""

    @property
    def nodes(self) -> Index:
        """Return the dynamic nodes, (m,)."""

    def at_rest(self) -> dict[str, Vec]:
        """Return the memory of a body at rest."""

    def rests_near(self, x: Vec, memory: Mapping[str, Vec]) -> bool:
        """Whether no node is dynamic and the last factor was made near positions x, (n, 3) [m]."""

    def activity(self, memory: Mapping[str, Vec]) -> tuple[Vec, Vec]:
        """Return the strain-rate activity of each dynamic node [1/s], (m,), and whether it is awake, 1 or 0, (m,)."""

    def judge(self, before: State, after: State, h: float, stretching: Stretching,
              histories: tuple[str, ...]) -> tuple[State, bool]:
        """Return the accepted state and True; where a step wakes nodes, the state to repeat the step from and False.

        before, after: states at both ends of a step of h [s]. stretching: rates of stretch of elements. histories: keys
        of the memory that are invalid once other nodes are dynamic.
        """

    def forget_past(self) -> None:
        """Discard what depends on earlier steps and is not in the State."""


class Whole(Protocol):
    """Method with all free nodes as unknowns of one sparse matrix, which is filled and factored in each iteration."""

    floating: FloatingParts
    pattern: Pattern
    matrix: sp.csc_matrix  #: lower triangle, its values are the pattern's
    linear: LinearSolver
    rank: Index  #: numbers among the free nodes, in the order of elimination, (f,)

    def pose_on_factor(self, lin: Linearised, stage: NodeStage) -> PosedNodes:
        """Return the stage on the present factor."""

    def tangent(self, lin: Linearised, w: Vec | None) -> Tangent:
        """Return products with K and D of the free nodes, and with K w where prescribed nodes move at w, (p, 3) [m/s].
        """


class Condensation(Protocol):
    """Method that poses a linearised stage in its own unknowns."""

    floating: FloatingParts  #: parts that prescribed nodes do not fully constrain
    beta: float  #: factor on K in stages of semi-implicit Euler
    solves_impacts: bool  #: whether a linearised stage that hits the ground is solved instead, where velocities follow

    @property
    def sleep(self) -> Sleeping | None:
        """Return the choice of awake nodes; None where nodes never sleep."""

    def __init__(self, mesh: Mesh, linear: LinearSolver, params: dict[str, float]) -> None: ...

    @property
    def whole(self) -> Whole | None:
        """Return the method with all free velocities in one sparse matrix; None where most nodes are quasistatic."""

    @property
    def at_once(self) -> Balancing | None:
        """Return the method of mostly quasistatic nodes that has all bodies in one equilibrium; None where each body is
        condensed by itself."""

    @property
    def sweeps(self) -> SweepsOn | None:
        """Return the function that makes quasi-Newton sweeps on the factor of a stage and raises NotPositiveDefinite;
        None where stages are not solved by sweeps."""

    def forget_past(self) -> None:
        """Discard what depends on earlier steps and is not in the State."""

    def pose(self, lin: Linearised, stage: NodeStage) -> PosedNodes:
        """Return a stage on a new factor of its matrix. Raises NotPositiveDefinite."""

    def eliminate(self, lin: Linearised, stage: NodeStage, carried: Vec) -> Eliminated:
        """Return the stage on the rates of joints that carry some nodes, all other unknowns eliminated, on a new
        factor.

        carried: velocities of the prescribed nodes for each of the rates, (p, 3, c). Raises NotPositiveDefinite.
        """


class FixedPointSweeps(Protocol):
    """Quasi-Newton sweeps over a stage, on the factor of a stage that was posed nearby."""

    @property
    def includes_contacts(self) -> bool:
        """Whether contacts were in the matrix that was factored."""

    def serves(self, x: Vec, stage: NodeStage, start: State, exactly: bool) -> bool:
        """Whether the factor still exists, fits the stage, was made near positions x, (n, 3) [m], and has the dynamic
        nodes of `start`.

        exactly: whether the stage is solved to its root.
        """

    def change(self, at: Products, stage: NodeStage) -> Vec:
        """Return the change by a sweep of x − b h v [m], b h v [m] and p [m s], (3, n, 3). at: the iterate, with K v
        and K p."""

    @property
    def force(self) -> Vec:
        """Return the forces at the positions of the factor, (n, 3) [N]."""

    def modal_motion(self, h: float, posed_at: float, is_exact: bool) -> tuple[Vec, Vec]:
        """Return displacements of all nodes through h seconds [m] and velocities at their end [m/s], (n, 3). posed_at:
        time of the factor after the start [s]. is_exact: whether dynamic unknowns advance by their modes; else all by
        Euler's step."""

    def compute_quasistatic_correction(self, at: Products) -> Vec:
        """Return corrections of positions [m] and velocities [m/s] towards the condensation, (2, n, 3). at: the
        iterate, with K v."""

    def strain(self, change: Vec) -> float:
        """Return the largest relative change of an edge by the change of a sweep, (3, n, 3), in positions or by
        velocities."""


#: the sweeps over a stage, from its linearisation
SweepsOn = Callable[[Linearised, NodeStage], FixedPointSweeps]


class PositionInertia(Protocol):
    """Inertia ½ uᵀ A u − uᵀ p of unknowns u = C (v − F), which depend on the rates v of positions alone."""

    carried: Vec  #: velocities of free nodes in equilibrium for each rate of joints, (n, 3, c)
    regularisation_mass: Vec  #: mass that replaces this inertia in a factored matrix, (n,) [kg]

    @property
    def columns(self) -> Vec | None:
        """Return columns, (n, 3, r), whose outer products add up to the curvature; None where these would be too many.
        """

    def energy(self, v: Vec) -> tuple[Vec, float]:
        """Return the derivative, (n, 3) [N s], and value [J] of this energy at rates of positions v, (n, 3) [m/s]."""

    def times(self, v: Vec) -> Vec:
        """Return the curvature Cᵀ A C times rates of positions v, both (n, 3) or (n, 3, c)."""

    def following(self, columns: Vec) -> Vec:
        """Return velocities V C that follow rates of positions, both (n, 3, c)."""

    def project_loads(self, loads: Vec) -> Vec:
        """Return generalised forces (V C)ᵀ f on rates of positions, by loads f on all nodes, both (n, 3, c)."""

    def velocities(self, v: Vec, rates: Vec | None = None) -> Vec:
        """Return velocities V u + F, (n, 3) [m/s], at rates of positions v, (n, 3) [m/s]; zero on prescribed nodes.
        rates: of the joints, (c,)."""


class Balancing(Condensation, Protocol):
    """Condensation whose solved stages have the positions of all nodes as unknowns: nodes without inertia are in
    equilibrium, and velocities follow the dynamic nodes. All nodes may be dynamic."""

    mesh: Mesh
    linear: LinearSolver

    def inertia(self, lin: Linearised, stage: NodeStage, is_coupled: bool,
                carried: Vec | None = None) -> PositionInertia:
        """Return the inertia of positions, whose energy a stage in contact lowers. Raises NotPositiveDefinite.

        lin: linearisation at the start of the step, without contact. is_coupled: whether forces join bodies. carried:
        velocities of the prescribed nodes for each rate of joints, (p, 3, c).
        """
