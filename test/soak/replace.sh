#!/bin/bash
# Kills a program that replaces a file all the time, at random moments: the file is always whole.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
end=$((SECONDS + SOAK_SECONDS)) kills=0
while [ $SECONDS -lt $end ]; do
	"$BUILD_DIR/tool/replace_loop" "$work/f" &
	pid=$!
	sleep 0.0$((RANDOM % 90 + 10))
	kill -9 $pid
	wait $pid 2>/dev/null || true
	kills=$((kills + 1))
	[ -e "$work/f" ] || continue
	want=$(head -n 1 "$work/f")
	got=$(tail -n +2 "$work/f" | tr -d '\n' | wc -c)
	letters=$(tail -n +2 "$work/f" | fold -w 1 | sort -u | wc -l)
	[ "$want" = "$got" ] && [ "$letters" -le 1 ] || { echo "replace: $want announced, $got found after kill $kills"; exit 1; }
	rm -f "$work"/f.tmp-*
done
echo "replace: $kills kills in $SOAK_SECONDS s, the file was whole each time"
