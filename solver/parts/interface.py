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
    """Mesh, mass and choice of dynamic nodes, constant between reshapes."""

    tets: Index  #: (e, 4)
    rest: Vec  #: rest positions [m], (n, 3)
    mass: Vec  #: lumped [kg], (n,)
    parts: list[Index]  #: nodes of each face-connected part
    coordinates: FreeNodes
    dynamic: Index  #: nodes that keep their own inertia; the rest of the free nodes is quasistatic
    stiffness: float  #: a typical entry of K [N/m], for pivots that no answer depends on
    patches: tuple[Patch, ...] = ()  #: nodes that keep theirs as a whole


#: forces [N], (n, 3), and the energy that they derive from [J], at positions (n, 3) and a time [s]
Evaluate = Callable[[Vec, float], tuple[Vec, float]]


#: what impulses on some nodes change in their velocities, both (c, 3) [N s], [m/s]
Compliance = Callable[[Vec], Vec]


@dataclass(frozen=True)
class ReducedOnRates:
    """A stage of soft bodies on the rates u of joints, G u = g, with its own unknowns eliminated."""

    matrix: Vec  #: G, symmetric, (c, c)
    impulse: Vec  #: g, (c,)


@dataclass(frozen=True)
class Eliminated(ReducedOnRates):
    """A stage of linearised bodies on the rates of joints: G = (C; J_a)ᵀ S (C; J_a), g = (C; J_a)ᵀ (M v̂ + a h f − S w).

    With S = M − ahD − βabh²K of all nodes and v = C u + v₀ on the free ones, J_a u on those that joints carry. G and g
    are added to the joints' own equations; then `moving` gives the stage at the rates that were found.
    [ConJac MUSCLE]
    """

    columns: Vec  #: C, (3 f, c); its transpose brings impulses on the free nodes to g
    #: the same stage where the joints' rates are known, (c,), and where those bring the nodes that ride
    moving: Callable[[Vec, CarrierMotion], tuple[PosedNodes, NodeStage]]


class Posed(Protocol):
    """A u = b, factored once."""

    def solve(self) -> Vec:
        """Rates at the stage's end, (m,). Raises StepFailed."""

    def respond(self, impulses: Vec) -> Vec:
        """Return changes of the rates by impulses on them, both (m, c)."""

    def correction(self, u: Vec) -> Vec:
        """Return the position correction at the new rates u, as a rate that never enters rates, (m,)."""

    def again(self, stage: Stage) -> Self:
        """Return another stage of the same linearisation, on the same factor; its β a b h² has to be equal."""


class Touched(Posed, Protocol):
    """A stage of nodes that may touch something; its first rates are the velocities of the free ones, (3 f,) [m/s]."""

    @property
    def tree_stage(self) -> Any:
        """Return the stage of joints in it, None where there are none."""

    @property
    def lin(self) -> Linearised:
        """Return the linearisation of the stage."""

    @property
    def stage(self) -> NodeStage:
        """Return the stage of the nodes, at the rates that were solved for."""

    def moving(self, u: Vec) -> Vec:
        """Rates with which contacts of the free nodes are pressed at theirs, both (3 f,) [m/s]: u, or those of
        positions, the correction included, where contacts are no part of what velocities follow."""

    def compliance(self, nodes: Index) -> Compliance:
        """Return the response of these free nodes, (c,), to impulses on them, for many evaluations."""

    def under(self, impulses: Vec) -> Self:
        """Return the stage with additional impulses on all nodes, (n, 3) [N s], spread evenly over it."""

    @property
    def balances(self) -> bool:
        """Whether positions of some nodes go another way than velocities follow."""

    def static_friction(self, grip: StaticFriction, x: Vec) -> Self:
        """Return the stage with friction of the ground on quasistatic nodes, at positions x, (n, 3) [m], and known
        velocities. Raises NotPositiveDefinite."""

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None) -> Vec:
        """Coordinates (m_q,) at the stage's end, nearer to the balance of what has no inertia of its own.

        corrections: how often; None as the method has it.
        """


class PosedNodes(Touched, Protocol):
    """A stage of nodes alone."""

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None,
              carrier_motion: CarrierMotion | None = None) -> Vec:
        """Return coordinates nearer to equilibrium, with attached nodes at `carrier_motion`."""


class NoQuasistatic:
    """A posed stage without quasistatic nodes: friction on velocities holds positions too."""

    @property
    def balances(self) -> bool:
        return False

    def static_friction(self, grip: StaticFriction, x: Vec) -> Self:
        return self


#: V mean|Ṡ| of each element, (e,) [m³/s], at positions and velocities (n, 3)
Stretching = Callable[[Vec, Vec], Vec]


class Sleeping(Protocol):
    """Which dynamic nodes are awake, where that changes. What it knows is in the State's memory."""

    @property
    def nodes(self) -> Index:
        """The dynamic nodes, (m,)."""

    def at_rest(self) -> dict[str, Vec]:
        """Memory of a body that lies still."""

    def rests_near(self, x: Vec, memory: Mapping[str, Vec]) -> bool:
        """Whether nothing is dynamic and the last factor's positions are near x, (n, 3) [m]."""

    def activity(self, memory: Mapping[str, Vec]) -> tuple[Vec, Vec]:
        """Liveliness of each [1/s], and whether it is awake, 1 or 0, (m,)."""

    def judge(self, before: State, after: State, h: float, stretching: Stretching,
              histories: tuple[str, ...]) -> tuple[State, bool]:
        """Return the accepted state and True; where a step wakes nodes, the one to repeat the step from and False."""

    def forget_past(self) -> None:
        """Drop what depends on earlier steps and is not in the State."""


class Whole(Protocol):
    """All free nodes as unknowns of one sparse matrix, for who fills and factors it as a stage is iterated."""

    floating: FloatingParts
    pattern: Pattern
    matrix: sp.csc_matrix  #: lower triangle, its values are the pattern's
    linear: LinearSolver
    rank: Index  #: where each node of the elimination order stands among the free ones, (f,)

    def posed(self, lin: Linearised, stage: NodeStage) -> PosedNodes:
        """A stage on the factor that stands there."""

    def tangent(self, lin: Linearised, w: Vec | None) -> Tangent:
        """K and D of the free nodes for products, and K w where prescribed nodes move at w (p, 3) [m/s]."""


class Condensation(Protocol):
    """Poses a linearised stage in its own unknowns."""

    floating: FloatingParts  #: by what is pinned or kinematic
    beta: float  #: what semi-implicit Euler gives its stages
    solves_hits: bool  #: whether a linearised stage that hits the ground is solved instead, where velocities follow

    @property
    def sleep(self) -> Sleeping | None:
        """Return which nodes are awake, where that changes; None where it does not."""

    def __init__(self, mesh: Mesh, linear: LinearSolver, params: dict[str, float]) -> None: ...

    @property
    def whole(self) -> Whole | None:
        """Return the method of all free velocities; None where most nodes are quasistatic."""

    @property
    def at_once(self) -> Balancing | None:
        """Return the method of mostly quasistatic nodes, all bodies in one equilibrium; None where each body is
        condensed by itself."""

    @property
    def sweeps(self) -> SweepsOn | None:
        """On the factor of a stage, raises NotPositiveDefinite; None where stages are not solved by these."""

    def forget_past(self) -> None:
        """Drop what depends on earlier steps and is not in the State."""

    def pose(self, lin: Linearised, stage: NodeStage) -> PosedNodes:
        """Factor. Raises NotPositiveDefinite."""

    def eliminate(self, lin: Linearised, stage: NodeStage, carried: Vec) -> Eliminated:
        """Factor, and eliminate all but the rates of joints that carry some nodes. Raises NotPositiveDefinite.

        carried: velocities of the prescribed nodes for each of the rates, (p, 3, c).
        """


class FixedPointSweeps(Protocol):
    """Quasi-Newton sweeps over a stage, on the factor of one that was posed nearby."""

    @property
    def includes_contacts(self) -> bool:
        """Whether contacts were in the matrix that was factored."""

    def serves(self, x: Vec, stage: NodeStage, start: State, exactly: bool) -> bool:
        """Whether its factor still exists and is of positions near x, with the present choice of dynamic nodes.

        exactly: whether the stage is solved to its root.
        """

    def change(self, at: Products, stage: NodeStage) -> Vec:
        """Return the change by a sweep of x − b h v, b h v and p, (3, n, 3); at: with K v and K p."""

    @property
    def force(self) -> Vec:
        """Return forces where it was factored, (n, 3) [N]."""

    def modal_motion(self, h: float, posed_at: float, is_exact: bool) -> tuple[Vec, Vec]:
        """Return displacements of all nodes through h seconds [m], posed `posed_at` seconds after their start, and
        velocities at their end [m/s], (n, 3); is_exact: whether dynamic unknowns advance by their modes, else all by
        Euler's step."""

    def quasistatic_correction(self, at: Products) -> Vec:
        """Return the deviation of positions and velocities from the condensation, (2, n, 3); at: with K v."""

    def strain(self, change: Vec) -> float:
        """Return the largest relative change of an edge by that, in positions or by velocities."""


#: over a stage linearised there
SweepsOn = Callable[[Linearised, NodeStage], FixedPointSweeps]


class PositionInertia(Protocol):
    """½ uᵀ A u − uᵀ p of unknowns u = C (v − F) that are read off the rates v of positions."""

    carried: Vec  #: what free nodes do with each rate of joints where they balance, (n, 3, c)
    regularisation_mass: Vec  #: mass that a factored matrix has in its place, (n,) [kg]

    @property
    def columns(self) -> Vec | None:
        """Few whose squares add up to the curvature, (n, 3, r); None where it has too many for that."""

    def energy(self, v: Vec) -> tuple[Vec, float]:
        """Its slope, (n, 3) [N s], and value [J] at rates of positions v, (n, 3) [m/s]."""

    def times(self, v: Vec) -> Vec:
        """Its curvature Cᵀ A C times rates of positions, both (n, 3) or (n, 3, c)."""

    def following(self, columns: Vec) -> Vec:
        """Velocities V C of rates of positions, both (n, 3, c)."""

    def generalised_force(self, loads: Vec) -> Vec:
        """Return (V C)ᵀ times loads on all nodes, both (n, 3, c)."""

    def velocities(self, v: Vec, rates: Vec | None = None) -> Vec:
        """V u + F of rates of positions v, both (n, 3) [m/s]: zero on prescribed nodes. rates: of the joints, (c,)."""


class Balancing(Condensation, Protocol):
    """A condensation whose stages are those of positions of which most have no inertia of their own: they balance, and
    velocities follow the others. Where all have it, the others are all."""

    mesh: Mesh
    linear: LinearSolver

    def inertia(self, lin: Linearised, stage: NodeStage, is_coupled: bool,
                carried: Vec | None = None) -> PositionInertia:
        """Return the inertia of positions, whose energy a stage in contact lowers. Raises NotPositiveDefinite.

        lin: where the step starts, without what touches. is_coupled: whether forces join bodies. carried: velocities of
        the prescribed nodes for each rate of joints, (p, 3, c).
        """
