"""What a figure says, described once: sections of words, plots and tables, of which each medium has a writer.

`model` is what a description is made of, `columns` the kinds of column, `vocabulary` what the columns of files are
called; `files`, `text` and `page` write it.
"""
