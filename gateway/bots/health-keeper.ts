/** Writes a bot's failures to its row, and retries a failing capability when no other call tests it. */
import type { Db } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { SteamSession } from '../steam/steam.ts'
import type { Answer, Capability, FailedForMs, Health } from './health.ts'
import { type Lease, setHealth } from './lease-store.ts'
import { createTrialReads, type InventoryRead } from './trial-reads.ts'

/** While offers fail, the next try follows this long after an answer. */
const TRY_OFFERS_MS = 5_000

export type HealthKeeper = {
  health: Health
  /** Remembers which inventories were read, for the next retry. */
  rememberRead(read: InventoryRead, answer: Answer): void
  /** Writes the changes since the last call. */
  write(): Promise<void>
  /** Retries the failing capabilities that are due, without waiting for the answers. */
  retry(session: SteamSession): void
}

type Deps = { db: Db; log: Log; clock: Clock; monotonicMs: () => number }

export function keepHealth(
  { db, log, clock, monotonicMs }: Deps,
  lease: Lease,
  health: Health,
): HealthKeeper {
  let lastWritten = isFailing(lease.failing)
  const trialReads = createTrialReads(monotonicMs)
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
    rememberRead: trialReads.remember,
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
      const { offers, inventories: failingMs } = health.failing()
      if (offers !== null && !trying.has('offers') && health.sinceAnswerMs('offers') >= TRY_OFFERS_MS)
        attempt('offers', session.listOffers(clock.now(), null))
      if (failingMs === null || trying.has('inventories')) return
      const read = trialReads.next({ failingMs, sinceAnswerMs: health.sinceAnswerMs('inventories') })
      if (read !== undefined) attempt('inventories', readAsForShopper(session, read))
    },
  }
}

/** The session records the answers. */
async function readAsForShopper(session: SteamSession, read: InventoryRead): Promise<void> {
  const [partner] = read
  const { kind } = await session.checkPartner(partner)
  if (kind !== 'unavailable') await session.readInventory(...read)
}

function isFailing({ offers, inventories }: FailedForMs): Record<Capability, boolean> {
  return { offers: offers !== null, inventories: inventories !== null }
}
