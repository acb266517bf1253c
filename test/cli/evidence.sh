#!/bin/bash
# The evidence of a verdict: elements are compared at full size although a later kernel continues with a step that the
# reference computes in place, and although no axis of a task can be reduced.
set -eu
here=test/honest

evidence() { # CANDIDATE TASK: verdict, evidence, whether elements were compared
	"$TRITONRL" verify "$1" --task "$2" --json --quiet --no-general | python3 -c '
import json, sys
v = json.loads(sys.stdin.read())
print(v["verdict"], v["evidence"], (v["full_size_elements"] or 0) > 0)'
}
check() { # NAME CANDIDATE TASK
	got=$(evidence "$2" "$3")
	[ "$got" = "correct compared True" ] || { echo "evidence.sh: $1: $got"; exit 1; }
}

check "a step in place" $here/conv_steps.py $here/tasks/conv_steps.py
check "a step that changes nothing at small sizes" $here/linear_floor.py $here/tasks/linear_floor.py
check "a weight made of a part" $here/linear_wide.py $here/tasks/linear_wide.py

check "a task without an axis that can be reduced" $here/conv_once.py $here/tasks/conv_once.py
echo "evidence.sh: passed"
