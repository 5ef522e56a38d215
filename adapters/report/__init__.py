"""Documents for a person: one file per verb, from the document alone, as rich tables.

A report says nothing that is not in the document, so what a person reads and what a program reads
cannot differ.
"""
