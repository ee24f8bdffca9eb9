/** Finds the shopper of a deposit, and appends the events of its transitions. */
import { EVENT_OF_STATUS, type EventType } from '../../contract/event-types.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import { isFinal } from '../../contract/statuses.ts'
import { steamIdOfAccount } from '../../contract/steam-id.ts'
import type { StoreDeposit } from '../../contract/store-api.ts'
import { linkWithoutToken, parseTradeLink } from '../../contract/trade-link.ts'
import type { TradeUrlBody, User } from '../../contract/widget-api.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Queue } from '../db/queue.ts'
import type { Signals } from '../db/signals.ts'
import { inTransaction } from '../db/transaction.ts'
import { appendEvent } from '../events/service.ts'
import { refuse } from '../http/refusal.ts'
import type { Clock } from '../kit/clock.ts'
import type { Ids } from '../kit/ids.ts'
import type { Log } from '../kit/log.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { isRefused } from '../shoppers/store.ts'
import { linkHmacs, sealedForDeposit, tokenOfDeposit } from '../shoppers/trade-token.ts'
import type { Partner, Steam } from '../steam/steam.ts'
import { noteLink } from './link-store.ts'
import { type DepositRow, findByHash, hasOpenOrDeliveredTrade, lockDeposit, setShopper } from './store.ts'
import { storeDepositOf } from './store-deposit.ts'

export const EXPIRE_QUEUE = 'deposits.expire'
export const PREFILL_QUEUE = 'deposits.prefill'

export type DepositDeps = {
  db: Db
  queue: Queue
  signals: Signals
  clock: Clock
  ids: Ids
  /** Encrypts trade tokens. */
  box: SecretBox
  log: Log
  steam: Steam
  /** The gateway's address for shoppers, without a trailing slash. */
  publicUrl: string
}

/** The name of a signal about a deposit. */
export const depositTopic = (id: bigint): string => `deposit:${id}`

/**
 * Finds the shopper of a trade link on Steam, and stores the profile with the deposit. `giver`: who gave the link. A
 * store's link is not stored if the shopper's own was stored meanwhile.
 */
export async function resolveUser(
  deps: DepositDeps,
  { hash, tradeUrl }: TradeUrlBody,
  giver: 'shopper' | 'store' = 'shopper',
): Promise<User> {
  const link = parseTradeLink(tradeUrl)
  if (link === undefined) refuse('invalid_trade_link')
  const unlockedDeposit = await findByHash(deps.db, hash)
  if (unlockedDeposit === undefined) refuse('deposit_not_found')
  if (isFinal(unlockedDeposit.status)) refuse('deposit_closed')
  const steamId = steamIdOfAccount(link.partner)
  if (unlockedDeposit.shopper_locked && unlockedDeposit.shopper_steam_id !== steamId) refuse('other_shopper')
  if (await isRefused(deps.db, steamId)) refuse('shopper_refused')
  await countLink(deps, unlockedDeposit.id, { steamId, token: link.token })
  const answer = await deps.steam.readProfile(steamId)
  if (answer.kind === 'unknown_account') refuse('user_not_found')
  if (answer.kind === 'unavailable') {
    deps.log.warn(
      { deposit: String(unlockedDeposit.id), reason: answer.reason },
      'profile could not be read from Steam',
    )
    refuse('steam_unavailable')
  }
  const { profile } = answer
  await inTransaction(deps.db, async (tx) => {
    const deposit = await lockDeposit(tx, { id: unlockedDeposit.id })
    if (deposit === undefined) refuse('deposit_not_found')
    if (isFinal(deposit.status)) refuse('deposit_closed')
    if (giver === 'store' && deposit.user_name !== null) return
    const isChanged = deposit.user_steam_id !== steamId || tokenOfDeposit(deps.box, deposit) !== link.token
    if (isChanged && (await hasOpenOrDeliveredTrade(tx, deposit.id))) refuse('trade_in_progress')
    const sealed = sealedForDeposit(deps.box, deposit.hash, link.token)
    await setShopper(tx, deposit.id, { steamId, sealed, profile })
    await deps.signals.notify(tx, depositTopic(deposit.id))
  })
  const { name, profileUrl, avatarUrl } = profile
  return { name, profileUrl, avatarUrl, tradeUrl: linkWithoutToken(link.partner) }
}

const LINKS_WITHIN_MS = 10 * 60_000
/** The most distinct trade links for one deposit in `LINKS_WITHIN_MS`: each can cost calls to Steam. */
const MOST_LINKS = 10

/** Records the link. A link over the limit is refused, and not recorded. */
async function countLink(
  { db, clock, box }: DepositDeps,
  depositId: bigint,
  partner: Partner,
): Promise<void> {
  const at = clock.now()
  const hmacs = linkHmacs(box, partner)
  await inTransaction(db, async (tx) => {
    const times = await noteLink(tx, { depositId, hmacs, at }, new Date(at.getTime() - LINKS_WITHIN_MS))
    const [oldest = at] = times
    if (times.length <= MOST_LINKS) return
    const waitMs = oldest.getTime() + LINKS_WITHIN_MS - at.getTime()
    refuse('too_many_looks', { retryAfterS: Math.ceil(waitMs / 1000) })
  })
}

/** The event of each change that a trade can make to a succeeded deposit. */
const EVENT_OF_CHANGE = {
  amountIncreased: 'deposit.amount_increased',
  fundsAvailable: 'deposit.funds_available',
  reversed: 'deposit.reversed',
} as const satisfies Record<string, EventType>

/**
 * Appends the event of a transition, in the transition's transaction. `data` is the deposit that the event shows;
 * without it, the row must be up to date. `part`: as in `NewEvent`.
 */
export async function appendTransition(
  deps: Pick<DepositDeps, 'clock' | 'ids' | 'publicUrl'> & {
    queue: Pick<Queue, 'send'>
    signals: Pick<Signals, 'notify'>
  },
  tx: Tx,
  event: { deposit: DepositRow; data?: StoreDeposit | undefined } & (
    | { to: Exclude<DepositStatus, 'created'> }
    | { to: keyof typeof EVENT_OF_CHANGE; tradeId: bigint; part?: number }
  ),
): Promise<void> {
  const { deposit } = event
  const data = event.data ?? (await storeDepositOf(tx, { depositId: deposit.id }, deps.publicUrl))
  if (data === undefined) throw new Error(`deposit ${deposit.id} vanished in its own transaction`)
  await appendEvent(tx, deps.queue, {
    id: deps.ids.uuid(),
    storeId: deposit.store_id,
    depositId: deposit.id,
    ...('tradeId' in event
      ? { type: EVENT_OF_CHANGE[event.to], tradeId: event.tradeId, part: event.part ?? 0 }
      : { type: EVENT_OF_STATUS[event.to] }),
    data,
    at: deps.clock.now(),
  })
  await deps.signals.notify(tx, depositTopic(deposit.id))
}
