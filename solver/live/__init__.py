"""Bodies that move while one looks: a worker steps them at the clock's pace and takes what the artist does on the way.

`board` is the memory that both processes share, `run` the loop, `pace` what it saves on, `engines` what moves a body.
"""
