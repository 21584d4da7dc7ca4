"""The index of all tasks: what is listed, searched and sorted."""
