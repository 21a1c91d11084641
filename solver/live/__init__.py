"""Interactive simulation: a worker steps bodies in real time and applies the artist's input in each step.

`board` is the memory shared with Blender, `run` the loop, `pace` lowers the accuracy to stay in real time, and
`engines` simulate the bodies.
"""
