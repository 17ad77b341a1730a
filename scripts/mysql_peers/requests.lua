-- For wrk: one path after the other out of many made before, and what came of it as a line of JSON.
--   wrk ... -s requests.lua URL -- PATH [KEYS]      %d in PATH: a number from 1 to KEYS
local ready, next_one = {}, 0

function init(arguments)
  local path, keys = arguments[1], tonumber(arguments[2] or 1)
  math.randomseed(7)
  for i = 1, path:find("%d", 1, true) and 20000 or 1 do
    ready[i] = wrk.format("GET", (path:gsub("%%d", tostring(math.random(keys)))))
  end
end

function request()
  next_one = next_one % #ready + 1
  return ready[next_one]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\nREPORT {"requests": %d, "seconds": %.6f, "bytes": %d, "errors": %d, "p50_us": %d, "p99_us": %d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(50), latency:percentile(99)))
end
