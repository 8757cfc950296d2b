"""The laboratory's pages, in a study's shell."""
