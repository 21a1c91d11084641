"""Methods that enforce constraints φ(x) = 0 in a stage: penalty, mass modification, hard rows, compliant rows."""
