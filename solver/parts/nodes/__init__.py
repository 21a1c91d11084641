"""Full finite elements: every free node is an unknown."""
