/** Has a bot ask Steam for an inventory, and another bot if the first one cannot. */
import { type BotJob, botQueue } from '../bots/bot.ts'
import { chooseBotForReading } from '../bots/service.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Queue } from '../db/queue.ts'
import type { Signals } from '../db/signals.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { retryAfterOf } from './allowance.ts'
import { type StoredAnswer, storedAnswerSchema } from './answer.ts'
import {
  findRequest,
  type InventoryKey,
  latestRequest,
  latestTokenRefusal,
  lockKey,
  openRequest,
  type RequestRow,
  spanOf,
  withdrawRequest,
} from './store.ts'

export type LookDeps = { db: Db; queue: Queue; signals: Signals; clock: Clock; log: Log; box: SecretBox }

/**
 * Steam's answer, with its time. `answer`: null if it is long and has items. Many calls can wait at the same time, so
 * none of them holds such an answer in memory.
 */
export type Seen = { requestId: bigint; answer: StoredAnswer | null; at: Date }

/**
 * `no_bot`: no bot can be asked. `no_answer`: no bot answered in time. `too_many`: the deposit or the account has
 * used up its reads.
 */
export type Look = Seen | { failure: 'no_bot' | 'no_answer' } | { failure: 'too_many'; retryAfterS: number }

/** How long a call waits for its bots, and how long a request may be joined. */
export const WAIT_MS = 20_000

/** How long the items of an inventory are shown again without asking Steam. */
export const FRESH_MS = 60_000
/** For how long a reload, or a call after an answer without items, still gets the last answer. */
export const RELOAD_MS = 5_000

/** The time within which each bot but the last must take up a request. The last one has the rest of `WAIT_MS`. */
const TAKE_UP_MS = 5_000
/** How many bots one call may ask, one after the other. */
const MOST_READERS = 3
/**
 * If Steam limits two accounts, the limit is probably on our address, and a third attempt would make it last longer.
 */
const MOST_LIMITED = 2

export const inventoryTopic = (requestId: bigint): string => `inventory:${requestId}`

/** How long not to ask again after Steam has refused a token. The shopper needs a new trade link anyway. */
const REFUSED_TOKEN_MS = 5 * 60_000

/** `depositId`: the deposit of the asking page. */
type Asker = { storeId: bigint; depositId: bigint; reload: boolean; signal: AbortSignal | undefined }

/** Returns a recent answer, joins a running request, or has a bot ask Steam. */
export async function lookAtSteam(deps: LookDeps, key: InventoryKey, asker: Asker): Promise<Look> {
  const start = await inTransaction(deps.db, (tx) => joinOrRequest(deps, tx, { key, asker }))
  if (start === undefined) {
    deps.log.warn({ game: key.game }, 'no bot was online to read an inventory')
    return { failure: 'no_bot' }
  }
  if ('failure' in start) return start
  return seenOf(start) ?? askInTurn(deps, { key, asker, first: start })
}

async function joinOrRequest(deps: LookDeps, tx: Tx, { key, asker }: { key: InventoryKey; asker: Asker }) {
  const now = deps.clock.now()
  await lockKey(tx, key)
  const refused = await latestTokenRefusal(tx, key, spanOf(now, REFUSED_TOKEN_MS))
  if (refused !== undefined) return refused
  const known = await newestRequest(tx, deps, key)
  if (known !== undefined && mayServe(known, { reload: asker.reload, now })) return known
  const retryAfter = await retryAfterOf(tx, { depositId: asker.depositId, key, now })
  if (retryAfter === undefined) return request(deps, tx, { key, asker, tried: [] })
  // Too many reads: the items of the last minute are better than none, even if some of them are gone.
  const last = await latestRequest(tx, key, { span: spanOf(now, FRESH_MS), mayContainGone: true })
  if (last !== undefined && mayServe(last, { reload: false, now })) return last
  return { failure: 'too_many', ...retryAfter } as const
}

const newestRequest = (tx: Tx, { clock }: LookDeps, key: InventoryKey): Promise<RequestRow | undefined> =>
  latestRequest(tx, key, { span: spanOf(clock.now(), FRESH_MS) })

/**
 * True if a new call can share this request: while it is running, and for a minute after it found items. A reload can
 * share it for seconds only, as can any call if the answer has no items.
 */
function mayServe(row: RequestRow, { reload, now }: { reload: boolean; now: Date }): boolean {
  if (row.done_at === null) return now.getTime() - row.created_at.getTime() < WAIT_MS
  const seen = seenOf(row)
  const hasItems = seen !== undefined && (seen.answer === null || seen.answer.kind === 'items')
  return now.getTime() - row.done_at.getTime() < (hasItems && !reload ? FRESH_MS : RELOAD_MS)
}

async function request(
  { queue, clock }: LookDeps,
  tx: Tx,
  { key, asker, tried }: { key: InventoryKey; asker: Asker; tried: readonly bigint[] },
): Promise<RequestRow | undefined> {
  const botId = await chooseBotForReading(tx, tried)
  if (botId === undefined) return undefined
  const row = await openRequest(tx, key, { ...asker, botId, at: clock.now() })
  const party = { storeId: String(asker.storeId), depositId: String(asker.depositId) }
  const data = { kind: 'inventory', requestId: String(row.id), ...party } satisfies BotJob
  await queue.send(tx, { queue: botQueue(botId), data, urgent: true })
  return row
}

function seenOf({ id: requestId, state, answer, isLong, done_at: at }: RequestRow): Seen | undefined {
  if (state !== 'done' || at === null) return undefined
  return { requestId, answer: isLong ? null : storedAnswerSchema.parse(answer), at }
}

type Series = { key: InventoryKey; asker: Asker; first: RequestRow }

/** Waits for the bot of the first request, and for other bots if it cannot answer. */
async function askInTurn(deps: LookDeps, { key, asker, first }: Series): Promise<Look> {
  const { log } = deps
  const { signal } = asker
  const tried: bigint[] = []
  let row = first
  let seen: Seen | undefined
  let limitedReads = 0
  let leftMs = WAIT_MS
  for (let readers = 1; ; ) {
    const isLast = readers >= MOST_READERS || leftMs <= TAKE_UP_MS
    const timeoutMs = isLast ? leftMs : TAKE_UP_MS
    seen = await waitForAnswer(deps, row, { timeoutMs, signal })
    // An early answer counts as a full wait, so all waits together stay within WAIT_MS.
    leftMs -= timeoutMs
    if (seen !== undefined && !isWorthAnotherBot(seen)) return seen
    if (isRateLimited(seen)) limitedReads += 1
    if (isLast || signal?.aborted || limitedReads >= MOST_LIMITED) break
    tried.push(row.bot_id)
    const nextRow = await inTransaction(deps.db, (tx) => askAnother(deps, tx, { key, asker, row, tried }))
    if (nextRow !== undefined) {
      const about = { requestId: String(row.id), botId: String(row.bot_id), next: String(nextRow.bot_id) }
      log.warn({ game: key.game, ...about }, 'another bot was asked for an inventory')
      row = nextRow
      readers += 1
    } else if (seen !== undefined) break
  }
  if (seen !== undefined) return seen
  // A page that was closed ended the wait. That shows nothing about the bots.
  if (!signal?.aborted) {
    const about = { requestId: String(row.id), game: key.game }
    log.warn(about, 'no bot answered a request for an inventory in time')
  }
  return { failure: 'no_answer' }
}

async function waitForAnswer(
  deps: LookDeps,
  { id }: RequestRow,
  within: { timeoutMs: number; signal: AbortSignal | undefined },
): Promise<Seen | undefined> {
  const check = async () => {
    const row = await findRequest(deps.db, id)
    return row && seenOf(row)
  }
  return deps.signals.until(inventoryTopic(id), check, within)
}

/** True if another bot may get an answer. Even a 429 can be only for this bot's account. */
function isWorthAnotherBot({ answer }: Seen): boolean {
  if (answer?.kind !== 'unavailable') return false
  return ['session_dead', 'not_our_turn', 'rate_limited'].includes(answer.reason)
}

const isRateLimited = (seen: Seen | undefined): boolean =>
  seen?.answer?.kind === 'unavailable' && seen.answer.reason === 'rate_limited'

type Another = { key: InventoryKey; asker: Asker; row: RequestRow; tried: readonly bigint[] }

/**
 * Joins a newer request of another call, or asks a bot that has not been tried. Withdraws a request that its bot has
 * not taken up. Undefined if the bot is working on it, or there is no other bot.
 */
async function askAnother(
  deps: LookDeps,
  tx: Tx,
  { key, asker, row, tried }: Another,
): Promise<RequestRow | undefined> {
  await lockKey(tx, key)
  const latest = await newestRequest(tx, deps, key)
  if (latest !== undefined && latest.id > row.id) return latest
  const { state } = (await findRequest(tx, row.id)) ?? { state: 'done' as const }
  if (state === 'taken' || (await chooseBotForReading(tx, tried)) === undefined) return undefined
  if (state === 'open') {
    const at = deps.clock.now()
    if (!(await withdrawRequest(tx, { id: row.id, answer: NOT_TAKEN_UP, at }))) return undefined
    await deps.signals.notify(tx, inventoryTopic(row.id))
  }
  return request(deps, tx, { key, asker, tried })
}

/**
 * The answer for a bot that did not take up a request. For half a minute, `chooseBotForReading` prefers other bots to
 * that bot.
 */
const NOT_TAKEN_UP: StoredAnswer = {
  kind: 'unavailable',
  reason: 'not_our_turn',
  detail: 'the bot did not take up the request in time',
}
