/** Carries out wishes: makes the calls that book.ts, judge.ts and next-step.ts, which are pure, decide on. */
import { randomBytes } from 'node:crypto'
import type { GiftEnd } from '../../contract/gift-failures.ts'
import { allOf } from '../all-of.ts'
import type { Account } from '../files/accounts.ts'
import type { Key } from '../files/key.ts'
import type { VaultLog } from '../files/log.ts'
import type { Rules } from '../files/rules.ts'
import type { Needs } from '../needs.ts'
import type { OwnItem } from '../steam/look.ts'
import { createArrivals } from './arrivals.ts'
import {
  bookOf,
  evolve,
  type Giving,
  type Intended,
  isOpen,
  parseWishEntry,
  type Spent,
  spentSince,
  type WishEntry,
  wishEntriesOf,
} from './book.ts'
import type { Gift, GiftOffers, GivenAsset } from './gift.ts'
import { type Approval, judgeItems, judgeLimits, judgeWish, type Objection, type Wish } from './judge.ts'
import { type Offered, stepAfter, stepBefore } from './next-step.ts'
import { createTillLine, type TillLine, type Wishes } from './till-line.ts'
import { createWaitingLoads } from './waiting-loads.ts'

/** Calls to Steam for one account. */
export type SteamCalls = {
  giftOffers: GiftOffers
  /** True if Steam refused the latest login of the account. */
  isLoginRefused(): boolean
  /** A game's items that are not protected, by asset id. Some may be untradable. Undefined if Steam gave no complete answer. */
  freeItems(appId: number): Promise<ReadonlyMap<string, OwnItem> | undefined>
  /** The account that sent these items in that trade. Undefined if Steam's answer does not prove it. */
  giverOf(steamTradeId: string, assets: readonly GivenAsset[]): Promise<string | undefined>
  /** Accepts exactly this gift from another of the vault's own accounts, if it asks for nothing. */
  accept(offer: { offerId: string; fromSteamId: string; gift: Gift }): Promise<void>
}

export type GiverParts = {
  wishes: Wishes
  log: VaultLog
  key: Key
  rules: Rules
  accounts: ReadonlyMap<string, Account>
  steamOf(steamId: string): SteamCalls
  /** In US cents; undefined if Steam's market has no price. */
  priceOf(appId: number, name: string): Promise<bigint | undefined | 'unanswered'>
  /** The operator's approval to give the wish's items back. */
  approvalOf(wishId: string): Approval | undefined
  /** The use of the limits by items sold since `since`: sales and wishes share the limits. */
  soldSince(since: Date): Spent
  /** True if the item is on sale, or sold and not given yet. */
  isListed(asset: GivenAsset): boolean
  now(): Date
  say(line: string, about: Record<string, string | number>): void
  needs: Pick<Needs, 'note' | 'end'>
}

/**
 * How often to look after open offers between the wishes of a round. Taking up a wish can take minutes, because Steam
 * gives few prices a minute, and sent offers must be confirmed in time.
 */
const ADVANCE_EVERY_MS = 60_000

export type Giver = {
  round(): Promise<void>
  book(): ReadonlyMap<string, Giving>
  /** The use of the limits since `since`: by wishes taken up, and by items sold. */
  spent(since: Date): Spent
  /** How many items of a game arrived at an account through wishes since this process began. */
  countArrivals(steamId: string, appId: number): number
}

export function createGiver(parts: GiverParts): Giver {
  const book = bookOf(wishEntriesOf(parts.log.entries()))
  const spent = (since: Date): Spent => sumOf(spentSince(book, since), parts.soldSince(since))
  const till = createTillLine(parts.wishes, book)
  const context = { ...parts, book, note, spent, till, waitingLoads: createWaitingLoads(parts.now) }
  const arrivals = createArrivals()

  function note(entry: WishEntry): void {
    const { at } = parts.log.add(parseWishEntry(entry), parts.now())
    const giving = evolve(book.get(entry.wish), { at, entry })
    if (giving !== undefined) book.set(entry.wish, giving)
    if (entry.kind === 'delivered' && giving?.state === 'delivered') arrivals.add(giving)
  }

  return {
    book: () => book,
    spent,
    countArrivals: arrivals.count,
    async round() {
      await till.begin()
      let advancedAt = parts.now()
      const advanceIfDue = async () => {
        if (parts.now().getTime() - advancedAt.getTime() < ADVANCE_EVERY_MS) return
        await advanceOpen(context).finally(() => {
          advancedAt = parts.now()
        })
      }
      // A wish or gift that fails must not delay the others.
      await allOf([
        ...(await till.wishes()).flatMap((wish) => [() => takeUp(context, wish), advanceIfDue]),
        // Runs even if the till gave no wishes: an offer that nobody accepts must be cancelled.
        () => advanceOpen(context),
        async () => till.end(),
      ])
    },
  }
}

const sumOf = (one: Spent, other: Spent): Spent => ({
  cents: one.cents + other.cents,
  items: one.items + other.items,
})

type GiverContext = GiverParts & {
  book: Map<string, Giving>
  note(entry: WishEntry): void
  spent(since: Date): Spent
  till: TillLine
  waitingLoads: ReturnType<typeof createWaitingLoads>
}

async function takeUp(context: GiverContext, wish: Wish): Promise<void> {
  const known = context.book.get(wish.id)
  if (known !== undefined) {
    // The last report may have been lost, so it is written again.
    if (!isOpen(known)) await context.till.tell(wish.id)
    return
  }
  const waitingLoad = context.waitingLoads.of(wish.id)
  const objection =
    waitingLoad && judgeLimits(context.rules, context.spent, { ...waitingLoad, now: context.now() })
  const judged = objection ?? (await judge(context, wish))
  const verdict = judged.kind === 'intend' ? intend(context, judged.intended) : judged
  if (verdict?.kind === 'wait') return context.till.tellWait(wish.id, verdict.because)
  if (verdict !== undefined) {
    const { because } = verdict
    context.note({ kind: 'wish_refused', wish: wish.id, because })
    context.say('the vault refused a wish', { wish: wish.id, because })
  }
  await context.till.tell(wish.id)
}

/** Records the intent if the limits have room. Otherwise returns the objection. */
function intend(context: GiverContext, intended: Intended): Objection | undefined {
  const { rules, spent, now, waitingLoads } = context
  const load = { cents: BigInt(intended.worthCents), items: intended.assets.length }
  const objection = judgeLimits(rules, spent, { ...load, now: now() })
  if (objection === undefined) context.note(intended)
  else waitingLoads.note(intended.wish, load)
  return objection
}

type Judgement = Objection | { kind: 'intend'; intended: Intended }

async function judge(context: GiverContext, wish: Wish): Promise<Judgement> {
  const { rules, book, accounts, key } = context
  const [account, approved] = [accounts.get(wish.fromSteamId), context.approvalOf(wish.id)]
  const isListed = wish.assets.some((asset) => context.isListed(asset))
  const verdict = judgeWish(wish, { rules, book, account, approved, isListed })
  if (verdict.kind !== 'give') return verdict
  const { partner } = verdict
  const steam = context.steamOf(wish.fromSteamId)
  const seen = await lookAtItems(steam, wish.assets)
  if (seen === undefined) {
    const because = steam.isLoginRefused()
      ? 'Steam refuses the login of this account'
      : 'Steam does not answer'
    return { kind: 'wait', because }
  }
  const complaint = judgeItems(wish.assets, seen)
  if (complaint !== undefined) return complaint
  if (wish.ask.kind === 'return') {
    const giver = await steam.giverOf(wish.ask.steamTradeId, wish.assets)
    if (giver === undefined) return { kind: 'wait', because: 'Steam does not say who sent the items' }
    if (giver !== partner.steamId) return { kind: 'refuse', because: 'somebody else sent the items' }
  }
  const cents = await worthOf(context, wish.assets, seen)
  if (cents === undefined) return { kind: 'wait', because: 'Steam does not say what the items are worth' }
  const intended: Intended = {
    kind: 'intended',
    wish: wish.id,
    cause: wish.ask.kind === 'send' ? wish.ask : { kind: 'return' },
    from: wish.fromSteamId,
    partnerSteamId: partner.steamId,
    sealedToken: key.seal(partner.token, `token ${wish.id}`),
    // In lower case, so it cannot look like the secret code of a deposit.
    message: `vault w${wish.id} x${randomBytes(4).toString('hex')}`,
    assets: wish.assets.map(({ appId, contextId, assetId }) => ({ appId, contextId, assetId })),
    worthCents: String(cents),
  }
  return { kind: 'intend', intended }
}

type OwnItems = ReadonlyMap<string, OwnItem>

async function lookAtItems(
  { freeItems }: SteamCalls,
  assets: readonly GivenAsset[],
): Promise<OwnItems | undefined> {
  const seen = new Map<string, OwnItem>()
  for (const appId of new Set(assets.map((asset) => asset.appId))) {
    const items = await freeItems(appId)
    if (items === undefined) return undefined
    for (const item of items.values()) seen.set(`${appId}/${item.assetId}`, item)
  }
  return seen
}

/** Uses prices that the vault fetched itself. Undefined if Steam did not answer. */
async function worthOf(
  context: GiverContext,
  assets: readonly GivenAsset[],
  seen: OwnItems,
): Promise<bigint | undefined> {
  let cents = 0n
  for (const { appId, assetId } of assets) {
    const price = await context.priceOf(appId, seen.get(`${appId}/${assetId}`)?.marketHashName ?? '')
    if (price === 'unanswered') return undefined
    cents += price ?? context.rules.centsWithoutPrice
  }
  return cents
}

function giftOf(
  { key }: GiverContext,
  { wish, partnerSteamId, sealedToken, message, assets }: Intended,
): Gift {
  return { partnerSteamId, token: key.open(sealedToken, `token ${wish}`), message, assets }
}

/**
 * False if the operator removed the account or the destination, or changed the destination's account. The vault then
 * sends and confirms no offer, not even for a recorded gift.
 */
function mayStillGive({ rules, accounts }: GiverContext, { cause, from, partnerSteamId }: Intended): boolean {
  if (!accounts.has(from)) return false
  return cause.kind === 'return' || rules.destinations[cause.to]?.steamId === partnerSteamId
}

async function advanceOpen(context: GiverContext): Promise<void> {
  const gifts = [...context.book]
  await allOf(
    gifts.map(
      ([wishId, giving]) =>
        () =>
          advance(context, wishId, giving),
    ),
  )
}

async function advance(context: GiverContext, wishId: string, giving: Giving): Promise<void> {
  if (!isOpen(giving)) return
  const { intended } = giving
  if (!context.accounts.has(intended.from)) return
  const { giftOffers } = context.steamOf(intended.from)
  const gift = giftOf(context, intended)
  const isAllowed = mayStillGive(context, intended)
  const step = stepBefore(giving, { now: context.now(), isAllowed })
  switch (step.kind) {
    case 'send': {
      // The till must know of the gift first, or somebody could withdraw the wish, and the gift could look like a
      // theft.
      const wishState = await context.till.announce(wishId)
      if (wishState === 'gone') return end(context, wishId, 'wish_gone')
      if (wishState === 'open') await send(context, { wishId, giftOffers, gift })
      return
    }
    case 'find': {
      const found = await giftOffers.find(gift, context.now().getTime() - step.begunAt.getTime())
      if (found.kind === 'found') return noteOffer(context, wishId, found.offerId)
      if (found.kind === 'none') context.note({ kind: 'offer_missed', wish: wishId })
      return
    }
    case 'end':
      return end(context, wishId, step.because)
    case 'wait':
      return
    case 'read':
      return followOffer(context, { wishId, giftOffers, gift }, isAllowed)
    default:
      return step satisfies never
  }
}

type Work = { wishId: string; giftOffers: GiftOffers; gift: Gift }

async function send(context: GiverContext, { wishId, giftOffers, gift }: Work): Promise<void> {
  context.note({ kind: 'send_begun', wish: wishId })
  const sent = await giftOffers.send(gift)
  if (sent.kind === 'sent') return noteOffer(context, wishId, sent.offerId)
  if (sent.kind === 'refused') {
    context.say('an offer of the vault was not made', { wish: wishId, because: sent.because })
    if (sent.notMade === true) return context.note({ kind: 'send_not_made', wish: wishId })
    return end(context, wishId, sent.result === undefined ? 'no_session' : `steam_${sent.result}`)
  }
  if (sent.result !== undefined) context.note({ kind: 'send_unclear', wish: wishId, result: sent.result })
  context.say('the vault did not learn whether its offer was sent', { wish: wishId })
}

async function noteOffer(context: GiverContext, wishId: string, offerId: string): Promise<void> {
  context.note({ kind: 'offer_known', wish: wishId, offerId })
  context.say('the vault sent an offer', { wish: wishId, offerId })
  await context.till.tell(wishId)
}

async function end(context: GiverContext, wishId: string, because: GiftEnd): Promise<void> {
  context.note({ kind: 'ended', wish: wishId, because })
  context.say('a gift ended without a delivery', { wish: wishId, because })
  noteEnd(context, wishId, because)
  await context.till.tell(wishId)
}

/** The ends of a gift that the operator, or the till, no longer wants. */
const UNWANTED: ReadonlySet<GiftEnd> = new Set<GiftEnd>(['wish_gone', 'no_longer_allowed'])

const recipientOf = ({ cause, partnerSteamId }: Intended): string =>
  cause.kind === 'send' ? `destination ${cause.to}` : `return to ${partnerSteamId}`

/**
 * Tells the operator that a gift failed. Otherwise, nobody would notice a destination that accepts nothing: after each
 * failed gift, the operator's rule makes a new wish.
 */
function noteEnd({ book, needs }: GiverContext, wishId: string, because: GiftEnd): void {
  const giving = book.get(wishId)
  if (giving?.state !== 'ended' || UNWANTED.has(because)) return
  needs.note('gift_failed', recipientOf(giving.intended), `a gift ended without a delivery: ${because}`)
}

async function followOffer(
  context: GiverContext,
  { wishId, giftOffers, gift }: Work,
  isAllowed: boolean,
): Promise<void> {
  const giving = context.book.get(wishId)
  if (giving?.state !== 'offered') return
  const seen = await giftOffers.read(giving.offerId)
  if (seen === undefined) return
  const step = stepAfter(giving, seen, { now: context.now(), isAllowed })
  if (seen.state === 'active' && step.kind === 'wait') return acceptOwnOffer(context, giving, gift)
  switch (step.kind) {
    case 'confirm':
      if (await giftOffers.confirm(giving.offerId, gift)) {
        context.note({ kind: 'confirmed', wish: wishId })
        context.say('the vault confirmed its offer', { wish: wishId, offerId: giving.offerId })
      }
      return
    case 'cancel':
      return giftOffers.cancel(giving.offerId)
    case 'prove':
      return prove(context, { wishId, giftOffers, gift }, step.steamTradeId)
    case 'end':
      return end(context, wishId, step.because)
    case 'wait':
      return
    default:
      return step satisfies never
  }
}

async function prove(
  context: GiverContext,
  { wishId, giftOffers, gift }: Work,
  steamTradeId: string,
): Promise<void> {
  const result = await giftOffers.checkTrade(steamTradeId, gift)
  if (result === 'failed') return end(context, wishId, 'failed')
  if (result === undefined) return
  context.note({ kind: 'delivered', wish: wishId, steamTradeId })
  context.say('items were given', { wish: wishId, steamTrade: steamTradeId })
  const giving = context.book.get(wishId)
  if (giving?.state === 'delivered') context.needs.end('gift_failed', recipientOf(giving.intended))
  await context.till.tell(wishId)
}

/** The vault accepts offers between two of its own accounts. */
async function acceptOwnOffer(
  context: GiverContext,
  { intended, offerId }: Offered,
  gift: Gift,
): Promise<void> {
  if (!context.accounts.has(gift.partnerSteamId)) return
  await context.steamOf(gift.partnerSteamId).accept({ offerId, fromSteamId: intended.from, gift })
}
