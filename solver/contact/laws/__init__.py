"""Contact laws: a table of pairs to forces, rows or impulses."""
