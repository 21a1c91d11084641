"""Sparse symmetric positive definite systems: order once, analyse once, factor in place, ask often."""
