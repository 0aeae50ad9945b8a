#!lua flags=allow-oom
-- The shared budget in Redis: one operation a call, all windows or none. Times are this server's, so members' clocks
-- do not matter. A server that is full takes what stands here all the same: it is little, and a quota that is not
-- counted would be overrun. Every key has the hash tag {scigate}, so that all of them live in one slot of a cluster.
--
-- KEYS   1 sent: sorted set of token ids by the time they were sent     4 fleet: sorted set of members by last beat
--        2 out: sorted set of token ids not yet sent, by lease's end    5 reports: hash of each member's own figures
--        3 pace: hash                                                   6 birth: hash, run id and times
-- ARGV   1 operation   2 member   3 run id of the server, as the member knows it   4 the time after which the member
--        no longer waits for an answer   then as each operation says

local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local sent, out, pace, fleet, reports, birth = unpack(KEYS)
local operation, member = ARGV[1], ARGV[2]

-- What arrives after its sender has given up would count somebody as present, or a token as taken, that is not. What
-- was sent, was sent, however late that is told.
if now > tonumber(ARGV[4]) and (operation == 'take' or operation == 'meet') then return {} end

local STALE_S, GONE_S, SHORT_S, STEP_S, GAP_S = 3, 60, 10, 5, 0.25

local function text(number) return string.format('%.6f', number) end

-- A server that was started anew may have forgotten what was sent a moment ago: short windows are waited out, from the
-- time at which the former one had granted its last token, where a member can tell that. What a server does in its first
-- GAP_S is grant nothing: so one that lived between two refusals that a member met has granted nothing.
-- Gives the time of the first call and the time since which no forgotten token was sent.
local function born(idle)
  if redis.call('HGET', birth, 'run') ~= ARGV[3] then
    redis.call('HSET', birth, 'run', ARGV[3], 'at', text(now), 'idle', text(now))
    -- One that kept its data has not seen these members, who may be sending alone.
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', fleet, '(' .. text(now - STALE_S), '+inf')) do
      redis.call('ZADD', fleet, text(now - STALE_S), id)
    end
  end
  local at, since = unpack(redis.call('HMGET', birth, 'at', 'idle'))
  at, since = tonumber(at), tonumber(since or at)
  if idle and now - idle < since then
    since = now - idle
    redis.call('HSET', birth, 'idle', text(since))
  end
  return at, since
end

-- Members that fell silent without signing off may be using their share: it is kept for them for GONE_S.
local function silent_ranks()
  local ranks = {}
  if redis.call('ZCOUNT', fleet, '-inf', text(now - STALE_S)) == 0 then return ranks, redis.call('ZCARD', fleet) end
  local members = redis.call('ZRANGEBYSCORE', fleet, '(' .. text(now - GONE_S), '+inf', 'WITHSCORES')
  local ids, seen = {}, {}
  for i = 1, #members, 2 do
    ids[#ids + 1] = members[i]
    seen[members[i]] = tonumber(members[i + 1])
  end
  table.sort(ids)
  for rank, id in ipairs(ids) do
    if seen[id] <= now - STALE_S and id ~= member then ranks[#ranks + 1] = rank - 1 end
  end
  return ranks, #ids
end

local function slowing(interval)
  local state = redis.call('HMGET', pace, 'paused_until', 'spacing', 'recover_at', 'cause', 'last_start')
  local paused_until, spacing = tonumber(state[1] or 0), tonumber(state[2] or 0)
  local recover_at, last_start = tonumber(state[3] or 0), tonumber(state[5] or 0)
  while spacing > 0 and now >= recover_at do
    recover_at = recover_at + STEP_S
    spacing = spacing / 2
    if spacing <= interval then spacing = 0 end
  end
  return paused_until, spacing, recover_at, state[4] or '', last_start
end

-- ARGV 5 token id, empty to look only; 6 lease in seconds; 7 interval; 8 size that the fleet has at least;
--      then limit and held seconds of each window
-- Gives wait (0: granted), pause, spacing, recovery, cause, seconds for which nobody can be granted anything (-1: a token
-- that is out may be given back), seconds since the last request was sent, and how much of each window is used.
local function take()
  local id, interval = ARGV[5], tonumber(ARGV[7])
  redis.call('ZREMRANGEBYSCORE', out, '-inf', text(now))
  local unsent = redis.call('ZCARD', out)
  local started, idle_since = born()
  local silent, known = silent_ranks()
  local size = math.max(known, tonumber(ARGV[8]))
  -- Where no window is waited out, a member that began while the server was away may not have found it yet.
  local unseen = idle_since < started and now < started + STALE_S and size - known or 0
  local paused_until, spacing, recover_at, cause, last_start = slowing(interval)
  local wait = math.max(0, paused_until - now)
  if spacing > 0 then wait = math.max(wait, last_start + spacing - now) end
  local used, longest, closed = {}, 0, 0
  for i = 9, #ARGV, 2 do
    local full, held = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
    local limit = full
    for _, rank in ipairs(silent) do
      limit = limit - math.floor(full / size) - (rank < full % size and 1 or 0)
    end
    local short = held <= SHORT_S + 1
    if short then limit = limit - unseen * math.floor(full / size) end
    longest = math.max(longest, held)
    local from = '(' .. text(now - held)
    local count = redis.call('ZCOUNT', sent, from, '+inf')
    local over = count + unsent - limit
    if limit < 1 then
      wait = math.max(wait, STALE_S)
    elseif over >= 0 then
      local freeing = over < count and redis.call('ZRANGEBYSCORE', sent, from, '+inf', 'WITHSCORES', 'LIMIT', over, 1)
      local over_s = freeing and tonumber(freeing[2]) + held - now or held
      wait = math.max(wait, over_s)
      -- Not where a member that was silent may give its share back.
      if #silent == 0 and freeing then closed = math.max(closed, over_s) end
    end
    if short then wait = math.max(wait, idle_since + held - now, started + GAP_S - now) end
    used[#used + 1] = count + unsent
  end
  redis.call('ZREMRANGEBYSCORE', sent, '-inf', text(now - longest))
  if wait <= 0 and id ~= '' then
    redis.call('ZADD', out, text(now + tonumber(ARGV[6])), id)
    if spacing > 0 then redis.call('HSET', pace, 'last_start', text(now)) end
  end
  local newest = redis.call('ZREVRANGE', sent, 0, 0, 'WITHSCORES')
  return { text(math.max(wait, 0)), text(math.max(0, paused_until - now)), text(spacing),
    text(math.max(0, recover_at - now)), cause, text(unsent > 0 and -1 or closed), text(now - tonumber(newest[2] or 0)), unpack(used) }
end

-- ARGV 5 and on: pairs of token id and how many seconds ago, at the latest, it was sent. One that is known stays as it
-- is: a member repeats what it sent to a server that may have forgotten it.
local function count()
  for i = 5, #ARGV, 2 do
    redis.call('ZREM', out, ARGV[i])
    redis.call('ZADD', sent, 'NX', text(now - tonumber(ARGV[i + 1])), ARGV[i])
  end
  return 'OK'
end

-- ARGV 5 and on: ids of tokens that are not going to be sent.
local function free()
  for i = 5, #ARGV do redis.call('ZREM', out, ARGV[i]) end
  return 'OK'
end

-- ARGV 5 pause, 6 spacing, 7 recovery, 8 cause, 9 interval
local function slow()
  local paused_until, spacing, recover_at = slowing(tonumber(ARGV[9]))
  redis.call('HSET', pace,
    'paused_until', text(math.max(paused_until, now + tonumber(ARGV[5]))),
    'spacing', text(math.max(spacing, tonumber(ARGV[6]))),
    'recover_at', text(math.max(recover_at, now + tonumber(ARGV[7]))),
    'cause', ARGV[8])
  return 'OK'
end

-- ARGV 5 the member's report; 6 seconds for which no forgotten token was sent, empty where it cannot tell;
--      7 and on: members that it knows of, which a server started anew does not
-- Gives the server's time and every member of the fleet, sorted.
local function meet()
  born(tonumber(ARGV[6]))
  -- GT: one that kept its data has seen them last before it died.
  for i = 7, #ARGV do redis.call('ZADD', fleet, 'GT', text(now - STALE_S), ARGV[i]) end
  redis.call('ZADD', fleet, text(now), member)
  redis.call('HSET', reports, member, ARGV[5])
  local gone = redis.call('ZRANGEBYSCORE', fleet, '-inf', text(now - GONE_S))
  for _, id in ipairs(gone) do
    redis.call('ZREM', fleet, id)
    redis.call('HDEL', reports, id)
  end
  local ids = redis.call('ZRANGE', fleet, 0, -1)
  table.sort(ids)
  return { text(now), unpack(ids) }
end

-- Gives what each member that is not silent reports.
local function survey()
  local texts = {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', fleet, '(' .. text(now - STALE_S), '+inf')) do
    texts[#texts + 1] = redis.call('HGET', reports, id) or ''
  end
  return texts
end

local function part()
  redis.call('ZREM', fleet, member)
  redis.call('HDEL', reports, member)
  return 'OK'
end

return ({ take = take, count = count, free = free, slow = slow, meet = meet, survey = survey, part = part })[operation]()
