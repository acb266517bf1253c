# Modules whose members are known but not supported.
_absent = None
