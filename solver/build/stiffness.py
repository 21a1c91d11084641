"""Young's modulus of a body for a given frequency of its slowest wobble."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..errors import BadInput
from ..job.folder import Job, blame
from ..linear.choose import choose
from .fields import Prepared, modulus_of
from .half_life import find_followed_nodes
from .wobble import equilibrium_under_weight, slowest

NEAR = 0.005  #: of the frequency that is asked for
TRIES = 8  #: fibers are not made stiffer, so that it grows by less than the root of Young's modulus
LEAST_STIFFNESS = 1.0e-4  #: of its Young's modulus: what still wobbles too fast then does so by its fibers


def fit_stiffness(job: Job, prepared: Prepared, hertz: float) -> tuple[float, float]:
    """Return the present frequency of a body's slowest wobble [Hz], and the factor on its Young's modulus, painted maps
    included, with which that is `hertz` [Hz].

    Raises BadInput where nothing of the body wobbles, or fibers alone make it wobble faster.
    """
    with blame(job.scene, prepared.body, "material"):
        now = _frequency(job, prepared)
        times = (hertz / now) ** 2
        for _ in range(TRIES):
            frequency = _frequency(job, _stiffer(prepared, times))
            if abs(frequency / hertz - 1.0) <= NEAR:
                return now, times
            times *= (hertz / frequency) ** 2
            if times < LEAST_STIFFNESS:
                break
        raise BadInput(f"no Young's Modulus makes its slowest wobble {hertz:g} Hz, which is {now:.3g} Hz now",
                       "Lower the stiffness of its fibers")


def _stiffer(prepared: Prepared, times: float) -> Prepared:
    known = prepared.fields.element_parameters
    return replace(prepared, fields=replace(prepared.fields, element_parameters={
        **known, "youngs_modulus": times * modulus_of(prepared)}))


def _frequency(job: Job, prepared: Prepared) -> float:
    """Return the fundamental frequency of a body [Hz], with its pinned and attached nodes at rest."""
    fields, rest = prepared.fields, prepared.volume.nodes
    made = prepared.material_data(job, rest, 0)
    constrained = np.union1d(fields.pinned, fields.attached)
    free = np.setdiff1d(np.arange(len(rest)), constrained).astype(np.int32)
    dynamic = find_followed_nodes(job, prepared, fields.dynamic)
    # without dynamic nodes it is measured as if all nodes were
    dynamic = None if dynamic is None or not len(dynamic) else dynamic
    pinned_parts = [part for part in made.parts if np.isin(part, constrained).any()]
    hanging = np.intersect1d(free, np.concatenate(pinned_parts)).astype(np.int32) if pinned_parts else constrained[:0]
    choice, count, gravity = job.scene.linear_solver, [prepared.count], np.array(job.scene.gravity)
    x = equilibrium_under_weight(made.elements, rest, made.mass, hanging, gravity, choose(choice, count))
    wobbles = slowest(made.elements, (), x, made.mass, free, dynamic, choose(choice, count))
    if wobbles is None:
        raise BadInput("nothing of it wobbles: pins and bones hold all of it", "Unpaint part of the Pin group")
    return float(wobbles.omegas[0]) / (2.0 * math.pi)
