"""One file per verb: the request, the call of the engine, and the document from its result."""
