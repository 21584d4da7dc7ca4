"""Files of JSON lines that are only ever appended to: written, read from either end, packed, and mended after a crash."""
