"""Counts of steps by other methods than the integrator's, and sentences about these steps."""

from __future__ import annotations

from collections import Counter

FALLBACK_STEPS, RESCUED = "calmed", "rescued"


def sentences(counts: Counter[str]) -> list[str]:
    """Return sentences for the user about the fallback steps and linearised quasistatic steps in `counts`."""
    out, fallbacks, rescued = [], counts[FALLBACK_STEPS], counts[RESCUED]
    if fallbacks:
        steps, were, them = ("step", "was", "it") if fallbacks == 1 else ("steps", "were", "them")
        out.append(f"{fallbacks} {steps} {were} too violent to be solved quickly and {were} linearised, which damps "
                   f"{them}: smaller steps or more Tries keep more of the motion")
    if rescued:
        out.append(f"{rescued} of the shortest steps {'was' if rescued == 1 else 'were'} linearised: what balances "
                   "snapped from one shape to another, and no step between them could be solved")
    return out
