/** Holds the departures that the till knows of against what really left. */
import { DESTINATIONS } from '../gifts.ts'
import type { Gift } from '../steam-memory.ts'
import { hold } from '../violation.ts'
import { everHeld, type Memory } from './memory.ts'

/** The till reads of a gift a while after it began; what Steam says of it may be a minute old. */
const MARGIN_MS = 120_000
/** A look may take several turns. */
const LOOK_MS = 600_000

/** Called after a look through the histories: every gift that began before it is known, and none that was not made. */
export function checkThefts(memory: Memory, lookedAtMs: number): void {
  const { bots, steam, departures, engine } = memory
  for (const gift of steam.gifts.values()) {
    const botId = BigInt(gift.bot)
    const isWatched = bots.get(botId)?.state === 'active' && everHeld(memory, botId)
    if (!isWatched || gift.beganAt > lookedAtMs || engine.now() - gift.changedAt < MARGIN_MS) continue
    checkGift(memory, gift)
  }
  for (const [botId, known] of departures) {
    for (const { steamTradeId } of known.values()) {
      const isTrue = steam.gifts.get(steamTradeId)?.bot === String(botId)
      hold(isTrue, 'I18', () => `bot ${botId} is said to have given by ${steamTradeId}`)
    }
  }
}

/** Ten minutes after each of these looks through the histories, which begin so long from now. */
export function planTheftChecks(memory: Memory, looks: readonly number[]): void {
  const { engine } = memory
  const begunAt = engine.now()
  for (const ms of looks) engine.after(ms + LOOK_MS, () => checkThefts(memory, begunAt + ms))
}

function checkGift({ departures }: Memory, gift: Gift): void {
  const { tradeId, bot, partner, state } = gift
  const known = departures.get(BigInt(bot))?.get(tradeId)
  if (known === undefined && state === 'failed') return
  hold(known !== undefined, 'I18', () => `nobody noticed ${tradeId}, in which bot ${bot} gave`)
  const mayLeave = [...DESTINATIONS.values()].includes(partner)
  const isExplained = known?.explanation?.kind === 'destination'
  hold(
    mayLeave === isExplained,
    'I18',
    () => `${tradeId} to ${partner} is ${isExplained ? '' : 'not '}explained`,
  )
}
