/** What the holder of a bot's lease does about its trades: the shell around `trade.ts`. */
import type { BotContext, BotHandlers } from '../bots/bot.ts'
import type { Offer } from '../steam/steam.ts'
import { abandon, activate, deliver, endTrade, refuseTrade, release, type SettleDeps } from './settle.ts'
import { type LoadedTrade, loadTrade, openTradesOf, writeTrade } from './store.ts'
import {
  type CancelReason,
  dueAction,
  isOfferOf,
  judgeOffer,
  judgeProof,
  MISSED_OVER_MS,
  MISSED_READS,
  PAUSES_MS,
} from './trade.ts'

/** The longest a write to Steam may take; the lease must outlast it. */
const WRITE_DEADLINE_MS = 15_000

/** Offers of the list read start so long before the send: Steam's clock may be behind ours. */
const LIST_MARGIN_MS = 60_000

/** Handlers of the bots room for trades. */
export function tradeHandlers(deps: SettleDeps): Pick<BotHandlers, 'trade' | 'look' | 'watch'> {
  return {
    trade: (bot, tradeId) => advance(deps, bot, tradeId),
    look: (bot, tradeId) => look(deps, bot, tradeId),
    watch: (bot) => watch(deps, bot),
  }
}

/** Does what is due for a trade. Safe to call at any time and any number of times. */
async function advance(deps: SettleDeps, bot: BotContext, tradeId: bigint): Promise<void> {
  const loaded = await loadTrade(deps.db, tradeId)
  if (loaded === undefined || loaded.row.bot_id !== bot.botId) return
  switch (dueAction(loaded.trade, deps.clock.now())) {
    case 'send':
      return send(deps, bot, loaded)
    case 'reconcile':
      return reconcile(deps, bot, loaded)
    case 'prove':
    case 'read':
      return readAndJudge(deps, bot, loaded)
    case 'cancel':
      return cancel(deps, bot, loaded)
    case 'release':
      return settle(deps, bot, loaded)
    case 'nothing':
      return
  }
}

async function later(
  deps: SettleDeps,
  bot: BotContext,
  at: { loaded: LoadedTrade; ms: number },
): Promise<void> {
  const { trade, row } = at.loaded
  const dueAt = new Date(deps.clock.now().getTime() + at.ms)
  await writeTrade(deps.db, { id: row.id, from: [trade.state], writer: bot }, { due_at: dueAt })
}

async function send(deps: SettleDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, row } = loaded
  if (!bot.mayWrite(WRITE_DEADLINE_MS)) return later(deps, bot, { loaded, ms: PAUSES_MS.unknown })
  const now = deps.clock.now()
  // From here on the offer may exist, whatever becomes of this process.
  const claimed = await writeTrade(
    deps.db,
    { id: row.id, from: ['intended'], writer: bot },
    { state: 'sending', send_started_at: now, due_at: new Date(now.getTime() + LIST_MARGIN_MS / 2) },
  )
  if (!claimed) return
  const partner = { steamId: row.partner_steam_id, token: row.partner_token }
  const answer = await bot.session.sendOffer(partner, [...trade.items], row.secret_code)
  const at = { row, writer: bot }
  if (answer.kind === 'sent') return activate(deps, at, answer.offerId)
  if (answer.kind === 'refused') return refuseTrade(deps, at, answer.reason)
  deps.log.warn({ trade: String(row.id), detail: answer.detail }, 'it is not known whether an offer was sent')
  const dueAt = new Date(deps.clock.now().getTime() + PAUSES_MS.unknown)
  await writeTrade(
    deps.db,
    { id: row.id, from: ['sending'], writer: bot },
    { state: 'unknown', due_at: dueAt },
  )
}

/** Looks for the offer among those sent, by partner, code and items. Nothing is sent again by itself. */
async function reconcile(deps: SettleDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, row } = loaded
  if (trade.state !== 'sending' && trade.state !== 'unknown') return
  const since = new Date(trade.startedAt.getTime() - LIST_MARGIN_MS)
  const answer = await bot.session.listSentOffers(since)
  if (answer.kind === 'unavailable') return later(deps, bot, { loaded, ms: PAUSES_MS.unknown })
  const at = { row, writer: bot }
  const found = answer.offers.find((offer) => isOfferOf(trade, offer))
  if (found !== undefined) {
    await activate(deps, at, found.offerId)
    return observe(deps, bot, { tradeId: row.id, offer: found })
  }
  const missed = trade.missedReads + 1
  const over = deps.clock.now().getTime() - trade.startedAt.getTime()
  if (missed >= MISSED_READS && over >= MISSED_OVER_MS) return abandon(deps, at)
  const dueAt = new Date(deps.clock.now().getTime() + MISSED_OVER_MS / MISSED_READS)
  await writeTrade(
    deps.db,
    { id: row.id, from: ['sending', 'unknown'], writer: bot },
    { state: 'unknown', missed_reads: missed, due_at: dueAt },
  )
}

async function readAndJudge(deps: SettleDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, row } = loaded
  if (trade.state !== 'active') return
  const known = row.steam_trade_id
  if (trade.acceptedAt !== null && known !== null) return prove(deps, bot, { loaded, steamTradeId: known })
  const answer = await bot.session.readOffer(trade.offerId)
  // An empty or failed read says nothing.
  if (answer.kind === 'offer') return observe(deps, bot, { tradeId: row.id, offer: answer.offer })
  return later(deps, bot, { loaded, ms: PAUSES_MS.proof })
}

/** Takes one read of an offer for what it means. */
async function observe(
  deps: SettleDeps,
  bot: BotContext,
  seen: { tradeId: bigint; offer: Offer },
): Promise<void> {
  const loaded = await loadTrade(deps.db, seen.tradeId)
  if (loaded?.trade.state !== 'active') return
  const { trade, row } = loaded
  const now = deps.clock.now()
  const verdict = judgeOffer(trade, seen.offer, now)
  const at = { id: row.id, from: ['active'] as const, writer: bot }
  switch (verdict.kind) {
    case 'nothing':
      return
    case 'end':
      return endTrade(deps, { row, writer: bot }, verdict.end)
    case 'doubt': {
      const dueAt = new Date(now.getTime() + 2 * PAUSES_MS.proof + 1000)
      await writeTrade(deps.db, at, { bad_end: verdict.badEnd, bad_end_seen_at: now, due_at: dueAt })
      return
    }
    case 'cancel':
      return cancel(deps, bot, loaded, verdict.because)
    case 'accepted': {
      const dueAt = new Date(now.getTime() + PAUSES_MS.proof)
      // The deadline is void from here on: the items are on their way.
      await writeTrade(deps.db, at, { accepted_at: row.accepted_at ?? now, due_at: dueAt })
      const again = await loadTrade(deps.db, row.id)
      if (again === undefined || verdict.steamTradeId === null) return
      return prove(deps, bot, { loaded: again, steamTradeId: verdict.steamTradeId })
    }
    default:
      return verdict satisfies never
  }
}

/** Asks for Steam's record of the exchange: only it proves that the items are with the bot. */
async function prove(
  deps: SettleDeps,
  bot: BotContext,
  at: { loaded: LoadedTrade; steamTradeId: string },
): Promise<void> {
  const { trade, row } = at.loaded
  const answer = await bot.session.readTradeStatus(at.steamTradeId)
  if (answer.kind !== 'trade') return later(deps, bot, { loaded: at.loaded, ms: PAUSES_MS.proof })
  const proof = judgeProof(trade, answer.trade)
  if (proof === 'delivered') return deliver(deps, { row, writer: bot }, answer.trade)
  if (proof !== 'not_yet') {
    deps.log.error({ trade: String(row.id), proof }, 'an accepted offer did not bring the items it asked for')
  }
  return later(deps, bot, { loaded: at.loaded, ms: PAUSES_MS.proof })
}

/** Cancels on Steam, reads back, and lets Steam's word decide: an accept may have been faster. */
async function cancel(
  deps: SettleDeps,
  bot: BotContext,
  loaded: LoadedTrade,
  because: CancelReason = 'deadline',
): Promise<void> {
  const { trade, row } = loaded
  if (trade.state !== 'active') return
  if (!bot.mayWrite(WRITE_DEADLINE_MS)) return later(deps, bot, { loaded, ms: PAUSES_MS.cancel })
  const dueAt = new Date(deps.clock.now().getTime() + PAUSES_MS.cancel)
  const reason = trade.cancelling ?? because
  // Written first, so that a cancelled offer is known to be our doing.
  const claimed = await writeTrade(
    deps.db,
    { id: row.id, from: ['active'], writer: bot },
    { reason, due_at: dueAt },
  )
  if (!claimed) return
  await bot.session.cancelOffer(trade.offerId)
  const answer = await bot.session.readOffer(trade.offerId)
  if (
    answer.kind !== 'offer' ||
    answer.offer.state === 'in_escrow' ||
    answer.offer.state === 'needs_confirmation'
  ) {
    return
  }
  return observe(deps, bot, { tradeId: row.id, offer: answer.offer })
}

/** The protection is over: one last look at the trade, then the held part is the store's. */
async function settle(deps: SettleDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, row } = loaded
  if (trade.state !== 'held') return
  const answer = await bot.session.readTradeStatus(trade.steamTradeId)
  if (answer.kind !== 'trade') return later(deps, bot, { loaded, ms: PAUSES_MS.release })
  if (judgeProof(trade, answer.trade) === 'delivered') return release(deps, { row, writer: bot })
  deps.log.error({ trade: String(row.id), state: answer.trade.state }, 'a held trade was taken back on Steam')
  return later(deps, bot, { loaded, ms: PAUSES_MS.reversed })
}

/** One read, because the shopper came back to the page. */
async function look(deps: SettleDeps, bot: BotContext, tradeId: bigint): Promise<void> {
  const loaded = await loadTrade(deps.db, tradeId)
  if (loaded === undefined || loaded.row.bot_id !== bot.botId) return
  return readAndJudge(deps, bot, loaded)
}

/** One list read for all open offers of the bot; resolves to how many trades are still open. */
async function watch(deps: SettleDeps, bot: BotContext): Promise<number> {
  const open = await openTradesOf(deps.db, bot.botId)
  const active = open.filter((row) => row.state === 'active')
  if (active.length === 0) return open.length
  const oldest = Math.min(...active.map((row) => row.created_at.getTime()))
  const answer = await bot.session.listSentOffers(new Date(oldest - LIST_MARGIN_MS))
  if (answer.kind === 'unavailable') return open.length
  const offers = new Map(answer.offers.map((offer) => [offer.offerId, offer]))
  for (const row of active) {
    const offer = row.steam_offer_id === null ? undefined : offers.get(row.steam_offer_id)
    if (offer !== undefined) await observe(deps, bot, { tradeId: row.id, offer })
  }
  return (await openTradesOf(deps.db, bot.botId)).length
}
