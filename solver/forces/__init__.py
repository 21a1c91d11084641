"""Forces: blocks of f, K and D at a moment. They compute, the assembler places."""
