"""Forces: the blocks of f, K and D at given positions and rates, which the assembler adds to the system."""
