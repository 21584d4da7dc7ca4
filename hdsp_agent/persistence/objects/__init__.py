"""Where bytes are kept under keys: an S3-compatible store, or a folder on a shared disk."""
