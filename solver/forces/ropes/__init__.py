"""Force laws of ropes and wires: stretching of links, bending and twisting."""
