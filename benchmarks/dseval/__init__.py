"""DSEval (MIT): do its validators pass what is played through the agent's tools, and is the namespace what it should be?

A scripted model is given the benchmark's own reference as each problem's answer, and works as any other: it inserts a cell,
runs it, and says that it is done. So nothing is measured of a model, and all of what the tools do to a notebook and its
kernel. The same references, run without the agent, are the baseline: where those fail, the benchmark does not fit these
packages or lacks a file.

DSEVAL is the path of a checkout of the benchmark. DSEVAL_PACKAGES is a folder with the packages of its time, which kernels
are given: pandas 2.2, NumPy 1.26, SciPy 1.13 and scikit-learn 1.5.
"""

from __future__ import annotations

from ._measure import measure

__all__ = ["measure"]
