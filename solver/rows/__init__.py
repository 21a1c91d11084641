"""Programs of rows: min ½ uᵀ A u − uᵀ b under bilateral rows, unilateral rows and friction cones, with multipliers.

Rows are posed in `tables`, and multipliers have their `names`. `dense_dual` solves them where A is known by its
response to impulses and rows are few, with `bilateral` for its equations and `bounded` for impulses within bounds, by a
semismooth Newton method or an active set. `bounded_rows` solves rows whose bounds follow from other impulses, as those
of friction do. `sparse` solves them where A is a sparse matrix and most rows are of one
vertex. `eliminated` and `filtered` take equations out of the unknowns, along given directions or in a frame of each
node.
"""
