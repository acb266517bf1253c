#!/bin/bash
# The judge under random kills: see judge.py. SOAK_COUNT candidates, or as many as SOAK_SECONDS allow.
exec python3 "$(dirname "$0")/judge.py" "${SOAK_COUNT:-$((SOAK_SECONDS * 60))}"
