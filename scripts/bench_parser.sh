#!/bin/sh
# Nanoseconds and instructions per request of the request parsers: scripts/bench_parser.sh [build folder]
# Needs a build with -DROOST_BENCH=ON and valgrind. Instructions are the difference of two runs under callgrind, so
# that what a process costs by itself drops out.
set -eu
build=${1:-build/release}
bench=$build/bin/parser_bench
[ -x "$bench" ] || { echo "no $bench: build it with -DROOST_BENCH=ON" >&2; exit 1; }

"$bench"

instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" "$1" "$2" "$3" 2>&1 |
    sed -n 's/.*Collected *: *\([0-9]*\).*/\1/p'
}

printf '\n%-16s%15s%15s%15s%15s%15s\n' 'instructions' short short-split browser browser-split browser-bytes
for parser in handwritten ragel-generic ragel-sse2 ragel-avx2; do
  printf '%-16s' "$parser"
  for what in short short-split browser browser-split browser-bytes; do
    few=$(instructions "$parser" "$what" 1000)
    many=$(instructions "$parser" "$what" 3000)
    printf '%15d' $(((many - few) / 2000))
  done
  printf '\n'
done
