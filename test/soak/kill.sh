#!/bin/bash
# A run is killed with SIGKILL at random moments and started again until it is through, again and again until there
# were KILLS kills: alone, with a bucket, on two ranks, on two ranks with a bucket. SOAK_SEED=.
exec python3 "$(dirname "$0")/kill.py" "${KILLS:-100}"
