/** Writes a bot's failures to its row, and retries a failing capability when no other call tests it. */
import type { Db } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { SteamSession } from '../steam/steam.ts'
import type { Capability, FailedForMs, Health } from './health.ts'
import { type Lease, setHealth } from './lease-store.ts'

/**
 * How long after the last answer to try a failing capability again. Inventories wait longer, because Steam limits them
 * most strictly.
 */
const TRY_OFFERS_MS = 5_000
const TRY_INVENTORIES_MS = 30_000

type ReadArguments = Parameters<SteamSession['readInventory']>

export type HealthKeeper = {
  health: Health
  /** Remembers which inventory was read last, for the next retry. */
  rememberRead(...read: ReadArguments): void
  /** Writes the changes since the last call. */
  write(): Promise<void>
  /** Retries the failing capabilities that are due, without waiting for the answers. */
  retry(session: SteamSession): void
}

type Deps = { db: Db; log: Log; clock: Clock }

export function keepHealth({ db, log, clock }: Deps, lease: Lease, health: Health): HealthKeeper {
  let lastWritten = isFailing(lease.failing)
  let lastRead: ReadArguments | undefined
  const trying = new Set<Capability>()

  const attempt = (capability: Capability, work: Promise<unknown>) => {
    trying.add(capability)
    work
      .catch((error: unknown) =>
        log.warn({ err: error, botId: String(lease.botId) }, 'trial read of a bot failed'),
      )
      .finally(() => trying.delete(capability))
  }
  return {
    health,
    rememberRead(...read) {
      lastRead = read
    },
    async write() {
      const failing = health.failing()
      const current = isFailing(failing)
      if (current.offers === lastWritten.offers && current.inventories === lastWritten.inventories) return
      await setHealth(db, lease, failing)
      lastWritten = current
      const about = { botId: String(lease.botId), botName: lease.name, ...current }
      if (current.offers || current.inventories) log.warn(about, 'Steam failed for a bot')
      else log.info(about, 'Steam worked again for a bot')
    },
    retry(session) {
      const isDue = (capability: Capability, afterMs: number) =>
        health.failing()[capability] !== null &&
        !trying.has(capability) &&
        health.sinceAnswerMs(capability) >= afterMs
      if (isDue('offers', TRY_OFFERS_MS)) attempt('offers', session.listOffers(clock.now(), null))
      if (lastRead && isDue('inventories', TRY_INVENTORIES_MS)) {
        attempt('inventories', session.readInventory(...lastRead))
      }
    },
  }
}

function isFailing({ offers, inventories }: FailedForMs): Record<Capability, boolean> {
  return { offers: offers !== null, inventories: inventories !== null }
}
