#!/bin/bash
# Builds, runs and tests roost on Debian 12. `./build.sh help` lists the verbs.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"

# Debian packages, by what needs them. A verb asks only for its own.
readonly BUILD_PACKAGES=(g++ cmake ninja-build ragel pkg-config nlohmann-json3-dev libvalijson-dev libboost-dev
  libfmt-dev libre2-dev libc-ares-dev libhiredis-dev default-libmysqlclient-dev libjemalloc-dev zlib1g-dev libbrotli-dev libzstd-dev)
readonly TEST_PACKAGES=(catch2 clang-format curl python3 brotli zstd redis-server mariadb-server nodejs node-ws
  node-eventsource)
readonly PYTEST_PACKAGES=(python3-pytest python3-pytest-xdist python3-jsonschema python3-websockets
  python3-httpx)
readonly FULL_PACKAGES=(clang clang-tidy libclang-rt-14-dev llvm libbenchmark-dev libspdlog-dev)
readonly BENCH_PACKAGES=(python3 libbenchmark-dev libspdlog-dev nginx libnginx-mod-nchan lighttpd h2o wrk nghttp2-client strace
  valgrind)
readonly FORMAT_PACKAGES=(clang-format)

readonly MEMORY_PER_JOB_MB=1500            # what one compiler may take
FUZZ_SECONDS=${FUZZ_SECONDS:-60}           # per target in `test --full`

may_install=yes
cmake_definitions=()

usage() {
  cat <<'HELP'
usage: ./build.sh [VERB] [OPTION...]

  (none)            build the optimised server and the load generator, and leave links: ./server ./swarm
  run [ARGS...]     build, then serve html/ in the foreground (ARGS go to the server)
  build [PRESET]    release (default), debug, asan, tsan
  test              format, layers, generated files, unit and integration tests, the unit tests and a brief
                    fuzzing under ASan + UBSan, the multi-threaded ones under TSan, push and MySQL under torture with both
  test --full       as above, then push and MySQL under torture at full size, a million schedules of its hub, clang-tidy, all
                    unit and integration tests under every sanitizer, and FUZZ_SECONDS (60) of libFuzzer per target
  bench [NAME ...]  build and run all benchmarks, or one: static (this server beside its peers) or the
                    NAME of tests/bench/NAME_bench.cc; further arguments go to it
  format            format the sources in place
  generate          write anew what is generated and committed: the schema, its manual, the full sample
  clean             remove what was built
  help              this text

  --no-install      never install Debian packages; say which are missing instead
  -DNAME=VALUE      hand a CMake option on: -DROOST_MODULE_STATIC_FILES=OFF leaves that module out;
                    -DROOST_REDIS=OFF leaves out the Redis client, and with it hiredis; -DROOST_MYSQL=OFF the pool and
                    tables as JSON, and with them the MySQL client library; -DROOST_TLS=OFF is for what is to come
                    -DROOST_JEMALLOC=OFF uses the C library's heap, which gives memory back only near the cap

Builds live in build/<preset>. What is missing is installed with apt, through sudo when not root.
HELP
}

say() { printf '%s== %s%s\n' "$bold" "$*" "$plain"; }
fail() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }

bold='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then bold=$'\e[1m' plain=$'\e[0m'; fi

# --- packages ---------------------------------------------------------------------------------------------------------

# Prints those of the packages that are not installed. Asks dpkg alone, which takes a few milliseconds.
missing_packages() {
  local installed package
  installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "$@" 2>/dev/null || true)"
  for package in "$@"; do
    [[ $installed == *" installed:$package "* ]] || printf '%s\n' "$package"
  done
}

# Makes sure that the packages are there, installing what is missing.
need() {
  local package wanted=()  # without what only a part needs that an option leaves out
  for package in "$@"; do
    case "$package ${cmake_definitions[*]} " in
      "libhiredis-dev "*" -DROOST_REDIS=OFF "* | "libhiredis-dev -DROOST_REDIS=OFF "*) ;;
      "libjemalloc-dev "*" -DROOST_JEMALLOC=OFF "* | "libjemalloc-dev -DROOST_JEMALLOC=OFF "*) ;;
      "default-libmysqlclient-dev "*" -DROOST_MYSQL=OFF "* | "default-libmysqlclient-dev -DROOST_MYSQL=OFF "*) ;;
      *) wanted+=("$package") ;;
    esac
  done
  set -- "${wanted[@]}"
  if ! command -v dpkg-query >/dev/null; then
    say "no dpkg here: make sure that you have what these Debian packages hold: $*"
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  [[ $may_install == yes ]] || fail "missing packages: ${missing[*]}
  install them with: apt-get install --no-install-recommends ${missing[*]}"
  install_packages "${missing[@]}"
}

install_packages() {
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "these packages are missing, and there is no sudo to install them with: $*"
    as_root=(sudo)
  fi
  say "installing: $*"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300
    -o Acquire::http::Timeout=30)
  "${apt[@]}" update || say "the package lists could not be refreshed; going on with those that are here"
  # A benchmark's peer must not begin to serve on port 80 because it was installed.
  local policy=/usr/sbin/policy-rc.d made_policy=no rc=0
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
    made_policy=yes
  fi
  "${apt[@]}" install --no-install-recommends "$@" || rc=$?
  if [[ $made_policy == yes ]]; then "${as_root[@]}" rm -f "$policy"; fi
  ((rc == 0)) || fail "apt could not install: $*"
}

# --- building ---------------------------------------------------------------------------------------------------------

# One job per processor, fewer where memory is short.
jobs() {
  local count memory_kb=0 key value _
  count=$(nproc)
  if [[ -r /proc/meminfo ]]; then
    while read -r key value _; do [[ $key == MemAvailable: ]] && memory_kb=$value; done </proc/meminfo
    local fitting=$((memory_kb / 1024 / MEMORY_PER_JOB_MB))
    if ((memory_kb > 0 && fitting < count)); then count=$fitting; fi
  fi
  echo $((count > 0 ? count : 1))
}

# build_preset PRESET TARGET...
build_preset() {
  local preset=$1 folder=build/$1
  shift
  if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  if [[ ! -e $folder/build.ninja || CMakePresets.json -nt $folder/build.ninja || ${#cmake_definitions[@]} -gt 0 ]]; then
    cmake --preset "$preset" "${cmake_definitions[@]}" --log-level=NOTICE >/dev/null || return
  fi
  cmake --build "$folder" -j "$(jobs)" --target "$@"
}

# The server as people run it, and the link to it.
build_server() {
  local preset=${1:-release}
  case $preset in release | debug | asan | tsan) ;; *) fail "no such build: $preset (release, debug, asan, tsan)" ;; esac
  need "${BUILD_PACKAGES[@]}" $([[ $preset == release ]] || echo catch2)
  say "building $preset with $(jobs) jobs"
  build_preset "$preset" all
  ln -sfn "build/$preset/bin/server" server
  ln -sfn "build/$preset/bin/swarm" swarm
  say "built: ./server -> build/$preset/bin/server, and ./swarm beside it"
}

sources() {
  find src tests -type f \( -name '*.cc' -o -name '*.h' \) -print0
}

# --- testing ----------------------------------------------------------------------------------------------------------

summary=()
failures=0
readonly torture='torture or hostile'  # of the tests: what may find races and leaks
readonly torture_folders=(tests/integration/push tests/integration/mysql)

# step NAME COMMAND...: runs the command and keeps its verdict for the summary. Within it `set -e` has no effect, as it is
# a condition: the functions called here return the failures of their own commands.
step() {
  local name=$1 begin=$SECONDS verdict=ok
  shift
  say "$name"
  if ! "$@"; then
    verdict=FAILED
    failures=$((failures + 1))
  fi
  summary+=("$(printf '%-6s %5d s  %s' "$verdict" $((SECONDS - begin)) "$name")")
  [[ $verdict == ok ]]
}

print_summary() {
  say "summary"
  printf '%s\n' "${summary[@]}"
  if ((failures)); then
    printf '%s%d of %d steps failed%s\n' "$bold" "$failures" "${#summary[@]}" "$plain"
    return 1
  fi
  printf '%sall %d steps passed%s\n' "$bold" "${#summary[@]}" "$plain"
}

check_format() {
  sources | xargs -0 clang-format --dry-run --Werror
}

# python_with MODULES: prints an interpreter that has them, what python3 means here or the distribution's own.
python_with() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c "import $1" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# Sets `python`. xdist only makes the tests faster: they run without it where it can not be had.
need_pytest() {
  python=$(python_with 'pytest, xdist, websockets, httpx') && return
  if [[ $may_install == yes ]] && (need "${PYTEST_PACKAGES[@]}"); then
    python=/usr/bin/python3
  else
    python=$(python_with pytest) || fail "missing packages: ${PYTEST_PACKAGES[*]}"
  fi
}

# Runs a function with the sanitizers told to end the program at their first report.
sanitized() {
  local -x ASAN_OPTIONS=detect_stack_use_after_return=1:strict_init_order=1:abort_on_error=1
  local -x UBSAN_OPTIONS=print_stacktrace=1
  local -x TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
  "$@"
}

# TSan cannot bear much randomisation of addresses: what comes after "${fixed_addresses[@]}" runs without, where the
# system lets one choose.
fixed_addresses=()
if setarch "$(uname -m)" -R true 2>/dev/null; then fixed_addresses=(setarch "$(uname -m)" -R); fi

ctest_in() {
  local preset=$1
  shift
  "${fixed_addresses[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" "$@"
}

# pytest_with PRESET FOLDER...
pytest_with() {
  local preset=$1 parallel=()
  shift
  if "$python" -c 'import xdist' 2>/dev/null; then parallel=(-n "$(nproc)" --dist loadfile); fi
  ROOST_SERVER="$PWD/build/$preset/bin/server" "${fixed_addresses[@]}" "$python" -m pytest -q "${parallel[@]}" "$@"
}

# fuzz_one PROGRAM: fuzzes one target for FUZZ_SECONDS. Its output goes to a log, which is printed if it fails.
fuzz_one() {
  local name=${1##*/fuzz_} corpus log
  corpus=build/libfuzzer/corpus/$name
  log=build/libfuzzer/artifacts/$name.log
  mkdir -p "$corpus"
  if "$1" -max_total_time="$FUZZ_SECONDS" -print_final_stats=1 -artifact_prefix="build/libfuzzer/artifacts/$name-" \
    "$corpus" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
    printf '%-24s %s\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: */executions: /p' "$log")"
  else
    cat "$log"
    printf '%-24s FAILED; the input is in build/libfuzzer/artifacts/\n' "$name"
    return 1
  fi
}

# Fuzzes every target, one per processor at a time.
fuzz_long() {
  mkdir -p build/libfuzzer/artifacts
  export -f fuzz_one
  export FUZZ_SECONDS
  find build/libfuzzer/bin -maxdepth 1 -type f -name 'fuzz_*' -print0 | sort -z |
    xargs -0 -n 1 -P "$(nproc)" bash -c 'fuzz_one "$1"' fuzz_one
}

# Runs clang-tidy over every source. It reads the compile commands without the precompiled header, which is g++'s.
check_tidy() {
  local folder=build/checked/tidy
  mkdir -p "$folder"
  sed -E 's/ -Winvalid-pch//g; s/ -include [^ ]*cmake_pch\.hxx//g' build/checked/compile_commands.json \
    >"$folder/compile_commands.json"
  run-clang-tidy -quiet -p "$folder" -j "$(nproc)" "$PWD/src/.*\.cc" 2>"$folder/stderr" >"$folder/stdout" && return
  grep -E -A 4 'error:' "$folder/stdout"
  return 1
}

run_tests() {
  local full=no argument
  for argument in "$@"; do
    case $argument in --full) full=yes ;; *) fail "test: unknown argument $argument" ;; esac
  done
  need "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}" $([[ $full == no ]] || printf '%s\n' "${FULL_PACKAGES[@]}")
  need_pytest

  step "format" check_format || true
  step "layers" "$python" scripts/check_layers.py || true
  step "generated files" "$python" scripts/gen_config_docs.py --check || true

  if step "build, with assertions" build_preset checked all; then
    step "unit tests" ctest_in checked -LE fuzz || true
    step "integration tests" pytest_with checked tests/scripts tests/integration || true
  fi
  if step "build, ASan + UBSan" build_preset asan unit_all fuzz_all server; then
    step "unit tests and brief fuzzing, ASan + UBSan" sanitized ctest_in asan || true
    step "push and MySQL under torture, ASan + UBSan" sanitized pytest_with asan "${torture_folders[@]}" -k "$torture" || true
  fi
  if step "build, TSan" build_preset tsan unit_threads server; then
    step "multi-threaded unit tests, TSan" sanitized ctest_in tsan -L threads || true
    step "push and MySQL under torture, TSan" sanitized pytest_with tsan "${torture_folders[@]}" -k "$torture" || true
  fi
  if [[ $full == yes ]]; then run_full_tests; fi
  print_summary
}

run_full_tests() {
  ROOST_TORTURE=full step "push and MySQL under torture, in full" pytest_with checked "${torture_folders[@]}" -k "$torture" || true
  step "the push hub, a million schedules" build/checked/bin/unit_push '[schedules]' || true
  step "build, benchmarks" build_preset bench all || true
  step "clang-tidy" check_tidy || true
  if step "build everything, ASan + UBSan" build_preset asan all; then
    step "integration tests, ASan + UBSan" sanitized pytest_with asan tests/integration || true
  fi
  if step "build everything, TSan" build_preset tsan all; then
    step "all unit tests, TSan" sanitized ctest_in tsan -LE fuzz || true
    step "integration tests, TSan" sanitized pytest_with tsan tests/integration || true
  fi
  if step "build, libFuzzer" build_preset libfuzzer fuzz_all; then
    step "long fuzzing, $FUZZ_SECONDS s per target" sanitized fuzz_long || true
  fi
}

# run_benchmarks [NAME [ARGS...]]: all, or one: static (scripts/bench_static.py), or tests/bench/NAME_bench.cc.
run_benchmarks() {
  need "${BUILD_PACKAGES[@]}" "${BENCH_PACKAGES[@]}"
  build_preset bench all
  if (($#)); then
    run_benchmark "$@"
    return
  fi
  local program name
  for program in build/bench/bin/*_bench; do
    [[ -x $program ]] || continue
    name=${program##*/}
    run_benchmark "${name%_bench}"
  done
  run_benchmark static
}

run_benchmark() {
  local name=$1
  shift
  say "$name"
  case $name in
    static) python3 scripts/bench_static.py --server "$PWD/build/bench/bin/server" "$@" ;;
    parser) sh scripts/bench_parser.sh build/bench ;;
    *)
      [[ -x build/bench/bin/${name}_bench ]] || fail "no such benchmark: $name"
      "build/bench/bin/${name}_bench" "$@"
      ;;
  esac
}

# --- the command line -------------------------------------------------------------------------------------------------

main() {
  local verb='' arguments=() argument
  for argument in "$@"; do
    case $argument in
      --no-install) may_install=no ;;
      -D?*) cmake_definitions+=("$argument") ;;
      -h | --help) verb=help ;;
      *) if [[ -z $verb ]]; then verb=$argument; else arguments+=("$argument"); fi ;;
    esac
  done
  case ${verb:-build} in
    build) build_server "${arguments[@]}" ;;
    run)
      build_server release
      ((${#arguments[@]})) || arguments=(-f conf/server.json)
      exec ./server "${arguments[@]}"
      ;;
    test) run_tests "${arguments[@]}" ;;
    bench) run_benchmarks "${arguments[@]}" ;;
    format)
      need "${FORMAT_PACKAGES[@]}"
      sources | xargs -0 clang-format -i
      ;;
    generate)
      need "${BUILD_PACKAGES[@]}" catch2 python3
      build_preset checked server
      build/checked/bin/server --print-schema >conf/server.schema.json
      python3 scripts/gen_config_docs.py
      ;;
    clean) rm -rf build server swarm ;;
    help) usage ;;
    *)
      usage >&2
      fail "no such verb: $verb"
      ;;
  esac
}

main "$@"
