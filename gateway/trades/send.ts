/** Sending an offer, and finding out what became of one whose answer was lost. Nothing is sent twice by itself. */
import type { BotContext } from '../bots/bot.ts'
import { observe, WRITE_DEADLINE_MS } from './offers.ts'
import { abandon, activate, refuseTrade, type SettleDeps } from './settle.ts'
import { type LoadedTrade, later, writeTrade } from './store.ts'
import { isOfferOf, MISSED_OVER_MS, MISSED_READS, PAUSES_MS, sameAssets } from './trade.ts'

/** Offers of the list read start so long before the send: Steam's clock may be behind ours. */
export const LIST_MARGIN_MS = 60_000

export async function send(deps: SettleDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, row } = loaded
  const now = deps.clock.now()
  const soon = new Date(now.getTime() + PAUSES_MS.unknown)
  if (!bot.mayWrite(WRITE_DEADLINE_MS)) return later(deps.db, { loaded, writer: bot, when: soon })
  // From here on the offer may exist, whatever becomes of this process.
  const claim = { state: 'sending', send_started_at: now, due_at: new Date(now.getTime() + 30_000) } as const
  if (!(await writeTrade(deps.db, { id: row.id, from: ['intended'], writer: bot }, claim))) return
  if (!bot.mayWrite(WRITE_DEADLINE_MS)) {
    // The claim took what was left of the lease. Nothing was said to Steam yet.
    const back = { state: 'intended', send_started_at: null, due_at: soon } as const
    await writeTrade(deps.db, { id: row.id, from: ['sending'], writer: bot }, back)
    return
  }
  const partner = { steamId: row.partner_steam_id, token: row.partner_token }
  const answer = await bot.session.sendOffer(partner, [...trade.items], row.secret_code)
  const at = { row: { ...row, send_started_at: now }, writer: bot }
  switch (answer.kind) {
    case 'sent':
      if (!(await activate(deps, at, answer.offerId))) await withdraw(deps, bot, { loaded, ...answer })
      return
    case 'refused':
      return refuseTrade(deps, at, answer.reason)
    case 'unknown': {
      deps.log.warn(
        { trade: String(row.id), detail: answer.detail },
        'it is not known whether an offer was sent',
      )
      const dueAt = new Date(deps.clock.now().getTime() + PAUSES_MS.unknown)
      const change = { state: 'unknown', due_at: dueAt } as const
      await writeTrade(deps.db, { id: row.id, from: ['sending'], writer: bot }, change)
      return
    }
    default:
      return answer satisfies never
  }
}

/** The answer came so late that the trade was given up, or belongs to another holder of the lease by now. */
async function withdraw(
  deps: SettleDeps,
  bot: BotContext,
  { loaded, offerId }: { loaded: LoadedTrade; offerId: string },
): Promise<void> {
  const trade = String(loaded.row.id)
  const now = await deps.db
    .selectFrom('trade')
    .select('steam_offer_id')
    .where('id', '=', loaded.row.id)
    .executeTakeFirst()
  if (now?.steam_offer_id === offerId) return
  deps.log.warn({ trade, offer: offerId }, 'an offer was sent for a trade that does not wait for it')
  if (bot.mayWrite(WRITE_DEADLINE_MS)) await bot.session.cancelOffer(offerId)
}

/** Looks for the offer among those sent, by partner and code. */
export async function reconcile(deps: SettleDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, row } = loaded
  if (trade.state !== 'sending' && trade.state !== 'unknown') return
  const now = deps.clock.now()
  const since = new Date(trade.startedAt.getTime() - LIST_MARGIN_MS)
  const answer = await bot.session.listSentOffers(since)
  const found = answer.kind === 'offers' ? answer.offers.find((offer) => isOfferOf(trade, offer)) : undefined
  if (found !== undefined) {
    if (!sameAssets(found.itemsToReceive, trade.items)) {
      deps.log.error(
        { trade: String(row.id), offer: found.offerId },
        'an offer asks for other items than ours',
      )
    }
    await activate(deps, { row, writer: bot }, found.offerId)
    return observe(deps, bot, { tradeId: row.id, offer: found })
  }
  // A list that could not be read in full does not prove that the offer is missing.
  if (answer.kind === 'unavailable' || answer.unreadable > 0) {
    return later(deps.db, { loaded, writer: bot, when: new Date(now.getTime() + PAUSES_MS.unknown) })
  }
  const missed = trade.missedReads + 1
  const isOver = now.getTime() - trade.startedAt.getTime() >= MISSED_OVER_MS
  if (missed >= MISSED_READS && isOver) return abandon(deps, { row, writer: bot })
  const dueAt = new Date(now.getTime() + MISSED_OVER_MS / MISSED_READS)
  await writeTrade(
    deps.db,
    { id: row.id, from: ['sending', 'unknown'], writer: bot },
    { state: 'unknown', missed_reads: missed, due_at: dueAt },
  )
}
