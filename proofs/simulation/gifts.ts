/** Items that leave the bots of the simulated Steam, and the rows that undo exchanges. */
import type { OfferAsset, SteamTrade, SteamTradeState } from '../../gateway/steam/steam.ts'
import { STALE_MS } from './steam-answers.ts'
import type { Exchange, Gift, GiftItem, Memory } from './steam-memory.ts'

export const DESTINATIONS: ReadonlyMap<string, string> = new Map([['storage', '76561198000009001']])
const STORAGE = '76561198000009001'
const THIEF = '76561198000009002'
const HOUR_MS = 3_600_000
const MOST_GIVEN = 3

/**
 * Somebody with a bot's session gives some of what it holds: the operator by hand, or a thief. Steam may hold such a trade,
 * and may undo it. `withinMs`: all of that happens within so long.
 */
export function giveAway(memory: Memory, bot: string, withinMs: number): void {
  const { random, faults, engine } = memory
  const held = itemsInHand(memory, bot)
  if (held.length === 0) return
  const isThief = random.chance(0.5)
  const items = isThief && random.chance(0.5) ? held : held.slice(0, random.between(1, MOST_GIVEN))
  const gift = begin(memory, { bot, partner: isThief ? THIEF : STORAGE, items })
  faults.saw(isThief ? 'thief at a bot' : 'items sent away by the operator')
  const finish = () => {
    turn(memory, gift, 'complete')
    for (const item of gift.items) item.newAssetId = nextId(memory)
    if (random.chance(0.3)) engine.after(random.int(withinMs), () => takeBack(memory, gift))
  }
  if (random.chance(0.7)) {
    finish()
    return
  }
  const isCalledOff = random.chance(0.5)
  turn(memory, gift, random.pick<SteamTradeState>(['pending', 'in_escrow']))
  engine.after(random.int(withinMs), () => {
    if (!isCalledOff) return finish()
    turn(memory, gift, 'failed')
    faults.saw('departure called off')
    for (const { of } of gift.items) of.gift = null
  })
}

/** Items that Steam lets the bot give, without protected ones. Of an exchange that Steam never named the till knows nothing. */
function itemsInHand({ exchanges, engine }: Memory, bot: string): Exchange['items'] {
  return [...exchanges.values()].flatMap(({ offer, state, settlesAt, items }) => {
    const isFree = settlesAt === null || settlesAt <= engine.now()
    const isThere = offer.bot === bot && state === 'complete' && isFree && !offer.isIdLost && !offer.isOpaque
    return isThere ? items.filter(({ gift }) => gift === null) : []
  })
}

type Giving = { bot: string; partner: string; items: Exchange['items'] }

function begin(memory: Memory, { bot, partner, items }: Giving): Gift {
  const { engine, gifts } = memory
  const now = engine.now()
  const rows = items.map((item): GiftItem => {
    const asset: OfferAsset = { ...item.asset, assetId: item.newAssetId ?? '' }
    return { of: item, asset, newAssetId: null, rolledBackAssetId: null }
  })
  const id = tradeIdOf(nextId(memory))
  const parts = { tradeId: id, bot, partner, state: 'pending', beganAt: now, items: rows } as const
  const gift: Gift = {
    ...parts,
    changedAt: now,
    rollbackOf: null,
    earlier: rowOf({ ...parts, rollbackOf: null }),
  }
  for (const item of items) item.gift = gift
  gifts.set(id, gift)
  return gift
}

const nextId = (memory: Memory): string => {
  memory.lastId += 1
  return String(memory.lastId)
}

const tradeIdOf = (id: string): string => `61${id.padStart(17, '0')}`

function turn({ engine }: Memory, gift: Gift, state: SteamTradeState): void {
  gift.earlier = rowOf(gift)
  gift.state = state
  gift.changedAt = engine.now()
}

/** All of it, or its first item. */
function takeBack(memory: Memory, gift: Gift): void {
  const isWhole = memory.random.chance(0.5) || gift.items.length === 1
  memory.faults.saw('departure taken back')
  turn(memory, gift, isWhole ? 'rolled_back' : 'partly_rolled_back')
  const back = isWhole ? gift.items : gift.items.slice(0, 1)
  for (const item of back) item.rolledBackAssetId = item.asset.assetId
  const undone = back.map(({ asset, newAssetId }) => ({
    asset: { ...asset, assetId: newAssetId ?? '' },
    as: asset.assetId,
  }))
  addUndoing(memory, {
    bot: gift.bot,
    partner: gift.partner,
    rollbackOf: gift.tradeId,
    given: [],
    received: undone,
  })
}

/** The row of a reversed delivery: in it the bot gives, and nobody stole anything. */
export function undoDelivery(memory: Memory, exchange: Exchange, back: Exchange['items']): void {
  const given = back.map(({ asset, newAssetId }) => {
    return { asset: { ...asset, assetId: newAssetId ?? '' }, as: asset.assetId }
  })
  const { bot, partner } = exchange.offer
  addUndoing(memory, { bot, partner, rollbackOf: exchange.tradeId, given, received: [] })
}

type Moved = { asset: OfferAsset; as: string }
type Undoing = { bot: string; partner: string; rollbackOf: string; given: Moved[]; received: Moved[] }

function addUndoing(memory: Memory, { bot, partner, rollbackOf, given, received }: Undoing): void {
  const { engine, undoings } = memory
  const moved = ({ asset, as }: Moved) => ({ ...asset, newAssetId: as, rolledBackAssetId: null })
  undoings.push({
    bot,
    row: {
      tradeId: tradeIdOf(nextId(memory)),
      partnerSteamId: partner,
      state: 'complete',
      begunAt: new Date(engine.now()),
      received: received.map(moved),
      given: given.map(moved),
      settlesAt: null,
      rollbackOf,
    },
  })
}

export function tellGift({ engine, faults }: Memory, gift: Gift): SteamTrade {
  const { earlier, changedAt, state } = gift
  const isOld = earlier.state !== state && engine.now() - changedAt < STALE_MS
  return isOld && faults.strike('stale read', 0.05) ? earlier : rowOf(gift)
}

const rowOf = (
  gift: Pick<Gift, 'tradeId' | 'partner' | 'state' | 'beganAt' | 'items' | 'rollbackOf'>,
): SteamTrade => ({
  tradeId: gift.tradeId,
  partnerSteamId: gift.partner,
  state: gift.state,
  begunAt: new Date(gift.beganAt),
  received: [],
  given: gift.items.map(({ asset, newAssetId, rolledBackAssetId }) => ({
    ...asset,
    newAssetId,
    rolledBackAssetId,
  })),
  settlesAt: null,
  rollbackOf: gift.rollbackOf,
})

/** True where the item left its bot, and did not come back. */
export const isAway = ({ gift, newAssetId }: Exchange['items'][number]): boolean => {
  const item = gift?.items.find(({ asset }) => asset.assetId === newAssetId)
  return item !== undefined && item.newAssetId !== null && item.rolledBackAssetId === null
}

/** The last look through the histories begins after so long. */
export const LAST_LOOK_MS = 100 * HOUR_MS
const LAST_GIFT_MS = 70 * HOUR_MS
const MOST_GIFTS = 2

/** Some bots lose items, most of them once. */
export function planGifts(memory: Memory, bots: readonly string[]): void {
  const { engine, random } = memory
  for (const bot of bots) {
    for (let count = random.int(MOST_GIFTS + 1); count > 0; count -= 1) {
      const after = random.chance(0.5) ? random.between(HOUR_MS / 6, HOUR_MS) : random.int(LAST_GIFT_MS)
      engine.after(after, () => giveAway(memory, bot, LAST_LOOK_MS - LAST_GIFT_MS - HOUR_MS))
    }
  }
}
