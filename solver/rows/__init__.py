"""Programs of rows: min ½ uᵀ A u − uᵀ b under bilateral rows, unilateral rows and friction cones, with multipliers.

Tables of rows are in `tables`, and `names` identify their multipliers. `dense_dual` is for few rows and a matrix A that
is known by its response to impulses: `bilateral` solves its equations and `bounded` its impulses within bounds, by a
semismooth Newton method or an active set. `bounded_rows` solves rows whose bounds depend on other impulses, such as
friction. `sparse` is for a sparse matrix A and rows that mostly have one vertex. `eliminated` and `filtered` eliminate
equations from the unknowns, along given directions or in a frame of each node.
"""
