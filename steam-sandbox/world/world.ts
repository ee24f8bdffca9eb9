import { createHash } from 'node:crypto'
import { CATALOGUE } from './items.ts'

/** An item in somebody's hands. `settlesAtS`: until then it is trade-protected and stands in context 16. */
export type Asset = {
  assetId: string
  appId: number
  contextId: string
  classId: string
  settlesAtS?: number
}

export type Account = {
  kind: 'shopper' | 'bot'
  accountId: number
  steamId: string
  name: string
  level: number
  token: string
  avatarHash: string
  assets: Asset[]
}

/** An offer of a bot: it asks for items and gives none. Times are seconds. */
export type Offer = {
  id: string
  sender: string
  partner: string
  message: string
  state: number
  createdAtS: number
  updatedAtS: number
  items: Asset[]
  tradeId?: string
}

export type TradedItem = Asset & { newAssetId: string; newContextId: string }
export type Trade = {
  id: string
  giver: string
  receiver: string
  atS: number
  settlesAtS: number
  items: TradedItem[]
}

/** All that the sandbox knows. Survives JSON; ids grow and start at the time of the seed. */
export type World = {
  version: 1
  lastId: number
  accounts: Account[]
  offers: Offer[]
  trades: Trade[]
}

/** Steam's own numbers for the states of an offer. */
export const STATE = {
  active: 2,
  accepted: 3,
  expired: 5,
  canceled: 6,
  declined: 7,
  invalidItems: 8,
} as const

/** The number that Steam puts in brackets behind its error texts. */
export type Refusal = { kind: 'refused'; eresult: number }
type Answer<T> = { world: World; answer: T | Refusal }

export const OFFER_LIFE_S = 14 * 86_400
const PROTECTION_S = 7 * 86_400
const PROTECTED_APP = 730
const LIMIT_PER_PARTNER = 5
const LIMIT_IN_ALL = 30
const FIRST_STEAM_ID = 76561197960265728n

/** A world with two shoppers and two bots, the same for the same seed and time; `nowMs` is where ids start. */
export function seedWorld(seed: string, nowMs: number): World {
  const random = createRandom(seed)
  let lastId = nowMs
  const assets = (counts: Record<number, number>): Asset[] =>
    Object.entries(counts).flatMap(([app, count]) => {
      const classes = [...CATALOGUE.values()].filter((entry) => entry.appId === Number(app))
      const order = shuffled(classes, random)
      return Array.from({ length: count }, (_, index) => {
        lastId += 1
        const classId = order[index % order.length]?.classId ?? ''
        return { assetId: String(lastId), appId: Number(app), contextId: '2', classId }
      })
    })
  const person = (
    kind: Account['kind'],
    name: string,
    level: number,
    counts: Record<number, number>,
  ): Account => {
    const accountId = 1_000_000_000 + Math.floor(random() * 800_000_000)
    const steamId = String(FIRST_STEAM_ID + BigInt(accountId))
    const digest = createHash('sha1').update(`${seed}/${name}`)
    const avatarHash = digest.digest('hex')
    return {
      kind,
      accountId,
      steamId,
      name,
      level,
      token: tokenOf(random),
      avatarHash,
      assets: assets(counts),
    }
  }
  const accounts = [
    person('shopper', 'nova_hound', 34, { 730: 72, 570: 24, 440: 21, 252490: 21 }),
    person('shopper', 'quiet_lynx', 8, { 730: 14, 570: 6, 440: 6, 252490: 5 }),
    person('bot', 'Tradetill Bot #1', 47, {}),
    person('bot', 'Tradetill Bot #2', 112, {}),
  ]
  return { version: 1, lastId, accounts, offers: [], trades: [] }
}

export function findAccount(world: World, steamId: string): Account | undefined {
  return world.accounts.find((account) => account.steamId === steamId)
}

/** Lets time act: old offers expire, protected items settle. The same world if there is nothing to do. */
export function settle(world: World, nowS: number): World {
  const late = (offer: Offer) => offer.state === STATE.active && offer.createdAtS + OFFER_LIFE_S <= nowS
  const due = (asset: Asset) => asset.settlesAtS !== undefined && asset.settlesAtS <= nowS
  if (!world.offers.some(late) && !world.accounts.some(({ assets }) => assets.some(due))) return world
  const settled = ({ settlesAtS: _, ...asset }: Asset): Asset => ({ ...asset, contextId: '2' })
  return {
    ...world,
    offers: world.offers.map((offer) =>
      late(offer) ? { ...offer, state: STATE.expired, updatedAtS: offer.createdAtS + OFFER_LIFE_S } : offer,
    ),
    accounts: world.accounts.map((account) => ({
      ...account,
      assets: account.assets.map((asset) => (due(asset) ? settled(asset) : asset)),
    })),
  }
}

export type Wanted = { appId: number; contextId: string; assetId: string }
export type Intent = { sender: string; partner: string; token: string; message: string; items: Wanted[] }

/** Sends an offer. Refusals: 15 wrong token, 25 too many live offers, 26 an item is not there or not tradable. */
export function sendOffer(
  world: World,
  intent: Intent,
  nowS: number,
): Answer<{ kind: 'sent'; offerId: string }> {
  const partner = findAccount(world, intent.partner)
  if (!partner || partner.token !== intent.token || partner.steamId === intent.sender)
    return refuse(world, 15)
  const live = world.offers.filter((offer) => offer.sender === intent.sender && offer.state === STATE.active)
  const toPartner = live.filter((offer) => offer.partner === intent.partner)
  if (live.length >= LIMIT_IN_ALL || toPartner.length >= LIMIT_PER_PARTNER) return refuse(world, 25)
  const items = intent.items.flatMap((wanted) => partner.assets.filter((asset) => isTradable(asset, wanted)))
  const distinct = new Set(items.map((item) => item.assetId)).size
  if (items.length === 0 || distinct !== intent.items.length) return refuse(world, 26)
  const id = String(world.lastId + 1)
  const offer: Offer = {
    id,
    sender: intent.sender,
    partner: intent.partner,
    message: intent.message.slice(0, 128),
    state: STATE.active,
    createdAtS: nowS,
    updatedAtS: nowS,
    items,
  }
  const next = { ...world, lastId: world.lastId + 1, offers: [...world.offers, offer] }
  return { world: next, answer: { kind: 'sent', offerId: id } }
}

function isTradable(asset: Asset, wanted: Wanted): boolean {
  const same =
    asset.assetId === wanted.assetId && asset.appId === wanted.appId && asset.contextId === wanted.contextId
  return same && asset.contextId === '2' && CATALOGUE.get(asset.classId)?.tradable === true
}

/** Ends a live offer: its sender cancels it, its partner declines it. Refusals: 42 unknown, 15 not theirs, 11 not live. */
export function endOffer(
  world: World,
  end: { offerId: string; by: string; how: 'cancel' | 'decline' },
  nowS: number,
): Answer<{ kind: 'ended' }> {
  const offer = world.offers.find(({ id }) => id === end.offerId)
  if (!offer) return refuse(world, 42)
  if (end.by !== (end.how === 'cancel' ? offer.sender : offer.partner)) return refuse(world, 15)
  if (offer.state !== STATE.active) return refuse(world, 11)
  const state = end.how === 'cancel' ? STATE.canceled : STATE.declined
  return { world: withOffer(world, { ...offer, state, updatedAtS: nowS }), answer: { kind: 'ended' } }
}

/**
 * The partner accepts: the items leave them and appear with new ids at the sender, those of Counter-Strike under
 * protection. Refusals: 42 unknown, 15 not theirs, 28 already accepted, 11 not live, 26 an item is gone.
 */
export function acceptOffer(
  world: World,
  accept: { offerId: string; by: string },
  nowS: number,
): Answer<{ kind: 'accepted'; tradeId: string }> {
  const offer = world.offers.find(({ id }) => id === accept.offerId)
  if (!offer) return refuse(world, 42)
  if (offer.partner !== accept.by) return refuse(world, 15)
  if (offer.state === STATE.accepted) return refuse(world, 28)
  if (offer.state !== STATE.active) return refuse(world, 11)
  const owned = new Set(findAccount(world, offer.partner)?.assets.map(({ assetId }) => assetId))
  if (!offer.items.every(({ assetId }) => owned.has(assetId))) {
    return refuse(withOffer(world, { ...offer, state: STATE.invalidItems, updatedAtS: nowS }), 26)
  }
  const trade = tradeOf(offer, world.lastId, nowS)
  const accepted = { ...offer, state: STATE.accepted, updatedAtS: nowS, tradeId: trade.id }
  const moved = withMovedItems(withOffer(world, accepted), trade)
  const next = { ...moved, lastId: world.lastId + offer.items.length + 1, trades: [...world.trades, trade] }
  return { world: next, answer: { kind: 'accepted', tradeId: trade.id } }
}

function tradeOf(offer: Offer, lastId: number, nowS: number): Trade {
  const isProtected = offer.items.some(({ appId }) => appId === PROTECTED_APP)
  return {
    // As on Steam, beyond what a JavaScript number can hold.
    id: `61${String(lastId + 1).padStart(17, '0')}`,
    giver: offer.partner,
    receiver: offer.sender,
    atS: nowS,
    settlesAtS: isProtected ? nowS + PROTECTION_S : 0,
    items: offer.items.map((item, index) => ({
      ...item,
      newAssetId: String(lastId + 2 + index),
      newContextId: item.appId === PROTECTED_APP ? '16' : '2',
    })),
  }
}

function withMovedItems(world: World, trade: Trade): World {
  const gone = new Set(trade.items.map(({ assetId }) => assetId))
  const arrived = trade.items.map(({ newAssetId, newContextId, appId, classId }): Asset => {
    const asset = { assetId: newAssetId, appId, contextId: newContextId, classId }
    return newContextId === '16' ? { ...asset, settlesAtS: trade.settlesAtS } : asset
  })
  const robbed = (offer: Offer) =>
    offer.state === STATE.active && offer.items.some(({ assetId }) => gone.has(assetId))
  return {
    ...world,
    offers: world.offers.map((offer) =>
      robbed(offer) ? { ...offer, state: STATE.invalidItems, updatedAtS: trade.atS } : offer,
    ),
    accounts: world.accounts.map((account) => {
      const kept = account.assets.filter(({ assetId }) => !gone.has(assetId))
      return { ...account, assets: account.steamId === trade.receiver ? [...kept, ...arrived] : kept }
    }),
  }
}

function withOffer(world: World, changed: Offer): World {
  return { ...world, offers: world.offers.map((offer) => (offer.id === changed.id ? changed : offer)) }
}

function refuse(world: World, eresult: number): { world: World; answer: Refusal } {
  return { world, answer: { kind: 'refused', eresult } }
}

/** Numbers in [0, 1), always the same for a seed. */
function createRandom(seed: string): () => number {
  let count = 0
  return () => {
    count += 1
    return createHash('sha256').update(`${seed}:${count}`).digest().readUInt32BE(0) / 2 ** 32
  }
}

function tokenOf(random: () => number): string {
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789-_'
  return Array.from({ length: 8 }, () => letters[Math.floor(random() * letters.length)]).join('')
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value)
}
