"""Contact laws: from a table of pairs to forces, constraint rows or impulses."""
