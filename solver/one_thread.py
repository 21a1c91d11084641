"""BLAS and OpenMP on one thread. Import this before numpy, scipy and scikit-sparse, which read the variables when they
load.

On two cores more threads cost kernels more than they gain. Another number also changes the last digits, as products are
summed in another order, so the user's environment is overridden. Debian's CHOLMOD opens an OpenMP region of its own
whatever OMP_NUM_THREADS is, so OpenMP is limited.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_THREAD_LIMIT"):
    os.environ[_name] = "1"
