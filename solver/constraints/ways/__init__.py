"""Ways to enforce constraints φ(x) = 0 in one stage: by a penalty, by mass modification, hard, or compliant."""
