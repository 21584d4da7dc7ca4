"""Keys and passwords are taken out of what is recorded."""
