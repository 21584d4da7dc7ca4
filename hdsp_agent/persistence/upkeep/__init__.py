"""What keeps a storage folder in order: retention, quotas, backups, statistics, the doctor."""
