"""Pages of the staff about judges, in a study's shell: runs and their calls, judges, prompts; and the endpoints."""
