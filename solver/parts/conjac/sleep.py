"""Dynamic nodes and patches that fall asleep at low strain-rate activity and wake at high. [Thesis 4.4]

A sleeping node is an anchor: it stays among the retained rows, so no matrix is analysed again, and the small dense
system takes it as quasistatic. Forces that would constrain a sleeping patch stay in the border, where none is required;
the activity of a patch is measured around the node in its middle. Where all sleep a step is a quasi-Newton step towards
equilibrium, and the last factor serves many of them. [Thesis 4.4.2, changed: retained rows]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ...assembly.edges import Edges
from ...assembly.linearised import Linearised
from ...state import Index, Mask, State, Vec
from ..interface import Mesh, Stretching
from ..stage import NodeStage
from .liveliness import AWAKE, DOZING, DROWSY, LEVEL, MOVED, WAKE, Liveliness
from .posed import PosedConJac
from .rigid_modes import RigidModeBasis, rows_of


class Sleep:
    """Choice of the dynamic nodes, stored in State.memory, and the factor of the last step, which only saves time."""

    #: a factor serves sleeping nodes until an edge has changed by this fraction of its length. Relaxing by γ of a
    #: Newton step converges as long as K has not doubled or so
    largest_edge_change = 0.05

    def __init__(self, mesh: Mesh, params: dict[str, float], retained: Index, edges: Edges,
                 removed_fraction: Callable[[float], float]) -> None:
        """Make the choice for a mesh. params: liveliness_threshold [1/s] and liveliness_window [s]. retained: (k,)
        nodes of the dense system, the dynamic ones first. removed_fraction: function from the length of a step [s] to
        the fraction of the displacement to equilibrium that it takes."""
        middles = [middle_of(mesh, np.intersect1d(patch.nodes, mesh.coordinates.free)) for patch in mesh.patches]
        nodes = np.concatenate([mesh.dynamic, np.array([middle for middle in middles if middle >= 0], dtype=np.int32)])
        self.liveliness = Liveliness(mesh.tets, mesh.rest, nodes, params["liveliness_threshold"],
                                     params["liveliness_window"])
        self._mesh, self._retained, self._edges, self._removed_fraction = mesh, retained, edges, removed_fraction
        self._holds: dict[bytes, RigidModeBasis] = {}
        self._posed: PosedConJac | None = None  #: stage on the last factor that was made
        self._factor = 0  #: number of that factor
        self._rested = False  #: whether this step uses a factor of an earlier one

    @property
    def nodes(self) -> Index:
        """Return the dynamic nodes, and one in the middle of each patch, (m,)."""
        return self.liveliness.nodes

    def hold(self, memory: Mapping[str, Vec]) -> RigidModeBasis:
        """Return the choice of dynamic nodes in a state with this memory; each choice is prepared once."""
        single, awake = len(self._mesh.dynamic), np.zeros(len(self._retained), dtype=bool)
        up = self.liveliness.awake(memory)
        awake[:single] = up[:single]
        key = up.tobytes()
        if key not in self._holds:
            self._holds[key] = RigidModeBasis(self._mesh, self._retained, awake, up[single:])
        return self._holds[key]

    def at_rest(self) -> dict[str, Vec]:
        """Return the memory of a body that has not moved: all its nodes sleep. [Thesis Alg. 4.3]"""
        count = len(self.liveliness.nodes)
        return {AWAKE: np.zeros(count), LEVEL: np.zeros(count), MOVED: np.zeros(3 * count)}

    def activity(self, memory: Mapping[str, Vec]) -> tuple[Vec, Vec]:
        """Return the strain-rate activity of each dynamic node [1/s], (m,), and whether it is awake, 1 or 0, (m,)."""
        # dozing nodes may have to wake still
        return self.liveliness.past(memory), (memory[AWAKE] > 0.0).astype(float)

    def keep(self, posed: PosedConJac) -> None:
        """Store the stage that was posed on a new factor."""
        self._posed, self._factor = posed, posed.owner.linear.factored

    def columns(self, lin: Linearised, stage: NodeStage) -> Vec | None:
        """Return the columns of the last factor, (3 q, 3 k + border), where it was made for this linearisation and
        stage with other dynamic nodes; else None."""
        last = self._last
        if last is None or last.stage.time != stage.time or (last.stage.w is None) != (stage.w is None):
            return None
        same = np.array_equal(last.lin.x, lin.x) and np.array_equal(last.lin.force, lin.force)
        if stage.w is not None and last.stage.w is not None:
            same = same and np.array_equal(last.stage.w, stage.w)
        return last.motion.columns if same else None

    def rests_near(self, x: Vec, memory: Mapping[str, Vec]) -> bool:
        """Whether no node is dynamic and the last factor was made near positions x, (n, 3) [m]."""
        last = self._last
        if last is None or len(last.reduced) or self.hold(memory) is not last.hold:
            return False
        return self._edges.largest_change(x - last.lin.x) <= self.largest_edge_change

    def resting(self, lin: Linearised, stage: NodeStage) -> PosedConJac:
        """Return the stage on the last factor."""
        assert self._last is not None
        self._rested = True
        return self._last.at(lin, stage)

    def forget_past(self) -> None:
        """Discard the last factor."""
        self._posed, self._rested = None, False

    @property
    def _last(self) -> PosedConJac | None:
        """Return the stage that was posed last; None where the solver has made another factor since."""
        posed = self._posed
        return posed if posed is not None and posed.owner.linear.factored == self._factor else None

    def judge(self, before: State, after: State, h: float, stretching: Stretching,
              histories: tuple[str, ...]) -> tuple[State, bool]:
        """Return the accepted state and True; or, where a step wakes nodes, the state to repeat the step from and
        False.

        before, after: states at both ends of a step of h [s]. stretching: rates of stretch of elements. histories: keys
        of the memory that are invalid once other nodes are dynamic. A step of sleeping nodes with high activity is
        never accepted: it would jump towards equilibrium, and a node that woke from it would retain that speed.
        [Thesis Alg. 4.3]
        """
        liveliness, coordinates, memory = self.liveliness, self._mesh.coordinates, before.memory
        x0 = coordinates.positions(before.q, before.time, before.carrier_motion)
        x1 = coordinates.positions(after.q, after.time, after.carrier_motion)
        now, past, awake = liveliness.now(x0, x1, h, stretching), liveliness.past(memory), liveliness.awake(memory)
        predicted = liveliness.to_balance(past, now, h, self._removed_fraction(h))
        if not awake.all() and not liveliness.drowsy(memory).any():
            predicted = predicted + self._lag(before, after, h, x1, stretching)
        roused = ~awake & (predicted > WAKE * liveliness.threshold)
        if roused.any():
            if self._rested:
                # a factor at present positions has to confirm it
                self.forget_past()
                return before, False
            return self._rouse(before, roused, predicted, histories), False

        self._rested = False
        level = liveliness.level(past, now, h)
        next_ones = np.where(awake, 1.0, np.where(liveliness.drowsy(memory), DOZING, 0.0))
        next_ones[awake & (level < liveliness.threshold)] = DROWSY
        remaining = _without(after.memory, histories) if liveliness.drowsy(memory).any() else after.memory
        moved = (x1 - x0)[liveliness.nodes] / h
        return replace(after, memory={**remaining, AWAKE: next_ones, LEVEL: level, MOVED: moved.ravel()}), True

    def _lag(self, before: State, after: State, h: float, x: Vec, stretching: Stretching) -> Vec:
        """Return the strain rate that sleeping nodes would have with the inertia of this step, (m,) [1/s]. Sleeping
        nodes that are carried along have none themselves, however hard they are shaken."""
        if self._last is None or np.array_equal(after.u, before.u):
            return np.zeros(len(self.liveliness.nodes))
        coordinates = self._mesh.coordinates
        offset = _lag(self._last, coordinates.spread((after.u - before.u) / h, None))
        return self.liveliness.rates(x, coordinates.spread(offset, None) / self.liveliness.window, stretching)

    def _rouse(self, state: State, roused: Mask, predicted: Vec, histories: tuple[str, ...]) -> State:
        """Return the state with these nodes awake, at their mean velocities of the last step.

        Quasistatic nodes follow them at once, so there is no impact.
        """
        posed, liveliness, memory = self._last, self.liveliness, state.memory
        awake, slept = liveliness.awake(memory) | roused, roused & ~liveliness.drowsy(memory)
        # a node has the time in which this level falls to the threshold to gain speed
        level = np.where(roused, np.minimum(predicted, WAKE**2 * liveliness.threshold), liveliness.past(memory))
        remaining = _without(memory, histories) if slept.any() else dict(memory)
        # drowsy nodes that are not roused remain drowsy
        remaining |= {AWAKE: np.where(awake, 1.0, memory[AWAKE]), LEVEL: level}
        # patches wake at the velocities that they have
        slept[len(self._mesh.dynamic) :] = False
        index = np.searchsorted(self._mesh.coordinates.free, liveliness.nodes[slept])
        gained = memory[MOVED].reshape(-1, 3)[slept] - state.u.reshape(-1, 3)[index]
        if posed is None or not gained.any():
            return replace(state, memory=remaining)
        stiffness = posed.motion.stiffness
        basis, _ = self.hold(remaining).split(posed.lin.x, stiffness, np.zeros((len(stiffness), 0)))
        # dynamic nodes come first among the reduced unknowns, in their own order
        single = awake[: len(self._mesh.dynamic)]
        columns = rows_of(np.searchsorted(np.flatnonzero(single), np.flatnonzero(slept)))
        return replace(state, u=state.u + posed.expand_retained(basis[:, columns] @ gained.ravel()), memory=remaining)


def middle_of(mesh: Mesh, nodes: Index) -> int:
    """Return the node of a patch, of these nodes (m,), that is nearest to their centre of mass; −1 for no nodes."""
    if not len(nodes):
        return -1
    weight = mesh.mass[nodes] / mesh.mass[nodes].sum()
    return int(nodes[np.linalg.norm(mesh.rest[nodes] - weight @ mesh.rest[nodes], axis=1).argmin()])


def _lag(posed: PosedConJac, acceleration: Vec) -> Vec:
    """Return the displacement of sleeping nodes, and of quasistatic nodes that follow them, in equilibrium with an
    acceleration of all nodes, (n, 3) [m/s²], without its rigid part of floating bodies, (3 f,) [m]."""
    frames, mass, size = posed.owner.frames, posed.lin.mass, len(posed.motion.jacobian)
    loads = -mass[:, None] * acceleration
    if posed.frames:
        loads += frames.inertia(posed.frames, mass, acceleration)
    if posed.owner.mesh.patches:
        # a sleeping patch is not constrained, nor are nodes that depend on it
        return posed.on_free(posed.owner.response(posed, loads[:, :, None])[:, 0])
    rows = loads[posed.owner.pattern.order].ravel()
    left = posed.motion.jacobian.T @ rows[:size] + rows[size:]
    return posed.expand_retained(posed.hold.split(posed.lin.x, posed.motion.stiffness, left[:, None])[1][:, 0])


def _without(memory: Mapping[str, Vec], keys: tuple[str, ...]) -> dict[str, Vec]:
    return {key: value for key, value in memory.items() if key not in keys}
