/** A process of the vault: its own record, desks and sellers, over a market, a Steam and a till that are models. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFolder } from '../../vault/files/folder.ts'
import { type Key, openKey } from '../../vault/files/key.ts'
import type { Entry, VaultLog } from '../../vault/files/log.ts'
import { createDesk } from '../../vault/markets/desk.ts'
import { DEFAULT_RULES } from '../../vault/markets/price-policy.ts'
import { openRecord, type SaleRecord } from '../../vault/markets/record.ts'
import { scaleOf } from '../../vault/markets/scale.ts'
import { createSeller } from '../../vault/markets/seller.ts'
import type { Till } from '../../vault/markets/till.ts'
import type { Luck } from './luck.ts'
import { type ModelMarket, US } from './market.ts'
import type { ModelSteam } from './steam.ts'
import type { ModelTill } from './till.ts'

export type Outside = {
  luck: Luck
  steam: ModelSteam
  markets: readonly ModelMarket[]
  till: ModelTill
  entries: Entry[]
  key: Key
  now(): Date
  priceOf(name: string): bigint
  /** Whether the operator has switched the markets off. */
  isOff(): boolean
}

export type VaultProcess = { record: SaleRecord; round(): Promise<void> }

/** One key for all seeds: what it seals is in no trace. */
export function aKey(): Key {
  const path = mkdtempSync(join(tmpdir(), 'sales-'))
  try {
    return openKey(openFolder(path))
  } finally {
    rmSync(path, { recursive: true })
  }
}

/** A log in memory. The process may die before an entry is there, and after. */
function logOf({ entries, luck }: Outside): VaultLog {
  return {
    entries: () => entries,
    add(entry, at) {
      luck.mayDie()
      const added = { n: entries.length + 1, at, entry }
      entries.push(added)
      luck.mayDie()
      return added
    },
    close: () => {},
  }
}

export function startVault(outside: Outside): VaultProcess {
  const { key, now, luck, till } = outside
  const record = openRecord(logOf(outside), key, now)
  const port = tillPort(outside)
  const desks = outside.markets.map((market) => deskOf(outside, { market, record, port }))
  let told: number | undefined
  return {
    record,
    async round() {
      for (const desk of desks) await desk.round()
      if (luck.hits('till away', 0.05)) return
      told ??= till.lastTold()
      const news = record.newsAfter(told)
      till.tell(news)
      luck.mayDie()
      told = news.at(-1)?.n ?? told
      record.forget(told)
    },
  }
}

type DeskOf = { market: ModelMarket; record: SaleRecord; port: Till }

function deskOf(outside: Outside, { market: model, record, port }: DeskOf) {
  const { luck, steam, now } = outside
  const market = model.port()
  const scale = scaleOf('USD')
  if (scale === undefined) throw new Error('dollars have a scale')
  const seller = createSeller({
    ...{ market, hands: steam.hands, journal: record, scale, now },
    ownAccounts: new Set([US]),
    hasRoom: () => !luck.hits('limits have no room', 0.05),
    alarm: (alarm) => luck.trace.add(JSON.stringify(alarm)),
  })
  return createDesk({
    ...{ market, seller, journal: record, till: port, now },
    account: {
      freeItems: (appId) => steam.freeItems(appId),
      accessToken: async () => 'token',
    },
    tradeToken: undefined,
    pricing: {
      ...{ rules: DEFAULT_RULES, mayLose: false, till: port },
      priceOf: async (_, name) => outside.priceOf(name),
    },
    isOff: () => outside.isOff(),
    say: (line, about) => luck.trace.add(`${line} ${JSON.stringify(about)}`),
  })
}

function tillPort({ luck, steam }: Outside): Till {
  const reached = async <T>(value: () => T): Promise<T> => {
    if (luck.hits('till away', 0.02)) throw new Error('the till is away')
    return value()
  }
  return {
    lastTold: () => reached(() => 0),
    tell: () => reached(() => undefined),
    isOff: () => reached(() => false),
    saysBalance: () => reached(() => undefined),
    costs: (_, assetIds) =>
      reached(
        () =>
          new Map(
            steam.assets.flatMap(({ assetId, costCents }) =>
              assetIds.includes(assetId) ? [[assetId, costCents] as const] : [],
            ),
          ),
      ),
  }
}
