"""The JSON documents of the verbs: one model per verb, written atomically, with a JSON schema.

The fields are those of the command line's contract, and other tools read them: a field may be
added, never renamed or removed, within one number of the `schema` field.
"""
