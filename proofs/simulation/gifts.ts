/** Items that leave the bots of the simulated Steam, and the rows of trade histories that undo Steam trades. */
import type { OfferAsset, SteamTrade, SteamTradeState } from '../../gateway/steam/steam.ts'
import { STALE_MS } from './steam-answers.ts'
import type { Gift, GiftItem, ModelTrade, SteamMemory, TradedItem } from './steam-memory.ts'

/** An account of the operator that is not a bot. */
const STORAGE = '76561198000009001'
export const DESTINATIONS: ReadonlyMap<string, string> = new Map([['storage', STORAGE]])
const THIEF = '76561198000009002'
const HOUR_MS = 3_600_000
/** The most items in a gift, unless a thief takes all of a bot's items. */
const MOST_GIVEN = 3

/** `withinMs`: each step of a gift follows the one before within this time. `bots`: the till's bots. */
type Plan = { bots: readonly string[]; withinMs: number }

/**
 * Gives away some of a bot's items, as somebody with its session could. The operator gives them to another account or
 * another bot, or a thief takes them. Steam may hold or undo the trade, and the operator may send items back to a bot.
 */
export function giveAway(memory: SteamMemory, bot: string, plan: Plan): void {
  const { random, faults, engine } = memory
  const inHand = itemsInHand(memory, bot)
  if (inHand.length === 0) return
  const others = plan.bots.filter((other) => other !== bot)
  const ownBot = others[random.int(others.length)] ?? STORAGE
  const partner = random.pick([THIEF, THIEF, STORAGE, STORAGE, ownBot])
  const items =
    partner === THIEF && random.chance(0.5) ? inHand : inHand.slice(0, random.between(1, MOST_GIVEN))
  const gift = beginGift(memory, { bot, partner, items })
  if (partner === THIEF) faults.note('theft from a bot')
  else faults.note(partner === STORAGE ? 'items sent away by the operator' : 'items moved to another bot')
  if (random.chance(0.7)) {
    finish(memory, gift, plan)
    return
  }
  const isCalledOff = random.chance(0.5)
  setState(memory, gift, random.pick<SteamTradeState>(['pending', 'in_escrow']))
  engine.after(random.int(plan.withinMs), () => {
    if (!isCalledOff) return finish(memory, gift, plan)
    setState(memory, gift, 'failed')
    faults.note('departure cancelled')
    for (const { traded } of gift.items) traded.gift = null
  })
}

function finish(memory: SteamMemory, gift: Gift, { bots, withinMs }: Plan): void {
  const { random, engine } = memory
  const { partner } = gift
  const isOwn = bots.includes(partner)
  setState(memory, gift, 'complete')
  for (const item of gift.items) {
    const { traded } = item
    item.newAssetId = nextId(memory)
    traded.gift = null
    if (isOwn) putInto(traded, partner, item.newAssetId)
    else traded.place = null
  }
  if (isOwn) addToReceiver(memory, gift)
  if (random.chance(0.3)) engine.after(random.int(withinMs), () => takeBack(memory, gift, isOwn))
  else if (partner === STORAGE && random.chance(0.4))
    engine.after(random.int(withinMs), () => sendBack(memory, gift, bots))
}

export function putInto(item: TradedItem, bot: string, assetId: string): void {
  item.place = { bot, assetId }
  item.bots.add(bot)
}

/** Adds the same trade to the history of the receiving bot. */
function addToReceiver(memory: SteamMemory, { tradeId, bot, partner, beganAt, items }: Gift): void {
  const received = items.map(({ asset, newAssetId }) => ({ ...asset, newAssetId, rolledBackAssetId: null }))
  memory.fixedRows.push({ bot: partner, row: rowOfReceiver({ tradeId, from: bot, beganAt, received }) })
}

type Received = { tradeId: string; from: string; beganAt: number; received: SteamTrade['received'] }

const rowOfReceiver = ({ tradeId, from, beganAt, received }: Received): SteamTrade => ({
  tradeId,
  partnerSteamId: from,
  state: 'complete',
  begunAt: new Date(beganAt),
  received,
  given: [],
  settlesAt: null,
  rollbackOf: null,
})

/** Sends some of the items from the operator's account to a bot: the one that gave them, or another one. */
function sendBack(memory: SteamMemory, gift: Gift, bots: readonly string[]): void {
  const { random, faults } = memory
  const remaining = gift.items.filter(
    ({ rolledBackAssetId, traded }) => rolledBackAssetId === null && !traded.isVanished,
  )
  // The till reads the history of a bot only once the bot has had an item.
  const candidates = bots.filter((bot) => itemsInHand(memory, bot).length > 0)
  const bot = candidates[random.int(Math.max(1, candidates.length))]
  if (bot === undefined || remaining.length === 0) return
  faults.note('items sent back by a destination')
  const sentBack = remaining.slice(0, random.between(1, remaining.length))
  const received = sentBack.map((item) => {
    const newAssetId = nextId(memory)
    item.isSentBack = true
    putInto(item.traded, bot, newAssetId)
    return { ...item.asset, assetId: item.newAssetId ?? '', newAssetId, rolledBackAssetId: null }
  })
  const tradeId = tradeIdOf(nextId(memory))
  const beganAt = memory.engine.now()
  memory.fixedRows.push({ bot, row: rowOfReceiver({ tradeId, from: gift.partner, beganAt, received }) })
}

/** The bot's unprotected items from Steam trades that the till can prove. */
export function itemsInHand({ steamTrades, engine }: SteamMemory, bot: string): TradedItem[] {
  return [...steamTrades.values()].flatMap(({ offer, state, settlesAt, items }) => {
    const isFree = settlesAt === null || settlesAt <= engine.now()
    const isThere = state === 'complete' && isFree && !offer.isIdLost && !offer.isOpaque
    return isThere ? items.filter(({ gift, place }) => gift === null && place?.bot === bot) : []
  })
}

type NewGift = { bot: string; partner: string; items: readonly TradedItem[] }

function beginGift(memory: SteamMemory, { bot, partner, items }: NewGift): Gift {
  const { engine, gifts } = memory
  const now = engine.now()
  const giftItems = items.map((item): GiftItem => {
    const asset: OfferAsset = { ...item.asset, assetId: item.place?.assetId ?? '' }
    return { traded: item, asset, newAssetId: null, rolledBackAssetId: null, isSentBack: false }
  })
  const id = tradeIdOf(nextId(memory))
  const parts = { tradeId: id, bot, partner, state: 'pending', beganAt: now, items: giftItems } as const
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

const nextId = (memory: SteamMemory): string => {
  memory.lastId += 1
  return String(memory.lastId)
}

/** Pads the number, because histories sort their rows by these ids as texts. */
const tradeIdOf = (id: string): string => `61${id.padStart(17, '0')}`

function setState({ engine }: SteamMemory, gift: Gift, state: SteamTradeState): void {
  gift.earlier = rowOf(gift)
  gift.state = state
  gift.changedAt = engine.now()
}

/**
 * Takes back the first item that the gift's new owner still has; if the owner still has them all, sometimes the whole
 * gift. `isOwn`: the owner is a bot, with a history.
 */
function takeBack(memory: SteamMemory, gift: Gift, isOwn: boolean): void {
  const { bot, partner, tradeId } = gift
  const remaining = gift.items.filter(({ traded, newAssetId, isSentBack }) => {
    const isPassedOn = traded.gift !== null || (traded.place !== null && traded.place.assetId !== newAssetId)
    return !isSentBack && !isPassedOn && !traded.isVanished && isWith(traded, partner)
  })
  if (remaining.length === 0) return
  const isWhole =
    remaining.length === gift.items.length && (memory.random.chance(0.5) || remaining.length === 1)
  memory.faults.note('departure taken back')
  setState(memory, gift, isWhole ? 'rolled_back' : 'partly_rolled_back')
  const returning = isWhole ? remaining : remaining.slice(0, 1)
  for (const item of returning) {
    item.rolledBackAssetId = item.asset.assetId
    putInto(item.traded, bot, item.asset.assetId)
  }
  const undone = returning.map(({ asset, newAssetId }) => ({
    asset: { ...asset, assetId: newAssetId ?? '' },
    newAssetId: asset.assetId,
  }))
  addUndoing(memory, { bot, partner, rollbackOf: tradeId, given: [], received: undone })
  if (isOwn)
    addUndoing(memory, { bot: partner, partner: bot, rollbackOf: tradeId, given: undone, received: [] })
}

/** Whether the partner has the item. For an account that is not a bot, this only means that no bot has it. */
const isWith = ({ place }: TradedItem, partner: string): boolean =>
  place === null ? partner === THIEF || partner === STORAGE : place.bot === partner

/** Adds the history's row of a reversed delivery. In this row the bot gives items, which is no theft. */
export function undoDelivery(memory: SteamMemory, steamTrade: ModelTrade, back: ModelTrade['items']): void {
  const given = back.map(({ asset, newAssetId }) => {
    return { asset: { ...asset, assetId: newAssetId ?? '' }, newAssetId: asset.assetId }
  })
  const { bot, partner } = steamTrade.offer
  addUndoing(memory, { bot, partner, rollbackOf: steamTrade.tradeId, given, received: [] })
}

type Moved = { asset: OfferAsset; newAssetId: string }
type Undoing = { bot: string; partner: string; rollbackOf: string; given: Moved[]; received: Moved[] }

function addUndoing(memory: SteamMemory, { bot, partner, rollbackOf, given, received }: Undoing): void {
  const { engine, fixedRows } = memory
  const asMoved = ({ asset, newAssetId }: Moved) => ({ ...asset, newAssetId, rolledBackAssetId: null })
  fixedRows.push({
    bot,
    row: {
      tradeId: tradeIdOf(nextId(memory)),
      partnerSteamId: partner,
      state: 'complete',
      begunAt: new Date(engine.now()),
      received: received.map(asMoved),
      given: given.map(asMoved),
      settlesAt: null,
      rollbackOf,
    },
  })
}

export function answerGift({ engine, faults }: SteamMemory, gift: Gift): SteamTrade {
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

/** Whether the item left the bots in a trade and did not come back. */
export const hasLeftBots = ({ place, isVanished, newAssetId }: TradedItem): boolean =>
  newAssetId !== null && place === null && !isVanished

/** Milliseconds from the start until the reading of the bots' histories that has to find all gifts. */
export const GIFTS_CHECKED_MS = 100 * HOUR_MS
/** When the last gift begins, in milliseconds from the start. */
const LAST_GIFT_MS = 70 * HOUR_MS
const MOST_GIFTS = 2

/** Plans up to `MOST_GIFTS` gifts for each bot. */
export function planGifts(memory: SteamMemory, bots: readonly string[]): void {
  const { engine, random } = memory
  for (const bot of bots) {
    for (let count = random.int(MOST_GIFTS + 1); count > 0; count -= 1) {
      const afterMs = random.chance(0.5) ? random.between(HOUR_MS / 6, HOUR_MS) : random.int(LAST_GIFT_MS)
      engine.after(afterMs, () =>
        giveAway(memory, bot, { bots, withinMs: GIFTS_CHECKED_MS - LAST_GIFT_MS - HOUR_MS }),
      )
    }
  }
}
