"""Contact detection: tables of pairs from positions."""
