/** What Steam's word about an offer does to its trade: only proof of delivery credits. */
import type { BotContext } from '../bots/bot.ts'
import type { Offer } from '../steam/steam.ts'
import { deliver, endTrade, type SettleDeps } from './settle.ts'
import { type LoadedTrade, later, loadTrade, writeTrade } from './store.ts'
import {
  type CancelReason,
  judgeBadEnd,
  judgeOffer,
  judgeProof,
  nextLook,
  type Trade,
  type Verdict,
} from './trade.ts'

/** The longest a write to Steam may take; the lease must outlast it. */
export const WRITE_DEADLINE_MS = 15_000

/** After a bad end was seen once it is looked for again: late enough to count. */
const DOUBT_MS = 11_000

/** Reads the offer of an active trade, or Steam's record of the exchange once it was accepted. */
export async function readAndJudge(deps: SettleDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, row } = loaded
  if (trade.state !== 'active') return
  const { steamTradeId, offerId } = trade
  if (trade.acceptedAt !== null && steamTradeId !== null) {
    return prove(deps, bot, { loaded, steamTradeId, offerId })
  }
  const answer = await bot.session.readOffer(offerId)
  // An empty or failed read says nothing.
  if (answer.kind === 'offer') return observe(deps, bot, { tradeId: row.id, offer: answer.offer })
  return lookAgain(deps, bot, loaded)
}

/** Takes one read of an active trade's offer for what it means. */
export async function observe(
  deps: SettleDeps,
  bot: BotContext,
  seen: { tradeId: bigint; offer: Offer },
): Promise<void> {
  const loaded = await loadTrade(deps.db, seen.tradeId)
  if (loaded?.trade.state !== 'active') return
  const verdict = judgeOffer(loaded.trade, seen.offer, deps.clock.now())
  return follow(deps, bot, { loaded, verdict, offerId: seen.offer.offerId })
}

type Followed = { loaded: LoadedTrade; verdict: Verdict; offerId: string }

async function follow(deps: SettleDeps, bot: BotContext, followed: Followed): Promise<void> {
  const { loaded, verdict, offerId } = followed
  const { row } = loaded
  const now = deps.clock.now()
  const at = { id: row.id, from: ['active'] as const, writer: bot }
  switch (verdict.kind) {
    case 'nothing':
      return
    case 'end':
      return endTrade(deps, { row, writer: bot }, verdict.end)
    case 'doubt': {
      const dueAt = new Date(now.getTime() + DOUBT_MS)
      await writeTrade(deps.db, at, { bad_end: verdict.badEnd, bad_end_seen_at: now, due_at: dueAt })
      return
    }
    case 'cancel':
      return cancel(deps, bot, loaded, verdict.because)
    case 'accepted': {
      // The deadline is void from here on: the items are on their way.
      const accepted = { accepted_at: row.accepted_at ?? now, due_at: nextLook(row.accepted_at ?? now, now) }
      const known = verdict.steamTradeId === null ? {} : { steam_trade_id: verdict.steamTradeId }
      await writeTrade(deps.db, at, { ...accepted, ...known })
      const again = await loadTrade(deps.db, row.id)
      if (again === undefined || verdict.steamTradeId === null) return
      return prove(deps, bot, { loaded: again, steamTradeId: verdict.steamTradeId, offerId })
    }
    default:
      return verdict satisfies never
  }
}

/** Asks for Steam's record of the exchange: only it proves that the items are with the bot. */
export async function prove(
  deps: SettleDeps,
  bot: BotContext,
  at: { loaded: LoadedTrade; steamTradeId: string; offerId: string },
): Promise<void> {
  const { trade, row } = at.loaded
  const answer = await bot.session.readTradeStatus(at.steamTradeId)
  if (answer.kind !== 'trade') return lookAgain(deps, bot, at.loaded)
  const proof = judgeProof(trade, answer.trade)
  switch (proof) {
    case 'delivered':
      return deliver(deps, { row, writer: bot }, { status: answer.trade, offerId: at.offerId })
    case 'not_yet':
      return lookAgain(deps, bot, at.loaded)
    case 'contradiction':
      deps.log.error(
        { trade: String(row.id), steamTrade: at.steamTradeId },
        'an accepted offer did not bring the items it asked for',
      )
      return lookAgain(deps, bot, at.loaded)
    case 'rolled_back':
    case 'failed': {
      deps.log.warn({ trade: String(row.id), proof }, 'Steam undid an exchange before it was proved')
      if (trade.state !== 'active') return
      const verdict = judgeBadEnd(trade, `exchange_${proof}`, deps.clock.now())
      return follow(deps, bot, { loaded: at.loaded, verdict, offerId: at.offerId })
    }
    default:
      return proof satisfies never
  }
}

/** Cancels on Steam, reads back, and lets Steam's word decide: an accept may have been faster. */
export async function cancel(
  deps: SettleDeps,
  bot: BotContext,
  loaded: LoadedTrade,
  because: CancelReason = 'deadline',
): Promise<void> {
  const { trade, row } = loaded
  if (trade.state !== 'active') return
  if (!bot.mayWrite(WRITE_DEADLINE_MS)) return lookAgain(deps, bot, loaded)
  const now = deps.clock.now()
  const reason = trade.cancelling ?? because
  // Written first, so that a cancelled offer is known to be our doing.
  const change = { reason, due_at: nextLook(trade.deadline, now) }
  if (!(await writeTrade(deps.db, { id: row.id, from: ['active'], writer: bot }, change))) return
  await bot.session.cancelOffer(trade.offerId)
  const answer = await bot.session.readOffer(trade.offerId)
  if (answer.kind !== 'offer') return
  const { state } = answer.offer
  // Still open: the next look cancels again.
  if (state === 'in_escrow' || state === 'needs_confirmation') return
  return observe(deps, bot, { tradeId: row.id, offer: answer.offer })
}

/** Steam said nothing that counts: look again, less often the longer it takes. */
async function lookAgain(deps: SettleDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const now = deps.clock.now()
  await later(deps.db, { loaded, writer: bot, when: nextLook(waitingSince(loaded.trade, now), now) })
}

function waitingSince(trade: Trade, now: Date): Date {
  if (trade.state === 'active') return trade.acceptedAt ?? trade.deadline
  return 'endedAt' in trade ? trade.endedAt : now
}
