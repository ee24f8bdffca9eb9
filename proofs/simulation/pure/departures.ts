/** Compares the departures that the till knows with the gifts: Steam trades in which a bot gives items away. */
import { DESTINATIONS } from '../gifts.ts'
import type { Gift, TradedItem } from '../steam-memory.ts'
import { must } from '../violation.ts'
import { hasEverHadItem, type TillMemory, type TradeRow } from './memory.ts'

/** How late the till may learn of a change to a gift. Steam's answer alone can be a minute old. */
const MARGIN_MS = 120_000
/** The longest duration of a look through the histories. */
const LOOK_MS = 600_000

/**
 * Checks, after a look through the histories, that the till knows the earlier gifts of the bots in service, and
 * reports no invented one.
 */
export function checkDepartures(memory: TillMemory, lookedAtMs: number): void {
  const { bots, steam, departures, engine } = memory
  for (const gift of steam.gifts.values()) {
    const botId = BigInt(gift.bot)
    const isWatched = bots.get(botId)?.state === 'active' && hasEverHadItem(memory, botId)
    if (!isWatched || gift.beganAt > lookedAtMs || engine.now() - gift.changedAt < MARGIN_MS) continue
    checkGift(memory, gift)
  }
  for (const [botId, known] of departures) {
    for (const { steamTradeId } of known.values()) {
      const isTrue = steam.gifts.get(steamTradeId)?.bot === String(botId)
      must(
        isTrue,
        'I18',
        () => `the till reports the gift ${steamTradeId} of bot ${botId}, which never happened`,
      )
    }
  }
}

/**
 * Plans a check ten minutes after each look through the histories begins. `looks`: when, in milliseconds from now.
 */
export function planDepartureChecks(memory: TillMemory, looks: readonly number[]): void {
  const { engine } = memory
  const begunAt = engine.now()
  for (const ms of looks) engine.after(ms + LOOK_MS, () => checkDepartures(memory, begunAt + ms))
}

function checkGift({ departures, bots }: TillMemory, gift: Gift): void {
  const { tradeId, bot, partner, state } = gift
  const departure = departures.get(BigInt(bot))?.get(tradeId)
  if (departure === undefined && state === 'failed') return
  must(departure !== undefined, 'I18', () => `the gift ${tradeId} of bot ${bot} was not noticed`)
  const partnerBot = bots.get(BigInt(partner))
  // A retired bot no longer counts as a bot of the till.
  if (partnerBot?.state === 'retired') return
  const isKnownPartner = partnerBot !== undefined || [...DESTINATIONS.values()].includes(partner)
  const { kind } = departure?.explanation ?? {}
  const isExplained = kind === (partnerBot === undefined ? 'destination' : 'own_bot')
  must(
    isKnownPartner === isExplained,
    'I18',
    () => `${tradeId} to ${partner} is ${isExplained ? '' : 'not '}explained`,
  )
}

/** Checks that, in the books, the item is at the bot that has it, and at no bot if none has it. */
export function checkItem(
  { custody, bots }: TillMemory,
  { facts, deliveredBy }: TradeRow,
  { item, isKept }: { item: TradedItem; isKept: boolean },
): void {
  const { assetId } = item.asset
  const last = custody.get(`${facts.id}/${assetId}`)?.at(-1)
  // The till does not read the history of a bot that is out of service.
  if (deliveredBy !== null && [...item.bots].some((bot) => bots.get(BigInt(bot))?.state !== 'active')) return
  const isThere = last?.moved === 'in'
  must(isThere === isKept, 'I13', () => `item ${assetId} of trade ${facts.id} is ${last?.moved ?? 'nowhere'}`)
  const isSame = item.place === null || !isThere || String(last.botId) === item.place.bot
  must(isSame, 'I18', () => `item ${assetId} is booked to bot ${last?.botId}, bot ${item.place?.bot} has it`)
}
