"""Forces at one state and products of K with a few fields there, without K itself."""

from __future__ import annotations

from dataclasses import dataclass

from ..contact.find.ground import Contacts
from ..state import Vec
from .damping import Damped


@dataclass(frozen=True)
class Products:
    """Forces at one state on nodes, and products of the true K = ∂f/∂x, not projected, with a few fields."""

    x: Vec  #: positions [m], (n, 3)
    v: Vec  #: velocities [m/s], (n, 3)
    mass: Vec  #: lumped [kg], (n,)
    force: Vec  #: f(x) [N], (n, 3), without the damping D v
    columns: Vec  #: K times each field, as if nothing touched, (c, n, 3)
    damped: Damped | None  #: D = ∂f/∂v; None where nothing is damped
    contacts: Contacts  #: with the ground, whose forces are in f
