"""Steps of mechanisms without constraints in one kernel, by semi-implicit Euler and leapfrog.

The results equal the steps of an integrator on posed stages; posing these would cost more than solving them.
"""

from __future__ import annotations

from functools import cached_property

from ..integrators.interface import Integrator
from ..parts.joints.jointed import Jointed
from ..parts.joints.leap_step import CentredStep, LeapStep
from ..parts.joints.tree_step import TreeStep
from ..parts.stage import Momentum
from ..state import State
from .joint_bounds import JointBounds


class TreeKernelSteps:
    """Steps of a mechanism in one kernel, and the treatment of momentum in linearised steps.

    Properties are cached, as steps of few joints take little time.
    """

    def __init__(self, jointed: Jointed, integrator: Integrator, bounds: JointBounds, recentres: bool,
                 reflects: bool) -> None:
        """recentres: whether charts are recentred after every step. reflects: whether momentum may be reflected."""
        self._jointed, self._integrator, self._bounds = jointed, integrator, bounds
        self._recentres, self._reflects = recentres, reflects

    @cached_property
    def momentum(self) -> Momentum:
        """Return the treatment of momentum in linearised steps."""
        requested = self._integrator.momentum
        # inertia of the rates themselves belongs to no body
        reflects = self._reflects and not self._jointed.on_rates.laws
        return Momentum.PROJECTED if requested is Momentum.REFLECTED and not reflects else requested

    @cached_property
    def is_centred(self) -> bool:
        """Whether forces other than weight act in steps with reflected momentum."""
        jointed = self._jointed
        return self.momentum is Momentum.REFLECTED and not jointed.has_friction and not jointed.only_weight()

    @cached_property
    def fit(self) -> bool:
        """Whether the mechanism has no constraints, and the integrator's step is one of the kernels'."""
        fits = self._integrator.linear_euler and TreeStep.serves(self._jointed)
        return fits and self.momentum in (Momentum.PROJECTED, Momentum.REFLECTED)

    @cached_property
    def _tree_step(self) -> TreeStep:
        """Return the kernel of semi-implicit Euler."""
        return TreeStep(self._jointed)

    @cached_property
    def _leapfrog_step(self) -> LeapStep:
        """Return the kernel of leapfrog."""
        return (CentredStep if self.is_centred else LeapStep)(self._jointed)

    def step(self, state: State, h: float) -> State:
        """Return the state after a step of h seconds, with charts recentred. Raises StepFailed."""
        tree, reflected = self._jointed.tree, self.momentum is Momentum.REFLECTED
        after, is_regular = (self._leapfrog_step.solve if reflected else self._tree_step.step)(state, h)
        if not is_regular:
            self._bounds.check_motion(after)
        if is_regular or reflected or self._recentres:
            after = tree.centre_charts(after)
        else:
            after = tree.recentre(after, self._integrator.remembered_motion)
        return self._leapfrog_step.finish(after, h) if reflected else after
