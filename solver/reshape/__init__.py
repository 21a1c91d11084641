"""Changes of topology and pins: cuts, nails and releases of bodies, and the world and state after these."""
