/** Counts the requests that reach Steam, on a clock that the test advances. */
import { describe, expect, it } from 'vitest'
import { createManualClock, type ManualClock } from '../testing/manual-clock.ts'
import { METHODS, type Method } from './methods.ts'
import { type Asker, createTurns, type HeldBack, type Outcome } from './turns.ts'

const DEADLINE_MS = 10_000
const WATCH_MS = 5_000
const HOUR_MS = 3_600_000
const METHOD_NAMES = Object.keys(METHODS) as Method[]

type SentRequest = { method: Method; account: string; atMs: number; outcome: Outcome }

/** `steam` answers the requests. `requests` records them. */
function aFleet(
  time: ManualClock,
  steam: (request: Omit<SentRequest, 'outcome'>) => Outcome = () => 'answered',
  gateways: () => number = () => 1,
) {
  const requests: SentRequest[] = []
  const heldBack: [Method, HeldBack][] = []
  const turns = createTurns({
    time,
    random: () => 0,
    observer: { request() {}, heldBack: (method, why) => void heldBack.push([method, why]) },
    gateways,
  })
  const ask = (method: Method, account: string, ms = DEADLINE_MS) =>
    turns.of(account).ask<{ kind: Outcome }>({
      method,
      ms,
      async make() {
        const request = { method, account, atMs: time.now() }
        const outcome = steam(request)
        requests.push({ ...request, outcome })
        return { kind: outcome }
      },
      judge: ({ kind }) => kind,
    })
  return { requests, heldBack, ask, turns }
}

const bots = (count: number) => Array.from({ length: count }, (_, index) => `bot ${index}`)

/** The most requests within any `ms` milliseconds. */
function mostWithin(requests: readonly SentRequest[], ms: number): number {
  return Math.max(
    0,
    ...requests.map(
      ({ atMs }) => requests.filter((other) => other.atMs >= atMs && other.atMs < atMs + ms).length,
    ),
  )
}

/** Requests that came within the shortest pause after the last refusal. */
function duringPauses(requests: readonly SentRequest[]): SentRequest[] {
  let refusedAtMs = Number.NEGATIVE_INFINITY
  return requests.filter(({ atMs, outcome }) => {
    const isTooSoon = atMs > refusedAtMs && atMs < refusedAtMs + 30_000
    if (outcome === 'limited') refusedAtMs = atMs
    return isTooSoon
  })
}

describe('bots on one address', () => {
  it('that start together log in at the rate of the budget', async () => {
    const time = createManualClock()
    const { requests, ask } = aFleet(time)
    const logIn = async (bot: string): Promise<void> => {
      for (;;) {
        const { kind } = await ask('login', bot)
        if (kind === 'answered') return
        await time.pause(1_000)
      }
    }
    const started = Promise.all(bots(50).map(logIn))
    await time.advance(60_000)
    await started
    expect(requests).toHaveLength(50)
    const { burst, everyMs } = METHODS.login.address
    expect(mostWithin(requests, 10_000)).toBeLessThanOrEqual(burst + 10_000 / everyMs)
  })

  it('share its budget with a second gateway, so each makes at most half of the requests', async () => {
    const time = createManualClock()
    let gateways = 1
    const { requests, ask } = aFleet(
      time,
      () => 'answered',
      () => gateways,
    )
    gateways = 2
    for (let n = 0; n < 400; n += 1) {
      void ask('inventory', 'nobody')
      await time.advance(1_000)
    }
    const { burst, everyMs } = METHODS.inventory.address
    expect(requests.length).toBeGreaterThan(50)
    expect(requests.length).toBeLessThanOrEqual(burst / 2 + 400_000 / (2 * everyMs))
  })

  it('that get 429 for an hour send nothing during a pause, and pause for up to ten minutes', async () => {
    const time = createManualClock()
    const { requests, ask } = aFleet(time, () => 'limited')
    for (let atMs = 0; atMs < HOUR_MS; atMs += WATCH_MS) {
      for (const bot of bots(50)) {
        void ask('GetTradeOffers', bot)
        void ask('GetTradeStatus', bot)
        void ask('cancel', bot)
      }
      await time.advance(WATCH_MS)
    }
    for (const method of ['GetTradeOffers', 'GetTradeStatus', 'cancel'] as const) {
      const sent = requests.filter((request) => request.method === method)
      // All 50 requests were running when the first refusal came. From then on, one request at a time probes for the
      // entire address.
      const [first, later] = [sent.filter(({ atMs }) => atMs === 0), sent.filter(({ atMs }) => atMs > 0)]
      expect(first).toHaveLength(50)
      expect(duringPauses([...first.slice(0, 1), ...later])).toEqual([])
      // Each pause is twice as long as the one before, up to ten minutes.
      expect(later.map(({ atMs }) => atMs / 1_000)).toEqual([
        30, 90, 210, 450, 930, 1_530, 2_130, 2_730, 3_330,
      ])
    }
  })

  it('continue while Steam refuses one of them, and only that one pauses', async () => {
    const time = createManualClock()
    const { requests, ask, heldBack } = aFleet(time, ({ account }) =>
      account === 'bot 7' ? 'limited' : 'answered',
    )
    for (let atMs = 0; atMs < HOUR_MS; atMs += WATCH_MS) {
      for (const bot of bots(50)) void ask('GetTradeOffers', bot)
      await time.advance(WATCH_MS)
    }
    const requestsOf = (account: string) => requests.filter((request) => request.account === account)
    expect(duringPauses(requestsOf('bot 7'))).toEqual([])
    expect(requestsOf('bot 7')).toHaveLength(10)
    expect(requestsOf('bot 8')).toHaveLength(HOUR_MS / WATCH_MS)
    expect(heldBack).toHaveLength(HOUR_MS / WATCH_MS - 10)
  })

  it('continue while Steam refuses some of them and answers others between the refusals', async () => {
    const time = createManualClock()
    const limited = new Set(['bot 1', 'bot 4', 'bot 7'])
    const { ask } = aFleet(time, ({ account }) => (limited.has(account) ? 'limited' : 'answered'))
    for (const account of bots(10)) await ask('GetTradeHoldDurations', account)
    const secondAnswers = []
    for (const account of bots(10)) secondAnswers.push((await ask('GetTradeHoldDurations', account)).kind)
    expect(secondAnswers.filter((kind) => kind === 'answered')).toHaveLength(7)
  })

  it('continue even if two refused bots retry at the same moment', async () => {
    const time = createManualClock()
    const { ask } = aFleet(time, ({ account }) => (account === 'bot 0' ? 'answered' : 'limited'))
    for (const account of ['bot 1', 'bot 0', 'bot 2', 'bot 0']) await ask('GetTradeHoldDurations', account)
    await time.advance(40_000)
    for (const account of ['bot 1', 'bot 2']) await ask('GetTradeHoldDurations', account)
    expect(await ask('GetTradeHoldDurations', 'bot 0')).toEqual({ kind: 'answered' })
  })

  it('pause together after two accounts in a row were refused', async () => {
    const time = createManualClock()
    const { ask } = aFleet(time, () => 'limited')
    for (const account of bots(2)) await ask('GetTradeHoldDurations', account)
    expect(await ask('GetTradeHoldDurations', 'bot 3')).toMatchObject({ reason: 'not_our_turn' })
  })
})

describe('a method', () => {
  it.each(METHOD_NAMES)(
    '%s keeps to the budgets of account and address in its first minute',
    async (method) => {
      const time = createManualClock()
      const { requests, ask } = aFleet(time)
      const { account, address } = METHODS[method]
      // Three times as many as the budget allows in a minute. The loop limits them to 100 a second.
      const tries = 3 * Math.ceil((account ?? address).burst + 60_000 / (account ?? address).everyMs)
      for (let second = 0; second < 60; second += 1) {
        for (let count = 0; count < Math.min(tries / 60, 100); count += 1) void ask(method, 'bot', 0)
        await time.advance(1_000)
      }
      const most = (limits: { burst: number; everyMs: number }) => limits.burst + 60_000 / limits.everyMs
      expect(requests.length).toBeLessThanOrEqual(Math.min(most(account ?? address), most(address)))
      expect(requests.length).toBeGreaterThanOrEqual(Math.min(address.burst, (account ?? address).burst))
    },
  )

  it('waits for a turn that comes within half of its deadline, and otherwise reports at once that it sent no request', async () => {
    const time = createManualClock()
    const { requests, ask, heldBack } = aFleet(time)
    const { burst, everyMs } = METHODS.send.account
    for (let count = 0; count < burst; count += 1) await ask('send', 'bot')
    const waiting = ask('send', 'bot', 2 * everyMs)
    expect(await ask('send', 'bot', 2 * everyMs)).toEqual({
      kind: 'unavailable',
      reason: 'not_our_turn',
      detail: 'send: our own budget is spent',
    })
    expect(heldBack).toEqual([['send', 'out_of_budget']])
    await time.advance(everyMs)
    expect(await waiting).toEqual({ kind: 'answered' })
    expect(requests.at(-1)?.atMs).toBe(everyMs)
  })

  it('that is called too often, or refused, delays no send and no cancel', async () => {
    const time = createManualClock()
    const { requests, ask } = aFleet(time, ({ method }) =>
      method.startsWith('Get') ? 'limited' : 'answered',
    )
    for (const bot of bots(50)) {
      for (let count = 0; count < 100; count += 1) void ask('GetTradeOffers', bot, 0)
      void ask('GetTradeOffer', bot)
    }
    await time.advance(1)
    expect(await ask('cancel', 'bot 1', 1)).toEqual({ kind: 'answered' })
    expect(await ask('send', 'bot 1', 1)).toEqual({ kind: 'answered' })
    expect(requests.at(-1)?.method).toBe('send')
  })

  it('keeps its pause when the session of its account is opened again', async () => {
    const time = createManualClock()
    const { ask, turns } = aFleet(time, () => 'limited')
    await ask('GetTradeHistory', 'bot')
    const reopened: Asker = turns.of('bot')
    const answer = reopened.ask({
      method: 'GetTradeHistory',
      ms: 1_000,
      make: async () => null,
      judge: () => 'answered',
    })
    expect(await answer).toMatchObject({
      reason: 'not_our_turn',
      detail: 'GetTradeHistory: paused after a refusal of Steam',
    })
  })

  it('continues after its probe threw an error', async () => {
    const time = createManualClock()
    const { ask, turns } = aFleet(time, ({ atMs }) => (atMs === 0 ? 'limited' : 'answered'))
    await ask('GetTradeHistory', 'bot')
    await time.advance(30_000)
    const broken = turns.of('bot').ask({
      method: 'GetTradeHistory',
      ms: 1_000,
      make: () => Promise.reject(new Error('a defect')),
      judge: () => 'answered',
    })
    await expect(broken).rejects.toThrow('a defect')
    expect(await ask('GetTradeHistory', 'bot')).toEqual({ kind: 'answered' })
  })
})
