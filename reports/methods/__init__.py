"""What a paper says of a study, made from it: how it was done in prose, LaTeX tables, how to cite it, what changed."""
