import type { BotContext } from '../bots/bot.ts'
import type { Offer, SteamTrade } from '../steam/steam.ts'
import { judgeSteamTrade, type Proof } from './proof.ts'
import { type Recorded, record } from './record.ts'
import { askAgain, WRITE_DEADLINE_MS } from './send.ts'
import { aboutTrade, type LoadedTrade, type ShellDeps } from './trade-store.ts'

/** Reads the offer of an active trade. */
export async function readOffer(deps: ShellDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, facts } = loaded
  if (trade.state !== 'active') return
  const answer = await bot.session.readOffer(trade.offerId)
  // An empty or failed read proves nothing.
  if (answer.kind !== 'offer') {
    return askAgain(deps, bot, loaded)
  }
  await record(deps, { tradeId: facts.id, writer: bot }, { kind: 'offer_read', offer: answer.offer })
}

/** `offer`: the offer just read, if it is not the one that its trade waits for. */
export type AcceptedOffer = { loaded: LoadedTrade; steamTradeId: string; offerId: string; offer?: Offer }

/** `proof`: Steam's trade record, judged against the trade as it was loaded. */
type ProvedTrade = Recorded & { proof: Proof['kind'] }

/**
 * Reads Steam's trade record, the only proof of where the items are, and records it. Undefined if Steam did not answer,
 * or the till could not record it.
 */
export async function prove(
  deps: ShellDeps,
  bot: BotContext,
  accepted: AcceptedOffer,
): Promise<ProvedTrade | undefined> {
  const { loaded, steamTradeId, offerId, offer } = accepted
  const { trade, facts } = loaded
  const answer = await bot.session.readSteamTrade(steamTradeId)
  if (answer.kind !== 'trade') {
    await askAgain(deps, bot, loaded)
    return undefined
  }
  const steamTrade = answer.trade
  const proof = judgeSteamTrade(trade, steamTrade).kind
  if (proof === 'contradiction') reportContradiction(deps, facts, steamTrade)
  const fact = { kind: 'steam_trade_read', offerId, steamTrade, ...(offer && { offer }) } as const
  const recorded = await record(deps, { tradeId: facts.id, writer: bot }, fact)
  return recorded && { ...recorded, proof }
}

/** Reports a trade record that a person must judge. */
export function reportContradiction(
  { log }: Pick<ShellDeps, 'log'>,
  facts: LoadedTrade['facts'],
  { tradeId, state }: SteamTrade,
): void {
  const about = { ...aboutTrade(facts), steamTrade: tradeId, state }
  log.error(about, 'record of the Steam trade contradicts the trade')
}

/** Cancels on Steam, reads the offer back, and lets Steam's answer decide: the shopper may have been faster. */
export async function cancel(deps: ShellDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, facts } = loaded
  if (trade.state !== 'active') return
  const source = { tradeId: facts.id, writer: bot }
  // The offer may be accepted or in escrow by now. Cancelling one in escrow would put the bot into a cooldown.
  const before = await bot.session.readOffer(trade.offerId)
  if (before.kind !== 'offer') return askAgain(deps, bot, loaded)
  const afterRead = await record(deps, source, { kind: 'offer_read', offer: before.offer })
  if (afterRead?.trade.state !== 'active' || !bot.mayWrite(WRITE_DEADLINE_MS)) return
  // Record the cancel first, so the till can tell its own cancel from another one. An earlier reason is kept.
  const recorded = await record(deps, source, { kind: 'cancelling', because: 'deadline' })
  if (recorded?.trade.state !== 'active' || recorded.trade.acceptedAt !== null) return
  await bot.session.cancelOffer(trade.offerId)
  const answer = await bot.session.readOffer(trade.offerId)
  if (answer.kind === 'offer') await record(deps, source, { kind: 'offer_read', offer: answer.offer })
}

type Stray = { offerId: string; beforeCancel: () => void }

/**
 * Cancels an offer that no trade waits for. Reads the offer first: the caller's data may be minutes old, and cancelling
 * an offer in escrow would put the bot into a cooldown. Resolves to the offer as it is now; undefined if Steam did not
 * answer, or the lease has too little time left for a write.
 */
export async function cancelStray(
  deps: Pick<ShellDeps, 'core'>,
  bot: BotContext,
  { offerId, beforeCancel }: Stray,
): Promise<Offer | undefined> {
  const before = await bot.session.readOffer(offerId)
  if (before.kind !== 'offer') return undefined
  if (deps.core.judgeStray(before.offer).kind !== 'cancel') return before.offer
  if (!bot.mayWrite(WRITE_DEADLINE_MS)) return undefined
  beforeCancel()
  await bot.session.cancelOffer(offerId)
  const after = await bot.session.readOffer(offerId)
  return after.kind === 'offer' ? after.offer : undefined
}
