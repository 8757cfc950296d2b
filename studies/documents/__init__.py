"""Documents that people write, read strictly: instruments, studies and their tables of stories."""
