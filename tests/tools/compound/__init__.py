"""The tools for weak models, on real files with real kernels."""
