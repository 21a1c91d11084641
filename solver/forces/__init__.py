"""Forces: blocks of f, K and D at a moment. Forces compute the blocks, and the assembler adds them to the system."""
