"""The version of the program this package belongs to."""
import os

_here = os.path.dirname(os.path.abspath(__file__))
for _path in (os.path.join(_here, "VERSION"), os.path.join(_here, "..", "..", "VERSION")):
    if os.path.exists(_path):
        with open(_path) as _f:
            VERSION = _f.read().strip()
        break
else:
    VERSION = "0"
