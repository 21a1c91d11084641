"""Changes of topology: cuts of bodies, and the world and state after them."""
