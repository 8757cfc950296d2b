"""Pages of the staff about one study, in its shell: who may see them is said in each view's first line."""
