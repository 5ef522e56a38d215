"""Does a property notice when the specification is wrong? One small change at a time."""
