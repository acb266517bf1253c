#!/bin/bash
# The server under clients of all kinds, for SOAK_SECONDS: test/soak/serve.py.
exec python3 "$(dirname "$0")/serve.py"
