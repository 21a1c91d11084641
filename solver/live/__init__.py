"""Interactive simulation: a worker steps bodies in real time and applies the artist's input on the way.

`board` is the shared memory of both processes, `run` the loop, `pace` lowers the accuracy to stay in real time, and
`engines` move the bodies.
"""
