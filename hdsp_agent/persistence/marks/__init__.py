"""Marks on append-only logs, and the histories that follow from them."""
