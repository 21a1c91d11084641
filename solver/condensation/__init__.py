"""Fewer unknowns with the stiffness's help: Full keeps all, ConJac keeps the dynamic nodes."""
