"""How a file of each format is read as a table, one function each; `files.READERS` lists them."""
