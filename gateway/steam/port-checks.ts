/** Checks of the Steam port. Tests run them on the sandbox and on records, and `npm run live` on the real Steam. */
import { GAME_FACTS, type Game } from '../../contract/games.ts'
import type { Clock } from '../kit/clock.ts'
import type {
  HistoryPlace,
  Offer,
  OfferAsset,
  OffersAnswer,
  Partner,
  Steam,
  SteamItem,
  SteamSession,
  SteamTrade,
  SteamTradesAnswer,
} from './steam.ts'

export type PortChecks = {
  steam: Steam
  refreshToken: string
  /** Somebody else's account, which can trade immediately and owns items of the game. */
  partner: Partner
  game: Game
  clock: Clock
  /** Waits between two reads of an accepted offer whose item has not arrived yet. */
  pause(ms: number): Promise<unknown>
  /**
   * Sends a real offer for the item that `choose` returns. `accept` must make the partner accept it; without `accept`,
   * the offer is cancelled. Without `smoke`, no offer is sent.
   */
  smoke?: {
    choose(items: readonly SteamItem[]): SteamItem | undefined
    accept?(offer: Offer): Promise<void>
  }
  /** Called after each check that passed. */
  onPassed(what: string): void
}

/** How far back the checks read the offers and the history. */
const RECENT_MS = 3_600_000
/** How many times to read an accepted offer until its item has arrived. */
const DELIVERY_TRIES = 60
const DELIVERY_PAUSE_MS = 1_000

/** Resolves when all checks have passed. Rejects at the first one that fails. */
export async function checkPort(checks: PortChecks): Promise<void> {
  const { steam, refreshToken, onPassed } = checks
  const opened = await steam.openSession(refreshToken)
  if (opened.kind !== 'open') throw failure('the session opens', opened)
  onPassed(
    `the session opens; its token is valid until ${opened.expiresAt?.toISOString() ?? 'it is revoked'}`,
  )
  const { session } = opened
  try {
    await checkReads(checks, session)
    await checkSmoke(checks, session)
  } finally {
    session.close()
  }
}

async function checkReads({ steam, partner, game, clock, onPassed }: PortChecks, session: SteamSession) {
  for (const steamId of [session.steamId, partner.steamId]) {
    const answer = await steam.readProfile(steamId)
    if (answer.kind !== 'profile') throw failure(`the profile of ${steamId} is read`, answer)
    onPassed(`the profile of ${steamId} is read, level ${answer.profile.level}`)
  }
  const acknowledged = await session.acknowledgeProtection()
  if (acknowledged.kind !== 'done')
    throw failure('the notice about trade protection is acknowledged', acknowledged)
  onPassed('the notice about trade protection is acknowledged')

  const since = new Date(clock.now().getTime() - RECENT_MS)
  const { sent, received } = await readOffers(session, since)
  onPassed(`${sent} sent and ${received} received offers are read`)
  onPassed(`${await readHistory(session, since)} trades are read`)

  const checked = await session.checkPartner(partner)
  if (checked.kind !== 'ok') throw failure('the partner can trade', checked)
  onPassed(
    `the partner can trade; hold: ${checked.holdDays.partner} days theirs, ${checked.holdDays.own} ours`,
  )
  const wrong = await session.checkPartner({ ...partner, token: 'wrongone' })
  if (wrong.kind !== 'refused') throw failure('a wrong token is refused', wrong)
  onPassed('a wrong token is refused')
  await readTradableItems({ partner, game, onPassed }, session)
  const ownInventory = await session.readOwnInventory(game, { isProtected: game === 'cs' })
  if (ownInventory.kind !== 'items' || !ownInventory.isComplete)
    throw failure('our own inventory is read completely', ownInventory)
  onPassed(`${ownInventory.items.length} of our own items are read`)
}

/** A list of offers, or a history back to `since`, must end within this many pages. */
const MOST_PAGES = 50

/** Reads the list page by page. It must end, and no page may repeat an offer of an earlier one. */
async function readOffers(session: SteamSession, since: Date): Promise<{ sent: number; received: number }> {
  const [seen, cursors] = [new Set<string>(), new Set<string>()]
  let [sent, received] = [0, 0]
  let cursor: string | null = null
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page: OffersAnswer = await session.listOffers(since, cursor)
    if (page.kind !== 'offers' || page.unreadable.length > 0) throw failure('all offers are read', page)
    const ids = [...page.sent, ...page.received].map(({ offerId }) => offerId)
    if (ids.some((id) => seen.has(id))) throw failure('no page repeats an offer of an earlier one', page)
    for (const id of ids) seen.add(id)
    sent += page.sent.length
    received += page.received.length
    if (page.next === null) return { sent, received }
    if (cursors.has(page.next)) throw failure('each page leads to a new one', page)
    cursors.add(page.next)
    cursor = page.next
  }
  throw failure('the list of offers ends', { kind: `${MOST_PAGES} pages` })
}

/** Reads the history back to `since`. It must be newest first. */
async function readHistory(session: SteamSession, since: Date): Promise<number> {
  const seen = new Set<string>()
  let after: HistoryPlace | null = null
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page: SteamTradesAnswer = await session.listSteamTrades(after)
    if (page.kind !== 'trades' || page.unreadable > 0) throw failure('all trades are read', page)
    if (page.trades.some(({ tradeId }) => seen.has(tradeId)))
      throw failure('no page repeats a trade of an earlier one', page)
    for (const { tradeId } of page.trades) seen.add(tradeId)
    if (page.next === null || page.next.begunAt < since) return seen.size
    if (after !== null && page.next.begunAt > after.begunAt)
      throw failure('the history is newest first', page)
    after = page.next
  }
  throw failure('the history ends', { kind: `${MOST_PAGES} pages` })
}

async function readTradableItems(
  { partner, game, onPassed }: Pick<PortChecks, 'partner' | 'game' | 'onPassed'>,
  session: SteamSession,
): Promise<SteamItem[]> {
  const answer = await session.readInventory(partner, game, 'en')
  if (answer.kind !== 'items') throw failure('the inventory is read', answer)
  const tradable = answer.items.filter((item) => item.tradable)
  onPassed(`${answer.items.length} items are read, ${tradable.length} of them tradable`)
  return tradable
}

async function checkSmoke(checks: PortChecks, session: SteamSession): Promise<void> {
  const { smoke, partner, game, clock, pause, onPassed } = checks
  if (smoke === undefined) return
  const item = smoke.choose(await readTradableItems(checks, session))
  if (item === undefined) throw new Error('the item to ask for is missing, or not tradable')
  const { appId, contextId } = GAME_FACTS[game]
  const asset: OfferAsset = { appId, contextId, assetId: item.assetId }
  const code = `LIVE-${clock.now().getTime().toString(36).toUpperCase()}`
  const sent = await session.sendOffer(partner, [asset], code)
  if (sent.kind !== 'sent') throw failure('the offer is sent', sent)
  onPassed(`offer ${sent.offerId} asks for ${item.name} with the code ${code}`)
  const listed = await session.listOffers(new Date(clock.now().getTime() - RECENT_MS), null)
  const listedOffer =
    listed.kind === 'offers' ? listed.sent.find(({ message }) => message === code) : undefined
  if (listedOffer?.offerId !== sent.offerId) throw failure('the offer is found by its code', listed)
  onPassed('the offer is found by its code')
  if (smoke.accept === undefined) return cancel(session, sent.offerId, onPassed)
  await smoke.accept(listedOffer)
  const trade = await awaitDelivery(session, sent.offerId, pause)
  const isOurs = trade.received.length === 1 && trade.received[0]?.assetId === item.assetId
  if (!isOurs) throw failure('the requested item arrives', { kind: JSON.stringify(trade) })
  const { settlesAt } = trade
  const protection = settlesAt === null ? 'not protected' : `protected until ${settlesAt.toISOString()}`
  onPassed(`the item arrived as asset ${trade.received[0]?.newAssetId}; trade ${trade.state}, ${protection}`)
  const late = await session.cancelOffer(sent.offerId)
  if (late.kind !== 'not_active') throw failure('an accepted offer cannot be cancelled', late)
  onPassed('an accepted offer cannot be cancelled')
}

async function cancel(
  session: SteamSession,
  offerId: string,
  onPassed: PortChecks['onPassed'],
): Promise<void> {
  const cancelled = await session.cancelOffer(offerId)
  if (cancelled.kind !== 'done') throw failure('the offer is cancelled', cancelled)
  const answer = await session.readOffer(offerId)
  if (answer.kind !== 'offer' || answer.offer.state !== 'cancelled')
    throw failure('Steam shows the offer as cancelled', answer)
  onPassed('the offer is cancelled, and Steam shows that')
}

async function awaitDelivery(
  session: SteamSession,
  offerId: string,
  pause: PortChecks['pause'],
): Promise<SteamTrade> {
  let last: { kind: string } = { kind: 'nothing' }
  for (let tries = 0; tries < DELIVERY_TRIES; tries += 1) {
    const offer = await session.readOffer(offerId)
    last = offer
    if (offer.kind === 'offer' && offer.offer.tradeId !== null) {
      const status = await session.readSteamTrade(offer.offer.tradeId)
      last = status
      if (status.kind === 'trade' && status.trade.received.every(({ newAssetId }) => newAssetId !== null)) {
        return status.trade
      }
    }
    await pause(DELIVERY_PAUSE_MS)
  }
  throw failure('the item arrives', last)
}

function failure(what: string, answer: { kind: string; reason?: string; detail?: string }): Error {
  const { kind, reason = '', detail = '' } = answer
  return new Error(`not true: ${what} (${[kind, reason, detail].filter(Boolean).join(', ')})`)
}
