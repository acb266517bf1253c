# Sourced by tools/test and tools/agree.
# count_script CODE OUTPUT: prints "passed failed skipped" for a test: from its last line, if that is
# "N passed, N failed, N skipped", else from its exit code: 0 passed, 77 skipped, another failed.
count_script() {
	local rc=$1 line
	line=$(tail -n 1 "$2" | grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$')
	if [ -n "$line" ]; then
		set -- ${line//[^0-9 ]/}
		[ "$rc" != 0 ] && [ "$2" = 0 ] && set -- "$1" 1 "$3"
		echo "$1 $2 $3"
	elif [ "$rc" = 0 ]; then echo "1 0 0"
	elif [ "$rc" = 77 ]; then echo "0 0 1"
	else echo "0 1 0"
	fi
}
