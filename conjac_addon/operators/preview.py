classes = ()
