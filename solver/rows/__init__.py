"""Programs of rows: min ½ uᵀ A u − uᵀ b under bilateral rows, unilateral rows and friction cones, with multipliers.

Rows are posed in `tables`, and multipliers have their `names`. `dense_dual` is for a matrix A that is known by its
response to impulses, with few rows: `bilateral` solves its equations and `bounded` its impulses within bounds, by a
semismooth Newton method or an active set. `bounded_rows` solves rows whose bounds follow from other impulses, as those
of friction do. `sparse` is for a sparse matrix A, with rows that mostly have one vertex. `eliminated` and `filtered`
remove equations from the unknowns, along given directions or in a frame of each node.
"""
