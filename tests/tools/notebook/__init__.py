"""The tools for notebooks, on real files with real kernels."""
