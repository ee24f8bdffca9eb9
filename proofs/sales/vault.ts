/** A process of the vault: its real rounds, with the simulation's log, Steam and markets, and the caller's till. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFolder } from '../../vault/files/folder.ts'
import { type Key, openKey } from '../../vault/files/key.ts'
import type { VaultLog } from '../../vault/files/log.ts'
import type { Wishes } from '../../vault/giving/till-line.ts'
import type { Till } from '../../vault/markets/till.ts'
import { createNeeds } from '../../vault/needs.ts'
import { createRounds, type Rounds } from '../../vault/rounds.ts'
import type { ModelMarket } from './market.ts'
import type { SalesWorld } from './world.ts'

/** Thrown if a call to the till failed, which fails the round. */
export class TillCallFailed extends Error {}

/** Makes a key of the vault. All seeds can share it, because no sealed text is part of a trace. */
export function createKey(): Key {
  const path = mkdtempSync(join(tmpdir(), 'sales-'))
  try {
    return openKey(openFolder(path))
  } finally {
    rmSync(path, { recursive: true })
  }
}

type Ports = {
  wishes: Wishes
  till: Till
  /** Called before and after an entry is written. The process may die there. */
  mayDie(): void
}

export function startVault(world: SalesWorld, { wishes, till, mayDie }: Ports): Rounds {
  const { luck, steam, key, rules, accounts, accesses, now } = world
  return createRounds({
    wishes,
    till,
    rules,
    accounts,
    accesses,
    key,
    now,
    log: logOf(world, mayDie),
    steamOf: (steamId) => ({ ...steam.callsOf(steamId), accessToken: async () => 'token' }),
    priceOf: async (_, name) => world.priceOf(name),
    approvalOf: (wishId) => world.approvals.get(wishId),
    clientOf: ({ market, steamId }) => modelOf(world, market).port(steamId),
    isOff: () => world.isOff(),
    needs: createNeeds(now),
    say(line, about) {
      luck.trace.add(`${line} ${JSON.stringify(about)}`)
      if (line === 'the limits had no room for a sale') luck.note('limits have no room')
    },
  })
}

function logOf({ entries }: SalesWorld, mayDie: () => void): VaultLog {
  return {
    entries: () => entries,
    add(entry, at) {
      mayDie()
      const added = { n: entries.length + 1, at, entry }
      entries.push(added)
      mayDie()
      return added
    },
    close: () => {},
  }
}

function modelOf({ markets }: SalesWorld, name: string): ModelMarket {
  const model = markets.find((market) => market.name === name)
  if (model === undefined) throw new Error(`there is no market ${name}`)
  return model
}
