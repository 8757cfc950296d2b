"""Pages and files of results: who may see one is said in each view's first line."""
