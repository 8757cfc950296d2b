"""PostgreSQL as Django's backend has it, whose pool gets over a restart of the database at once."""
