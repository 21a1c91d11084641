"""Laws of ropes and wires: stretching of their links, and bending."""
