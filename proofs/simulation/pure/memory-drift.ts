/**
 * The findings about bots' inventories, in memory. Mirrors drift/store.ts. Checks that every certain finding is true.
 */
import { keyOf } from '../../../gateway/departures/departure.ts'
import { type BookedItem, type KnownFinding, nameKey } from '../../../gateway/drift/drift.ts'
import type { DriftState, DriftStore } from '../../../gateway/drift/watch.ts'
import { isDelivered } from '../../../gateway/trades/trade.ts'
import { nameOf } from '../own-inventory.ts'
import { must } from '../violation.ts'
import { hasEverHadItem, type Pause, type TillMemory, type TradeRow } from './memory.ts'
import { departuresOf } from './memory-departures.ts'

const UNSEEN: DriftState = { noted: [], lookedAt: null, wholeAt: null, askedAt: null }

export function createMemoryDrift(memory: TillMemory, pause: Pause): DriftStore {
  const read = <T>(what: () => T): Promise<T> => pause(1, 10).then(what)
  return {
    stateOf: (botId) => read(() => memory.drift.get(botId) ?? UNSEEN),
    custodyOf: (botId, shown) =>
      read(() => ({
        booked: heldBy(memory, botId),
        leaving: leaving(memory, botId),
        entered: new Set(shown.filter(({ assetId }) => isKnown(memory, botId, assetId)).map(keyOf)),
        coming: coming(memory, botId),
      })),
    historyFrom: (botId) =>
      read(() =>
        hasEverHadItem(memory, botId) ? (memory.bots.get(botId)?.history.knownUntil ?? null) : undefined,
      ),
    // The simulated Steam always gives asset ids.
    learnAssetIds: async () => {},
    async saveLook(botId, { leaseEpoch }, { dueAt, ...saved }) {
      await pause(1, 10)
      if (memory.bots.get(botId)?.leaseEpoch !== leaseEpoch) return false
      for (const noted of saved.noted) if (noted.isSure) checkCertain(memory, botId, noted)
      memory.drift.set(botId, { ...saved, askedAt: null, dueAt })
      return true
    },
    takeDue: ({ now, nextAt }) =>
      read(() => {
        const due = [...memory.bots.values()].filter(({ botId, state }) => {
          return state === 'active' && (memory.drift.get(botId)?.dueAt ?? now) <= now
        })
        for (const { botId } of due)
          memory.drift.set(botId, { ...(memory.drift.get(botId) ?? UNSEEN), dueAt: nextAt })
        return due.map(({ botId }) => botId)
      }),
  }
}

/** The trade of an item, and the asset id that the item had when the shopper gave it. */
function itemOf({ trades }: TillMemory, key: string): { row: TradeRow | undefined; given: string } {
  const [id = '0', given = ''] = key.split('/')
  return { row: trades.get(BigInt(id)), given }
}

function heldBy(memory: TillMemory, botId: bigint): BookedItem[] {
  return [...memory.custody].flatMap(([key, entries]): BookedItem[] => {
    const last = entries.at(-1)
    const { row, given } = itemOf(memory, key)
    const asset = row?.trade.items.find(({ assetId }) => assetId === given)
    if (last?.moved !== 'in' || last.botId !== botId || row === undefined || asset === undefined) return []
    const about = {
      appId: asset.appId,
      marketHashName: nameOf(asset),
      isProtected: row.trade.state === 'held',
    }
    return [{ item: key, assetId: last.as, receivedAt: last.at, ...about }]
  })
}

function leaving(memory: TillMemory, botId: bigint): Set<string> {
  const keys = new Set<string>()
  for (const { stage, items, steamTradeId } of departuresOf(memory, botId).values()) {
    for (const item of items) {
      const isBooked = memory.booked.has(`${botId}/${steamTradeId} ${keyOf(item)}`)
      if (stage === 'under_way' || (stage === 'gone' && !isBooked && !item.isBack)) keys.add(keyOf(item))
    }
  }
  return keys
}

const isKnown = ({ custody }: TillMemory, botId: bigint, assetId: string): boolean =>
  [...custody.values()].some((entries) =>
    entries.some((entry) => entry.botId === botId && entry.moved === 'in' && entry.as === assetId),
  )

function coming({ trades }: TillMemory, botId: bigint): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { trade, facts, holdsAssets } of trades.values()) {
    if (facts.botId !== botId || isDelivered(trade) || (!holdsAssets && facts.dueAt === null)) continue
    for (const asset of trade.items) {
      const name = nameKey({ appId: asset.appId, marketHashName: nameOf(asset) })
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return counts
}

/**
 * Checks that no race causes an alert: a missing item has really vanished, a foreign one is not in the books, and no
 * finding is `unnamed`.
 */
function checkCertain(memory: TillMemory, botId: bigint, { kind, item, appId, assetId }: KnownFinding): void {
  const { steam } = memory
  if (kind === 'missing') {
    const { row, given } = itemOf(memory, item ?? '')
    const steamTrade = steam.steamTrades.get(row?.deliveredBy ?? '')
    const real = steamTrade?.items.find(({ asset }) => asset.assetId === given)
    const isLost = real?.isVanished === true
    must(isLost, 'I19', () => `item ${item} counts as missing from bot ${botId}, but did not vanish`)
    return
  }
  must(
    kind === 'foreign',
    'I19',
    () => `item ${item} has no asset id at bot ${botId}, although Steam named it`,
  )
  const isOfBooks = heldBy(memory, botId).some((held) => held.appId === appId && held.assetId === assetId)
  must(!isOfBooks, 'I19', () => `asset ${assetId} of bot ${botId} counts as foreign, but is in the books`)
}
