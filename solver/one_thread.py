"""BLAS and OpenMP on one thread. Import this before numpy, scipy and scikit-sparse, which read it when they load.

On two cores they cost kernels more than they give. Another number gives other bytes, too, as it sums products in
another order, so what the user's environment says does not count. Debian's CHOLMOD opens an OpenMP region of its own
whatever OMP_NUM_THREADS says, so OpenMP is limited.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_THREAD_LIMIT"):
    os.environ[_name] = "1"
