"""Tasks kept in the tables of a database: what all such backends share."""
