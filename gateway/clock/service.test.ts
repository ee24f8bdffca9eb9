/** The till's clock together with the Steam sandbox's, with a real sandbox and a real database. */
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningSteam, startSteam } from '../../steam-sandbox/start.ts'
import { type Database, openDatabase } from '../db/client.ts'
import { type AdvanceableClock, createTillClock } from '../kit/clock.ts'
import { runCommand } from '../testing/command.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { type CapturedLog, captureLog } from '../testing/log.ts'
import { sandboxClock } from './sandbox.ts'
import { advanceClock, createFollower, openClock } from './service.ts'
import { MOST_AHEAD_S, readClockAhead } from './store.ts'

const DAY_S = 86_400
const DAY_MS = 86_400_000
/** An address at which nothing listens. */
const NOWHERE = 'http://127.0.0.1:9'

let steam: RunningSteam
/** The till's database, on connections that do not set sandbox mode. */
let database: TestDatabase
/** The same database, on connections that set sandbox mode. */
let sandboxMode: Database
let captured: CapturedLog

beforeEach(async () => {
  steam = await startSteam({ port: 0 })
  database = await testDatabase()
  sandboxMode = openDatabase(database.url, 2, 'sandbox')
  captured = captureLog()
})
afterEach(async () => {
  await steam.close()
  await sandboxMode.close()
  await database.close()
})

const advance = (duration: string, sandboxUrl: string | undefined = steam.url) =>
  advanceClock({ db: sandboxMode.db, sandboxUrl }, duration)

const steamAheadS = () => sandboxClock(steam.url).ahead()

/** One gateway process, reduced to its clock and the function that updates it. */
function aProcess(sandboxUrl = steam.url) {
  const clock: AdvanceableClock = createTillClock()
  const jumps: number[] = []
  const onAdvance = () => jumps.push(clock.aheadMs())
  const { log } = captured
  return { clock, jumps, follow: createFollower({ db: sandboxMode.db, clock, sandboxUrl, log, onAdvance }) }
}

describe('advancing', () => {
  it('D-40 moves the till and its Steam equally far, and can be repeated', async () => {
    expect(await advance('8d')).toEqual({ kind: 'advanced', aheadS: 8 * DAY_S })
    expect(await advance('90s')).toEqual({ kind: 'advanced', aheadS: 8 * DAY_S + 90 })
    expect(await readClockAhead(sandboxMode.db)).toBe(8 * DAY_S + 90)
    expect(await steamAheadS()).toBe(8 * DAY_S + 90)
  })

  it('D-40 counts both of two simultaneous calls', async () => {
    await Promise.all([advance('1d'), advance('2d')])
    expect([await readClockAhead(sandboxMode.db), await steamAheadS()]).toEqual([3 * DAY_S, 3 * DAY_S])
  })

  it('brings a Steam that is behind, because its data was removed, to the till’s time', async () => {
    await advance('8d')
    steam.reset()
    expect(await advance('1d')).toEqual({ kind: 'advanced', aheadS: 9 * DAY_S })
    expect(await steamAheadS()).toBe(9 * DAY_S)
  })

  it.each([
    ['8 days', 'not_a_duration'],
    ['401d', 'too_far'],
  ])('with the duration "%s" is refused, and nothing moves', async (duration, reason) => {
    expect(await advance(duration)).toEqual({ kind: 'refused', reason })
    expect([await readClockAhead(sandboxMode.db), await steamAheadS()]).toEqual([0, 0])
  })

  it('is refused beyond 400 days in all, and nothing moves', async () => {
    await advance('400d')
    expect(await advance('1s')).toEqual({ kind: 'refused', reason: 'too_far' })
    expect([await readClockAhead(sandboxMode.db), await steamAheadS()]).toEqual([MOST_AHEAD_S, MOST_AHEAD_S])
  })

  it('is refused if no sandbox answers, and the till does not move', async () => {
    expect(await advance('8d', NOWHERE)).toEqual({ kind: 'refused', reason: 'no_sandbox' })
    expect(await readClockAhead(sandboxMode.db)).toBe(0)
  })
})

describe('following', () => {
  it('D-40 brings every process to the advanced sandbox’s time, and calls onAdvance() once in each process', async () => {
    const processes = [aProcess(), aProcess()]
    const followAll = () => Promise.all(processes.map(({ follow }) => follow()))
    await followAll()
    expect(processes.map(({ jumps }) => jumps)).toEqual([[], []])
    steam.advance(8 * DAY_S)
    await followAll()
    await followAll()
    expect(processes.map(({ jumps }) => jumps)).toEqual([[8 * DAY_MS], [8 * DAY_MS]])
    expect(await readClockAhead(sandboxMode.db)).toBe(8 * DAY_S)
  })

  it('uses the time in the database while the sandbox does not answer', async () => {
    await advance('8d')
    const { follow, clock } = aProcess(NOWHERE)
    await follow()
    expect(clock.aheadMs()).toBe(8 * DAY_MS)
  })

  it('never goes back, and advances a sandbox that restarted at today’s time', async () => {
    steam.advance(8 * DAY_S)
    const { follow, clock } = aProcess()
    await follow()
    steam.reset()
    await follow()
    expect(clock.aheadMs()).toBe(8 * DAY_MS)
    expect(await steamAheadS()).toBe(8 * DAY_S)
  })

  it('stops at 400 days, and logs that once', async () => {
    steam.advance(500 * DAY_S)
    const { follow, clock } = aProcess()
    await follow()
    await follow()
    expect(clock.aheadMs()).toBe(MOST_AHEAD_S * 1_000)
    const errors = captured.lines.filter((line) => line.includes('further than the till can follow'))
    expect(errors).toHaveLength(1)
  })
})

describe('the SQL function till_now()', () => {
  const secondsAhead = async ({ db }: Pick<Database, 'db'>) => {
    const { rows } = await sql<{ ahead: number }>`
      select extract(epoch from till_now() - now())::int as ahead`.execute(db)
    return rows[0]?.ahead
  }

  it('D-40 is ahead on the connections of sandbox mode only', async () => {
    expect(await secondsAhead(sandboxMode)).toBe(0)
    await advance('8d')
    expect(await secondsAhead(sandboxMode)).toBe(8 * DAY_S)
    expect(await secondsAhead(database)).toBe(0)
  })

  it('uses a now() that precedes PostgreSQL’s own in the search path, such as the simulation’s', async () => {
    await sql`create schema sim`.execute(sandboxMode.db)
    await sql`create function sim.now() returns timestamptz language sql stable
      as ${sql.lit("select timestamptz '2030-01-01 00:00Z'")}`.execute(sandboxMode.db)
    const rows = await sandboxMode.db.connection().execute(async (db) => {
      await sql`set search_path = sim, pg_catalog, public`.execute(db)
      const answer = await sql<{ time: Date }>`select till_now() as time`.execute(db)
      await sql`reset search_path`.execute(db)
      return answer.rows
    })
    expect(rows).toEqual([{ time: new Date('2030-01-01T00:00:00Z') }])
  })

  it('is the only function, and the only column default except the migrations’, that reads the time', async () => {
    const { rows } = await sql<{ name: string; value: string }>`
      select attrelid::regclass::text as name, pg_get_expr(adbin, adrelid) as value
      from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
      join pg_class on pg_class.oid = adrelid
      where relnamespace = 'public'::regnamespace and pg_get_expr(adbin, adrelid) ~* 'now|current_|clock_'
      order by 1`.execute(database.db)
    // Migrations are dated by the machine's clock.
    const defaults = rows.filter(({ name }) => name !== 'migration')
    expect(defaults.length).toBeGreaterThan(5)
    expect(defaults.filter(({ value }) => value !== 'till_now()')).toEqual([])
    const functions = await sql<{ name: string }>`
      select proname as name from pg_proc where pronamespace = 'public'::regnamespace
        and prosrc ~* '\\mnow\\(|current_(time|date)|clock_timestamp'`.execute(database.db)
    expect(functions.rows).toEqual([{ name: 'till_now' }])
  })
})

describe('the clock of live mode', () => {
  const LIVE = {
    TRADETILL_MODE: 'live',
    TRADETILL_TRUSTED_PROXIES: '127.0.0.1',
    TRADETILL_PUBLIC_URL: 'https://pay.example',
    TRADETILL_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  }

  it('D-40 cannot be advanced: the command is refused and writes nothing', async () => {
    const args = ['clock', 'advance', '8d']
    const { code, out, errors } = await runCommand(args, { databaseUrl: database.url, env: LIVE })
    expect({ code, out }).toEqual({ code: 4, out: '' })
    expect(errors).toContain('cannot be advanced in live mode')
    expect(await readClockAhead(database.db)).toBe(0)
    expect(await advanceClock({ db: database.db, sandboxUrl: undefined }, '8d')).toEqual({
      kind: 'refused',
      reason: 'live_mode',
    })
  })

  it('D-40 shows the machine’s time, even on a database whose clock a sandbox advanced', async () => {
    await advance('8d')
    const time = new Date(0)
    expect((await openClock(database.db, 'live')).machineTime(time)).toEqual(time)
    expect((await openClock(database.db, 'sandbox')).machineTime(time)).toEqual(new Date(-8 * DAY_MS))
  })
})

describe('tradetill clock advance', () => {
  const run = (...args: string[]) => {
    const env = { TRADETILL_STEAM_SANDBOX_URL: steam.url }
    return runCommand(['clock', 'advance', ...args], { databaseUrl: database.url, env })
  }

  it('records the act, and prints how far ahead the clock is', async () => {
    expect(await run('8d', '--by', 'Ada', '--reason', 'a release')).toMatchObject({ code: 0, errors: '' })
    const { rows } = await sql<{ row: string }>`select operator_act::text as row from operator_act`.execute(
      database.db,
    )
    expect(rows.map(({ row }) => row)).toEqual([expect.stringMatching(/Ada.*clock advance.*8d.*a release/)])
    const { out } = await run('90s')
    expect(out).toContain('8 days 1 minute 30 seconds ahead')
  })

  it.each([
    [[], 2, /DURATION is required/],
    [['soon'], 2, /whole number and s, m, h or d/],
    [['401d'], 4, /at most 400 days/],
  ])('%j is refused with code %i and the reason', async (args, exitCode, reason) => {
    const { code, errors } = await run(...args)
    expect(code).toBe(exitCode)
    expect(errors).toMatch(reason)
    const acts = await sql`select from operator_act`.execute(database.db)
    expect(acts.rows).toEqual([])
  })

  it('says that nothing was advanced if no sandbox answers', async () => {
    const env = { TRADETILL_STEAM_SANDBOX_URL: NOWHERE }
    const { code, errors } = await runCommand(['clock', 'advance', '8d'], { databaseUrl: database.url, env })
    expect(code).toBe(1)
    expect(errors).toContain('nothing was advanced')
  })
})
