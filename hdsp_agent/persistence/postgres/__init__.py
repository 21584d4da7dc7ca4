"""Tasks kept in a PostgreSQL database."""
