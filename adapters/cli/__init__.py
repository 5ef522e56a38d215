"""The command line. One file per verb here, and its binding to the engine in `bindings/`.

Nothing is imported at the top of a verb's file but typer and what is light itself: the `--help` of
any verb loads no engine, no document and no rich (a test measures it).
"""
