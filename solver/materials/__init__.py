"""Materials: energy density, P and the projected tangent at sixteen deformation gradients at a time.

A material is a class with two typed function pointers and a way to make its constants. Kernels read and write one
flat `work` array: quantity k of lane l stands at work[k * LANES + l]. One array with constant offsets is what lets
LLVM see that nothing overlaps, so the lane loop becomes vector code.
"""
