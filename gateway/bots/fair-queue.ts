/**
 * The order in which a bot reads inventories. Stores take turns. Within a store, the deposit with the fewest recent
 * reads comes first, so a new shopper does not wait behind a page that keeps asking.
 */
import type { BudgetLimits, Time } from '../steam/budget.ts'

/** The store and the deposit that the read is for. */
export type ReadOwner = { storeId: string; depositId: string }

/**
 * `spend`: the read must call it before it asks Steam for an inventory. A turn that never calls it uses none of the
 * budget, but still counts for the order of turns.
 */
type Work = (spend: () => void) => Promise<void>

export type FairQueue = {
  /** Resolves after the turn, or when the turn is dropped: because its caller has given up, or the queue stops. */
  add(owner: ReadOwner, work: Work): Promise<void>
  waiting(): number
  /** Drops waiting turns. Running turns continue. */
  stop(): void
}

export type FairQueueOptions = {
  /** The bot's budget for reads of inventories. Turns start no faster than the budget allows. */
  budget: BudgetLimits
  time: Time
}

/** At most this many reads run at a time: in all, per store and per deposit. This leaves places for others. */
const AT_A_TIME = { all: 4, store: 3, deposit: 1 }
/** How long a turn can wait. Its caller has given up by then. */
const WAIT_MS = 20_000
/** The reads of a deposit are forgotten once it has had none for this long. */
const RECENT_MS = 600_000
/** At most this many stores, and this many deposits, are remembered. */
const MOST_KEYS = 5_000

type WaitingTurn = { owner: ReadOwner; work: Work; sinceMs: number; done: () => void }

export function createFairQueue({ budget, time }: FairQueueOptions): FairQueue {
  let waiting: WaitingTurn[] = []
  const order = createOrder(time)
  const bucket = createBucket(budget, time)
  let isWaking = false

  const begin = (turn: WaitingTurn): void => {
    waiting = waiting.filter((other) => other !== turn)
    order.begin(turn.owner)
    bucket.take()
    let hasSpent = false
    const spend = () => {
      hasSpent = true
    }
    void turn.work(spend).finally(() => {
      if (!hasSpent) bucket.giveBack()
      order.end(turn.owner)
      turn.done()
      pump()
    })
  }
  const pump = (): void => {
    const nowMs = time.now()
    const hasExpired = ({ sinceMs }: WaitingTurn): boolean => nowMs - sinceMs >= WAIT_MS
    const expired = waiting.filter(hasExpired)
    waiting = waiting.filter((turn) => !hasExpired(turn))
    for (const turn of expired) turn.done()
    for (let turn = order.next(waiting); turn !== undefined; turn = order.next(waiting)) {
      const waitMs = bucket.waitMs()
      if (waitMs > 0) {
        wakeIn(waitMs)
        return
      }
      begin(turn)
    }
  }
  const wakeIn = (ms: number): void => {
    if (isWaking) return
    isWaking = true
    void time.pause(ms).then(() => {
      isWaking = false
      pump()
    })
  }
  return {
    add: (owner, work) =>
      new Promise((resolve) => {
        waiting.push({ owner, work, sinceMs: time.now(), done: resolve })
        pump()
      }),
    waiting: () => waiting.length,
    stop() {
      for (const turn of waiting) turn.done()
      waiting = []
    },
  }
}

/** Chooses the next waiting turn: of the store whose last turn is oldest, then of the deposit with fewest turns. */
function createOrder(time: Pick<Time, 'now'>) {
  const stores = createCounts()
  const deposits = createCounts()
  const recent = createRecent(time)
  /** The number of the last turn, by store. */
  const lastTurn = new Map<string, number>()
  let turns = 0

  const fits = ({ owner }: WaitingTurn): boolean =>
    stores.of(owner.storeId) < AT_A_TIME.store && deposits.of(owner.depositId) < AT_A_TIME.deposit
  const isBefore = (one: WaitingTurn, other: WaitingTurn): boolean => {
    const lastTurnOf = ({ owner }: WaitingTurn) => lastTurn.get(owner.storeId) ?? 0
    const countOf = ({ owner }: WaitingTurn) => recent.of(owner.depositId)
    if (lastTurnOf(one) !== lastTurnOf(other)) return lastTurnOf(one) < lastTurnOf(other)
    return countOf(one) < countOf(other)
  }
  return {
    /** Returns the next turn, or undefined if none may begin now. Of equal turns, the one added first is next. */
    next(waiting: readonly WaitingTurn[]): WaitingTurn | undefined {
      if (stores.all() >= AT_A_TIME.all) return undefined
      const [first, ...others] = waiting.filter(fits)
      return others.reduce((best, turn) => (best === undefined || isBefore(turn, best) ? turn : best), first)
    },
    begin({ storeId, depositId }: ReadOwner) {
      turns += 1
      lastTurn.delete(storeId)
      lastTurn.set(storeId, turns)
      dropOldest(lastTurn)
      recent.add(depositId)
      stores.add(storeId, 1)
      deposits.add(depositId, 1)
    },
    end({ storeId, depositId }: ReadOwner) {
      stores.add(storeId, -1)
      deposits.add(depositId, -1)
    },
  }
}

function createCounts() {
  const counts = new Map<string, number>()
  let sum = 0
  return {
    of: (key: string) => counts.get(key) ?? 0,
    all: () => sum,
    add(key: string, change: number) {
      sum += change
      const count = (counts.get(key) ?? 0) + change
      if (count === 0) counts.delete(key)
      else counts.set(key, count)
    },
  }
}

function createBucket({ burst, everyMs }: BudgetLimits, time: Pick<Time, 'now'>) {
  /** The unused budget. A turn takes `everyMs` of it. It is counted in time, not in turns, so nothing is rounded. */
  let savedMs = burst * everyMs
  let countedAtMs = time.now()
  const changeSavedMs = (ms: number) => {
    savedMs = Math.min(burst * everyMs, savedMs + ms)
  }
  return {
    /** Refills the bucket, and returns how long to wait until it is enough for a turn. */
    waitMs() {
      changeSavedMs(time.now() - countedAtMs)
      countedAtMs = time.now()
      return Math.max(0, everyMs - savedMs)
    },
    take: () => changeSavedMs(-everyMs),
    giveBack: () => changeSavedMs(everyMs),
  }
}

/** The number of recent turns of a deposit. */
function createRecent(time: Pick<Time, 'now'>) {
  const turns = new Map<string, { count: number; atMs: number }>()
  const countOf = (key: string): number => {
    const entry = turns.get(key)
    return entry === undefined || time.now() - entry.atMs >= RECENT_MS ? 0 : entry.count
  }
  return {
    of: countOf,
    add(key: string) {
      const count = countOf(key) + 1
      turns.delete(key)
      turns.set(key, { count, atMs: time.now() })
      dropOldest(turns)
    },
  }
}

/** Drops the key that was used longest ago: a Map keeps the order of insertion, and every use reinserts. */
function dropOldest(uses: Map<string, unknown>): void {
  const [oldest] = uses.keys()
  if (uses.size > MOST_KEYS && oldest !== undefined) uses.delete(oldest)
}
