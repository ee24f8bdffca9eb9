import { CATALOGUE } from '../items.ts'
import { DAY_S, type Offer, PROTECTED_APP, PROTECTION_S, STATE, TRADE, type Trade } from './world.ts'

const DAYS = 9
const TRADES_A_DAY = 1_000
const TRADE_EVERY_S = Math.floor(DAY_S / TRADES_A_DAY)

/**
 * The accepted offers and the trades of a bot that has made 1,000 trades a day for nine days, oldest first. They are
 * not stored but computed from the time, so a trade always has the same ids.
 */
export function pastOf(bot: string, partner: string, nowS: number): { offers: Offer[]; trades: Trade[] } {
  const classId = [...CATALOGUE.values()].find(({ appId }) => appId === PROTECTED_APP)?.classId ?? ''
  const last = Math.floor(nowS / TRADE_EVERY_S) - 1
  const slots = Array.from(
    { length: DAYS * TRADES_A_DAY },
    (_, index) => last - DAYS * TRADES_A_DAY + 1 + index,
  )
  const deals = slots.map((slot) => {
    const atS = slot * TRADE_EVERY_S
    // Each kind of id begins with its own digits.
    const asset = { assetId: `7${slot}`, appId: PROTECTED_APP, contextId: '2', classId }
    const tradeId = `62${String(slot).padStart(17, '0')}`
    const parties = { sender: bot, partner }
    const offer: Offer = {
      ...parties,
      id: `4${slot}`,
      message: `past ${slot}`,
      state: STATE.accepted,
      createdAtS: atS,
      updatedAtS: atS,
      items: [asset],
      give: [],
      tradeId,
    }
    const trade: Trade = {
      ...parties,
      id: tradeId,
      status: TRADE.complete,
      atS,
      settlesAtS: atS + PROTECTION_S,
      settled: atS + PROTECTION_S <= nowS,
      items: [{ ...asset, from: partner, newAssetId: `8${slot}`, newContextId: '16' }],
    }
    return { offer, trade }
  })
  return { offers: deals.map(({ offer }) => offer), trades: deals.map(({ trade }) => trade) }
}
