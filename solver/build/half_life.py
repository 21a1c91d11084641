"""Wobble Half-Life: the damping with which every visible wobble of a body loses half of its amplitude in a given time.

Wobbles slower than one in two seconds are not meant by a time in seconds: with 0.75 s a hanging rope of 0.2 Hz would
creep back like leather. Such a wobble loses as much in each period as one of 0.5 Hz.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.sparse.csgraph import dijkstra

from .. import catalogue
from ..assembly.damping import DampingLaw, ShortStepDamping
from ..assembly.pattern import node_graph
from ..forces.green import Green
from ..integrators.interface import Integrator
from ..integrators.oscillator import compute_remaining_fraction
from ..job.folder import Job, parameters
from ..job.schema import Body, step_size
from ..linear.interface import LinearSolver
from ..state import Index, Mask, Vec
from ..world.half_life_damping import HalfLifeDamping, PinMotion, SlowModes
from .fields import Prepared
from .inputs import over_time
from .material_data import MaterialData
from .wobble import Wobbles, equilibrium_under_weight, slowest

TABLE = 40  #: half-lives that are solved for where more of them are keyframed; those between are read between them
CRITICAL = 1.0  #: ρ / ω of what comes back without a swing
SEEN = 0.5, 12.0  #: [Hz] of wobbles that an artist sees; slower ones have half-lives in periods
#: of what is asked: by so much less of it is taken from the slowest wobble where steps take more from faster ones
SPREAD = 0.1
FASTEST = 0.6  #: of what is asked: what steps that are cut short take besides from the fastest that is seen
BOUNCES = 1.5  #: [Hz] of what lies on cloth
SLACK, LIVELY = 1.0, 2.5  #: [Hz] a wobble so slow sags more than it wobbles, and what a new body's is aimed at


def half_life_at_start(job: Job, body: Body) -> float:
    """Return the Wobble Half-Life of a body at the first frame [s]; 0 for none."""
    half_life = body.wobble_half_life
    return float(job.array(half_life)[0]) if isinstance(half_life, str) else half_life


def losses_of(job: Job, one: Prepared, made: MaterialData, own: DampingLaw, rest: Vec, mass: Vec,
              is_free: Mask, nodes: slice, integrator: Integrator, linear: Callable[[], LinearSolver]
              ) -> tuple[list[HalfLifeDamping], DampingLaw, list[str], float | None]:
    """Return the half-life damping of a body's parts, its damping law with additional damping of short steps, sentences
    for the log, and the frequency of its slowest wobble where it hangs [Hz], None where that was not computed.

    own: damping of the material, which counts. rest, mass: of all nodes, (n, 3) [m] and (n,) [kg]. is_free: nodes that
    neither pins nor bones move, (n,). nodes: of the body. linear: makes a new linear solver.
    """
    half_life = one.body.wobble_half_life
    if not half_life:
        return [], own, [], None
    if one.kind.is_sheet:
        return _of_cloth(job, one, made, own, mass, is_free, integrator)
    if not one.kind.is_filled:
        return _of_ropes(job, one, one.wires + nodes.start, made, own, rest, mass, is_free, integrator)
    wobbles = _wobbles(job, one, made, own, rest, mass, nodes, linear)
    if wobbles is None:
        return [], own, ["Wobble Half-Life: nothing of it wobbles"], None
    seen = wobbles.omegas >= 2.0 * math.pi * SEEN[0]
    first = int(np.argmax(seen)) if seen.any() else len(seen) - 1
    # a body whose wobbles are too fast to be seen may rock on the ground slowly
    omega = min(float(wobbles.omegas[first]), 2.0 * math.pi * SEEN[1])
    numerical = _Numerical(job, one, integrator, omega, float(wobbles.damping_rates[0][first]) + own.drag)
    hertz = float(wobbles.omegas[0]) / (2.0 * math.pi)
    samples, requested, fades = _over_time(job, half_life, numerical)
    law = _more_damped(rest, made, own, _at_times(job, requested, half_life), numerical.h)
    parts = _parts(made, is_free, mass, _at_times(job, fades, half_life), wobbles) if fades.any() else []
    if isinstance(half_life, str):
        least = float(samples[samples > 0.0].min(initial=math.inf))
        begins = f"Wobble Half-Life over time, the least {least:.3g} s" if least < math.inf else "Wobble Half-Life 0 s"
        return parts, law, [f"{begins}: {numerical.of_integrator(hertz)}"], hertz
    slow = ""
    if not seen[0]:
        slowest = half_life * SEEN[0] / hertz
        slow = (f"; {np.count_nonzero(~seen)} of its wobbles are slower than {SEEN[0]:g} Hz and lose as much a swing, "
                f"the slowest half in {slowest:.2g} s")
    ends = numerical.sentence(half_life, float(fades[0]))
    return parts, law, [f"Wobble Half-Life {half_life:.3g} s: {numerical.of_integrator(hertz)}{slow}{ends}"], hertz


def _of_cloth(job: Job, one: Prepared, made: MaterialData, own: DampingLaw, mass: Vec, is_free: Mask,
              integrator: Integrator) -> tuple[list[HalfLifeDamping], DampingLaw, list[str], float | None]:
    """Return the damping of cloth, in the form of `losses_of`. Its fundamental mode is that of a rod of its length that
    hangs from one end. Stretching of its threads is damped as well, so that a load which bounces on it with the
    frequency `BOUNCES` has the half-life too."""
    from ..forces.cloth.elements import ClothElements  # its kernels are compiled where there is cloth
    from ..forces.cloth.threads import Threads

    half_life, elements = one.body.wobble_half_life, made.elements
    assert isinstance(elements, ClothElements)
    length = float(one.volume.extents.max())
    weight = float(np.linalg.norm(job.scene.gravity))
    hertz = max(math.sqrt(1.5 * weight / length) / (2.0 * math.pi), SEEN[0])
    numerical = _Numerical(job, one, integrator, 2.0 * math.pi * hertz, own.drag)
    samples, requested, fades = _over_time(job, half_life, numerical)
    ratio = 2.0 / (2.0 * math.pi * BOUNCES) ** 2
    rate, strength = _at_times(job, fades, half_life), _at_times(job, ratio * requested, half_life)
    law = Threads(elements, own.stiffness_damping or 0.0, own.drag, strength)
    parts = _parts(made, is_free, mass, rate, None) if fades.any() else []
    least = float(samples[samples > 0.0].min(initial=math.inf))
    note = (f"Wobble Half-Life {least:.3g} s: hung by one edge it swings at {hertz:.2g} Hz"
            f"{numerical.sentence(least, float(fades.max(initial=0.0)))}")
    return parts, law, [note] if least < math.inf else [], None


def _of_ropes(job: Job, one: Prepared, edges: Index, made: MaterialData, own: DampingLaw, rest: Vec, mass: Vec,
              is_free: Mask, integrator: Integrator
              ) -> tuple[list[HalfLifeDamping], DampingLaw, list[str], float | None]:
    """Return the damping of ropes, in the form of `losses_of`, each strand by its fundamental mode where it hangs, see
    `swing`."""
    half_life, weight = one.body.wobble_half_life, float(np.linalg.norm(job.scene.gravity))
    dampings: list[HalfLifeDamping] = []
    notes: list[str] = []
    for part in made.parts:
        hertz = swing(edges, rest, mass, part, part[~is_free[part]], weight)
        numerical = _Numerical(job, one, integrator, 2.0 * math.pi * hertz, own.drag)
        slower = max(SEEN[0] / hertz, 1.0)
        samples, _, fades = _over_time(job, half_life, numerical, slower)
        strand = replace(made, parts=[part])
        dampings += _parts(strand, is_free, mass, _at_times(job, fades, half_life), None) if fades.any() else []
        least = float(samples[samples > 0.0].min(initial=math.inf))
        if least < math.inf and not notes:
            slow = f", slower than {SEEN[0]:g} Hz, so it loses as much a swing" if hertz < SEEN[0] else ""
            notes.append(f"Wobble Half-Life {least:.3g} s: it swings at {hertz:.2g} Hz where it hangs{slow}"
                         f"{numerical.sentence(slower * least, float(fades.max(initial=0.0)))}")
    if len(made.parts) > 1 and notes:
        notes[0] = notes[0].replace("it swings", "the first of its strands swings")
    return dampings, own, notes, None


def swing(edges: Index, rest: Vec, mass: Vec, part: Index, pins: Index, weight: float) -> float:
    """Return the frequency of a strand's fundamental mode [Hz]. A strand that hangs from one end is taken as a rod of
    its masses, 2 % faster than a chain; a strand pinned at several points as the bow in which it hangs, turning about
    the line through its ends.

    edges: of all links, (k, 2). rest, mass: of all nodes, (n, 3) [m] and (n,) [kg]. part, pins: nodes of the strand,
    and those of them that are prescribed. weight: g [m/s²]; without gravity the result is the slowest visible
    frequency.
    """
    length = np.linalg.norm(rest[edges[:, 1]] - rest[edges[:, 0]], axis=1)
    links = sp.coo_array((length, (edges[:, 0], edges[:, 1])), shape=(len(rest), len(rest))).tocsr()
    starts = pins if len(pins) else part[:1]
    from_pins = dijkstra(links, directed=False, indices=starts, min_only=True)[part]
    depth = np.where(np.isfinite(from_pins), from_pins, 0.0)
    if len(pins) > 1:
        # a bow of length L over a chord C sags by √(3 C (L − C)/8), in the shape of a parabola
        distances = np.linalg.norm(rest[pins] - rest[pins[0]], axis=1)
        chord, whole = float(distances.max()), 2.0 * float(depth.max())
        fraction = np.clip(depth / max(0.5 * whole, 1e-300), 0.0, 1.0)
        sag = math.sqrt(0.375 * chord * max(whole - chord, 0.0)) if chord > 0.5 * whole else 0.5 * (whole - chord)
        depth = sag * (1.0 - (1.0 - fraction) ** 2)
    inertia = float(mass[part] @ depth**2)
    if weight == 0.0:
        return SEEN[0]
    if inertia == 0.0:  # straight between its ends
        return SEEN[1]
    return min(math.sqrt(weight * float(mass[part] @ depth) / inertia) / (2.0 * math.pi), SEEN[1])


def _over_time(job: Job, half_life: float | str, numerical: _Numerical, slower: float = 1.0) -> tuple[Vec, Vec, Vec]:
    """Return half-lives [s], the rates for them [1/s], and the rates that are added [1/s], (T,) each; T is 1 for a
    constant half-life, and rates are 0 where it is 0. slower: factor by which wobbles may exceed the half-life."""
    samples = np.asarray(job.array(half_life), dtype=float) if isinstance(half_life, str) else np.full(1, half_life)
    requested: Vec = np.divide(math.log(2.0), samples, out=np.zeros_like(samples), where=samples > 0.0)
    return samples, requested, _table(lambda seconds: numerical.rate(slower * seconds) if seconds > 0.0 else 0.0,
                                  samples)


def _at_times(job: Job, values: Vec, half_life: float | str) -> Callable[[float], float]:
    """Return the value as a function of time [s]: the only one, or the curve through those over time."""
    if not isinstance(half_life, str):
        only = float(values[0])
        return lambda time: only
    curve = over_time(job, values[:, None])
    return lambda time: max(float(curve.at(time)[0]), 0.0)


def _more_damped(rest: Vec, made: MaterialData, own: DampingLaw, requested: Callable[[float], float],
                 h: float) -> DampingLaw:
    """Return the law of a material with additional damping in steps shorter than h [s]: the fastest visible wobbles
    lose `FASTEST` times the rate `requested` more. requested: rate [1/s] at a time [s]."""
    added = Green(rest, made.elements, made.modulus, {"stiffness_damping": 1.0, "mass_damping": 0.0})
    ratio = 2.0 * FASTEST / (2.0 * math.pi * SEEN[1]) ** 2
    return ShortStepDamping(own, added, lambda time: ratio * requested(time), h)


def _wobbles(job: Job, one: Prepared, made: MaterialData, own: DampingLaw, rest: Vec, mass: Vec, nodes: slice,
             linear: Callable[[], LinearSolver]) -> Wobbles | None:
    """Return the vibration modes of a body that hangs from its pins and bones, including compliant pins; None without
    any."""
    fixed = np.concatenate([one.fields.pinned, one.fields.attached]) + np.int32(nodes.start)
    free = np.setdiff1d(np.arange(nodes.start, nodes.stop), fixed).astype(np.int32)
    if not len(free):  # all of its pins end within the bake, and it wobbles from then on
        free, fixed = np.arange(nodes.start, nodes.stop, dtype=np.int32), fixed[:0]
    pinned_parts = [part for part in made.parts if np.isin(part, fixed).any()]
    hanging = np.intersect1d(free, np.concatenate(pinned_parts)).astype(np.int32) if pinned_parts else free[:0]
    x = equilibrium_under_weight(made.elements, rest, mass, hanging, np.array(job.scene.gravity), linear())
    dynamic = find_followed_nodes(job, one, one.fields.dynamic + np.int32(nodes.start))
    return slowest(made.elements, (own,), x, mass, free, dynamic, linear())


def _parts(made: MaterialData, is_free: Mask, mass: Vec, rate: Callable[[float], float],
           wobbles: Wobbles | None) -> list[HalfLifeDamping]:
    """Return the half-life damping of each connected part."""
    graph = sp.csr_array(node_graph(made.elements.tets, len(mass)))
    dampings = []
    for part in made.parts:
        nodes, pins = part[is_free[part]], part[~is_free[part]]
        if len(nodes):
            pin_motion = PinMotion(graph, pins, nodes) if len(pins) else None
            slow = None if wobbles is None else _select_slow_modes(wobbles, mass, nodes)
            dampings.append(HalfLifeDamping(nodes, pins, mass[nodes], rate, slow, pin_motion))
    return dampings


def _select_slow_modes(wobbles: Wobbles, mass: Vec, nodes: Index) -> SlowModes | None:
    """Return the modes of these nodes that are slower than visible wobbles; None without any. mass: of all nodes, (n,)
    [kg]."""
    ratios = wobbles.omegas / (2.0 * math.pi * SEEN[0])
    fields = wobbles.fields[:, nodes]
    norms = np.sqrt(np.einsum("mki,k,mki->m", fields, mass[nodes], fields))
    slow = (ratios < 1.0) & (norms > math.sqrt(0.5))
    if not slow.any():
        return None
    return SlowModes(wobbles.x[nodes], fields[slow] / norms[slow, None, None], ratios[slow])


def find_followed_nodes(job: Job, one: Prepared, dynamic: Index) -> Index | None:
    """Return the dynamic nodes of a body if all its other nodes follow them; None where each node moves on its own.
    None too for spots that move as one, with which the frequencies differ by a few percent. dynamic: indices of the
    dynamic nodes."""
    follows = catalogue.find("method", job.scene.method_of(one.body).kind).follows
    return dynamic if follows and not one.fields.patches else None


def _seconds(value: float) -> str:
    return "more than 100 s" if value > 100.0 else f"{value:.2g} s"


def _frequency(omega: float) -> str:
    """Return a text with a frequency ω [rad/s]; of a slow one also the stiffness that would keep the body's shape."""
    hertz = omega / (2.0 * math.pi)
    if hertz >= SLACK:
        return f"{hertz:.3g} Hz"
    return f"{hertz:.3g} Hz ({LIVELY:g} Hz with {(LIVELY / hertz) ** 2:.2g} times its Young's Modulus)"


def _table(strength: Callable[[float], float], samples: Vec) -> Vec:
    """Return the strength at each sample, (T,); where these are many, interpolated over 1/T, in which it is nearly
    linear."""
    values = np.unique(samples)
    if len(values) > TABLE:
        shortest = values[values > 0.0][0]
        rates = np.linspace(1.0 / values[-1], 1.0 / shortest, TABLE)
        known = np.array([strength(1.0 / rate) for rate in rates])
        inverse = np.where(samples > 0.0, 1.0 / np.maximum(samples, shortest), 0.0)
        return np.where(samples > 0.0, np.interp(inverse, rates, known), strength(0.0))
    known = np.array([strength(float(value)) for value in values])
    strengths: Vec = known[np.searchsorted(values, samples)]
    return strengths


class _Numerical:
    """Damping of a wobble by the integrator at the job's step."""

    def __init__(self, job: Job, one: Prepared, integrator: Integrator, omega: float, own: float) -> None:
        """omega, own: ω [rad/s] of the slowest visible wobble, and its damping d by its material [1/s]."""
        scene = job.scene
        self.h = step_size(scene.time.fps, scene.time.step)[1]
        self._beta = parameters("method", scene.method_of(one.body))["beta"]
        self._integrator, self._omega, self._own = integrator, omega, own
        self._label = catalogue.find("integrator", scene.integrator.kind).label

    def loses(self, omega: float, own: float, rho: float) -> float:
        """Return the rate at which a wobble decays [1/s]. omega: ω [rad/s]. own: d by its material [1/s]. rho: ρ
        between steps [1/s]."""
        remaining = compute_remaining_fraction(self._integrator, omega * self.h, self._beta, own * self.h,
                                               math.exp(-2.0 * rho * self.h))
        return max(-math.log(remaining) / self.h, 0.0)

    def of_integrator(self, hertz: float) -> str:
        """Return a sentence on the integrator's own damping of the slowest wobble [Hz]."""
        omega = 2.0 * math.pi * hertz
        return (f"its slowest wobble has {_frequency(omega)}, which {self._label} at 1/{1.0 / self.h:.4g} s alone "
                f"halves in {_seconds(_half_life(self.loses(omega, 0.0, 0.0)))}")

    def rate(self, half_life: float) -> float:
        """Return the rate ρ ≥ 0 [1/s] with which wobbles have a half-life [s], at most critical damping of the slowest
        one."""
        requested, omega, own = math.log(2.0) / half_life, self._omega, self._own
        fastest = max(omega, 2.0 * math.pi * SEEN[1])
        spread = self.loses(fastest, own, 0.0) - self.loses(omega, own, 0.0)
        requested -= min(max(0.5 * spread, 0.0), SPREAD * requested)
        most = CRITICAL * omega
        if self.loses(omega, own, 0.0) >= requested:
            return 0.0
        if self.loses(omega, own, most) <= requested:
            return most
        return float(brentq(lambda rho: self.loses(omega, own, rho) - requested, 0.0, most, rtol=1e-4))

    def sentence(self, half_life: float, rho: float) -> str:
        """Return a sentence on a rate ρ [1/s] that is added for a half-life [s]."""
        by_itself = _half_life(self.loses(self._omega, self._own, 0.0))
        if by_itself < 0.95 * half_life:
            with_material = f", and with the damping of its material in {_seconds(by_itself)}" if self._own else ""
            return (f"{with_material}: sooner than was asked, so nothing damps it besides; take smaller steps or a "
                    "livelier integrator")
        if rho >= CRITICAL * self._omega:
            return "; it comes back without a swing, and no damping brings it back sooner"
        return f"; a damping of {2.0 * rho:.3g} 1/s of motion relative to what carries it does the rest"


def _half_life(rate: float) -> float:
    """Return the half-life [s] of a decay rate [1/s], infinite at 0."""
    return math.log(2.0) / rate if rate > 1.0e-12 else math.inf
