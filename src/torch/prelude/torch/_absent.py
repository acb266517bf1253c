# Modules whose members are known and not supported.
_absent = None
