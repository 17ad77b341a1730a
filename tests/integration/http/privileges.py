"""Running the server as somebody whom file modes stop, even where the tests run as root."""

import ctypes

PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2


def without_file_privileges():
    """To be run in the child before exec; without effect for an ordinary user, who has none."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
