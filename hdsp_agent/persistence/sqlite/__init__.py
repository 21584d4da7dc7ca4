"""Tasks kept in one SQLite database."""
