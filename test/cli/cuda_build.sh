#!/bin/bash
# make cuda: attention is compiled again when the headers of cuDNN appear and when they go, and make says which
# attention it built. A script stands in for the compiler.
set -eu
fail() { echo "cuda_build.sh: $*"; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export HOME=$tmp XDG_CACHE_HOME=$tmp
cat >"$tmp/nvcc" <<'END'
#!/bin/sh
echo "$*" >>"$(dirname "$0")/calls"
while [ $# -gt 0 ]; do
	if [ "$1" = -o ] || [ "$1" = -MF ]; then : >"$2"; fi
	shift
done
END
chmod +x "$tmp/nvcc"
build() {
	: >"$tmp/calls"
	make -C "$(dirname "$0")/../.." --no-print-directory cuda NVCC="$tmp/nvcc" B="$tmp/build" CUDNN_FRONTEND="$tmp/front" >"$tmp/out" 2>&1 ||
		fail "$(tail -3 "$tmp/out")"
}
attention() { grep -c 'src/ops/cuda/attn_cudnn.cpp$' "$tmp/calls" || true; }
build
[ "$(wc -l <"$tmp/calls")" -gt 10 ] && [ "$(attention)" = 1 ] || fail "the first build: $(cat "$tmp/calls")"
build
[ ! -s "$tmp/calls" ] || fail "builds again without a reason: $(cat "$tmp/calls")"
mkdir "$tmp/front"
touch "$tmp/front/cudnn_frontend.h" "$tmp/front/cudnn.h"
build
[ "$(attention)" = 1 ] && grep -q -e "-I$tmp/front.*attn_cudnn.cpp" "$tmp/calls" || fail "headers that appear are not noticed: $(cat "$tmp/calls")"
[ "$(wc -l <"$tmp/calls")" = 2 ] || fail "more than attention and the link is done again: $(cat "$tmp/calls")"
grep -q "attention: cuDNN with the frontend in $tmp/front" "$tmp/out" || fail "make does not say so: $(cat "$tmp/out")"
rm -r "$tmp/front"
build
[ "$(attention)" = 1 ] || fail "headers that are gone are not noticed"
