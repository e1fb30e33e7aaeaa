"""What every test shares: hypothesis profiles, and a drawing backend that needs no display."""

import os
import signal

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

# Started in the background by a shell, a process ignores the interrupt, and so do its children:
# those that a test interrupts would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline, because the first call of a kernel may compile it; derandomized, so that a run which
# passed passes again. HYPOTHESIS_PROFILE=search looks for new counterexamples.
settings.register_profile("default", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
