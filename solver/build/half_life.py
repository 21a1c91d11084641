"""Wobble Half-Life: what a body's material has to lose so that its slowest wobble loses half of its height in time.

What wobbles slower than once a second is not the stiff thing that seconds are meant for: 0.75 s would let a hanging
rope of 0.2 Hz creep back as leather does. Its half-life counts its swings, as many as seconds are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from .. import catalogue
from ..assembly.damping import DampingLaw, SummedDamping
from ..forces.green import Green
from ..integrators.interface import Integrator
from ..integrators.oscillator import left
from ..job.folder import Job, parameters
from ..job.schema import step_size
from ..linear.interface import LinearSolver
from ..state import Index, Vec
from .fields import Prepared
from .inputs import over_time
from .matter import Matter
from .wobble import slowest

TABLE = 40  #: half-lives that are solved for where more of them are keyframed; those between are read between them
CRITICAL = 2.0  #: d / ω of what comes back without a swing
SWING = 1.0  #: [Hz] of what is slower a half-life is meant in swings
SLACK, LIVELY = 1.0, 2.5  #: [Hz] a wobble so slow sags more than it wobbles, and what a new body's is aimed at


def law_of(job: Job, one: Prepared, made: Matter, rest: Vec, mass: Vec, free: Index, dynamic: Index,
           integrator: Integrator, linear: LinearSolver) -> tuple[DampingLaw, list[str], float | None]:
    """The body's damping law with what its half-life asks besides, sentences for the log, and the frequency of its
    slowest wobble [Hz] where that was asked for and there is one.

    What is added is Green damping: it brakes nothing that falls or turns. rest, mass: of all nodes, (n, 3) [m] and
    (n,) [kg]. free, dynamic: the body's nodes that are not prescribed, and those that are dynamic. linear: a fresh one.
    """
    elastic, modulus = made.elements, made.modulus
    own: DampingLaw = catalogue.find("damping", one.body.damping.kind).load()(
        rest, elastic, modulus, parameters("damping", one.body.damping))
    half_life = one.body.wobble_half_life
    if not half_life:
        return own, [], None
    added = Green(rest, elastic, modulus, {"stiffness_damping": 1.0, "mass_damping": 0.0})
    wobble = slowest(elastic, (own, added), rest, mass, free, followed(job, one, dynamic), linear)
    if wobble is None:
        return own, ["Wobble Half-Life: nothing of it wobbles"], None
    hertz = wobble.omega / (2.0 * math.pi)
    slower = max(1.0, SWING / hertz)
    has, share = wobble.lost[0] + own.drag, wobble.lost[1]
    numerical = _Numerical(job, one, integrator, wobble.omega)

    def strength(seconds: float) -> float:
        """α [s] of a half-life, 0 never."""
        return max(0.0, (numerical.rate(slower * seconds) - has) / share) if seconds > 0.0 else 0.0

    if isinstance(half_life, str):
        samples = np.asarray(job.array(half_life), dtype=float)
        curve = over_time(job, _table(strength, samples)[:, None])
        least = float(samples[samples > 0.0].min(initial=math.inf))
        said = f"Wobble Half-Life over time, the least {least:.3g} s" if least < math.inf else "Wobble Half-Life 0 s"
        return SummedDamping(own, added, lambda time: max(float(curve.at(time)[0]), 0.0)), [
            f"{said}: {numerical.alone_said}"], hertz
    alpha = strength(half_life)
    swings = f"; of what is slower than 1 Hz they are swings, here {slower * half_life:.2g} s" if slower > 1.0 else ""
    note = (f"Wobble Half-Life {half_life:.3g} s: {numerical.alone_said}{swings}"
            f"{numerical.sentence(slower * half_life, has, alpha)}")
    return SummedDamping(own, added, lambda time: alpha) if alpha else own, [note], hertz


def followed(job: Job, one: Prepared, dynamic: Index) -> Index | None:
    """Which of its dynamic nodes all others follow, None where each moves on its own; spots that move as one swing as
    slowly as the body does, to a few percent."""
    follows = catalogue.find("method", job.scene.method_of(one.body).kind).follows
    return dynamic if follows and not one.fields.patches else None


def _seconds(value: float) -> str:
    return "more than 100 s" if value > 100.0 else f"{value:.2g} s"


def _frequency(omega: float) -> str:
    """Of a wobble, ω [rad/s]; of one so slow that what holds the body cannot keep its shape, what would."""
    hertz = omega / (2.0 * math.pi)
    if hertz >= SLACK:
        return f"{hertz:.3g} Hz"
    return f"{hertz:.3g} Hz ({LIVELY:g} Hz with {(LIVELY / hertz) ** 2:.2g} times its Young's Modulus)"


def _table(strength: Callable[[float], float], samples: Vec) -> Vec:
    """The strength of each sample; between a few where there are many, along 1/T, in which it is nearly straight."""
    values = np.unique(samples)
    if len(values) > TABLE:
        shortest = values[values > 0.0][0]
        rates = np.linspace(1.0 / values[-1], 1.0 / shortest, TABLE)
        known = np.array([strength(1.0 / rate) for rate in rates])
        asked = np.where(samples > 0.0, 1.0 / np.maximum(samples, shortest), 0.0)
        return np.where(samples > 0.0, np.interp(asked, rates, known), strength(0.0))
    known = np.array([strength(float(value)) for value in values])
    found: Vec = known[np.searchsorted(values, samples)]
    return found


class _Numerical:
    """What the integrator makes of a wobble at the job's step."""

    def __init__(self, job: Job, one: Prepared, integrator: Integrator, omega: float) -> None:
        scene = job.scene
        self.h = step_size(scene.time.fps, scene.time.step)[1]
        self._beta = parameters("method", scene.method_of(one.body))["beta"]
        self._integrator, self._omega = integrator, omega
        self.alone = self.with_rate(0.0)  #: seconds in which it halves the wobble by itself
        label = catalogue.find("integrator", scene.integrator.kind).label
        self.alone_said = (f"its slowest wobble has {_frequency(omega)}, which {label} at 1/"
                           f"{1.0 / self.h:.4g} s alone halves in {_seconds(self.alone)}")

    def with_rate(self, rate: float) -> float:
        """Seconds in which a wobble is halved that loses by itself at a rate d [1/s]."""
        kept = left(self._integrator, self._omega * self.h, self._beta, rate * self.h)
        return math.inf if kept >= 1.0 - 1.0e-12 else self.h * math.log(0.5) / math.log(kept)

    def rate(self, half_life: float) -> float:
        """d ≥ 0 [1/s] with which a wobble is halved in time, no more than brings it back without a swing."""
        if self.alone <= half_life:
            return 0.0
        most = CRITICAL * self._omega
        if self.with_rate(most) >= half_life:
            return most
        return float(brentq(lambda rate: 1.0 / self.with_rate(rate) - 1.0 / half_life, 0.0, most, rtol=1e-4))

    def sentence(self, half_life: float, has: float, alpha: float) -> str:
        """What the log says of a material that makes a wobble lose at the rate `has` [1/s] and of what is added."""
        by_itself = self.with_rate(has)
        if by_itself < 0.95 * half_life:
            with_material = f", and with the damping of its material in {_seconds(by_itself)}" if has else ""
            return (f"{with_material}: sooner than was asked, so nothing damps it besides; take smaller steps or a "
                    "livelier integrator")
        if self.rate(half_life) >= CRITICAL * self._omega:
            return "; it comes back without a swing, and no damping brings it back sooner"
        return f"; a stiffness damping of {alpha:.3g} s does the rest"
