"""Materials: energy density, stress P and projected tangent at sixteen deformation gradients at a time.

A material is a class with kernels as typed function pointers and a function that computes its constants. Kernels read
and write one flat array `work`: quantity k of lane l is at work[k * LANES + l]. With a single array and constant
offsets LLVM can prove that accesses do not alias, and it vectorises the loop over lanes.
"""
