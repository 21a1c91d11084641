"""Programs of rows: min ½ uᵀ A u − uᵀ b under bilateral rows, unilateral rows and friction cones, with multipliers.

Three ways to solve them: `dense_dual` where A is known by its response to impulses and rows are few, `sparse` where A
is a sparse matrix and most rows are of one vertex, and `bounded` for what the dual leaves, impulses within bounds, by a
semismooth Newton method or an active set.
"""
