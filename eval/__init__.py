"""Statistics, records and reports of played games."""
