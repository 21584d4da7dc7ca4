"""Tasks that come from elsewhere, go elsewhere, or move from one backend to the other."""
