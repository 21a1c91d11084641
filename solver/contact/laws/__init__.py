"""Contact laws: forces, constraint rows or impulses from a table of pairs."""
