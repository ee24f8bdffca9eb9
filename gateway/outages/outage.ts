/** Decides from the bots' failures when Steam counts as down. Pure. */
import type { Language } from '../../contract/languages.ts'

/**
 * `offers`, `inventories`: calls of this kind fail for every bot in service. `maintenance` is turned on by an operator.
 * `deposits` lasts while any of the others does, and pauses the countdown of deposits.
 */
export type Outage = 'offers' | 'inventories' | 'maintenance' | 'deposits'

/** A notice of maintenance to shoppers. `until`: planned end; null if only the operator ends it. */
export type Notice = { text: Record<Language, string> | null; until: Date | null }

export const NO_NOTICE: Notice = { text: null, until: null }

/** Failures of a bot in service: when each capability began to fail; null while it works. */
export type BotHealth = { offersFailingSince: Date | null; inventoriesFailingSince: Date | null }

/** How long every bot must fail before Steam counts as down. */
export const OUTAGE_AFTER_MS = 30_000

/** Returns the outages that begin and end now. Without a bot in service, `offers` and `inventories` do not change. */
export function judgeOutages(
  { bots, open }: { bots: readonly BotHealth[]; open: ReadonlySet<Outage> },
  now: Date,
): { begin: Outage[]; end: Outage[] } {
  const isDown = (since: (bot: BotHealth) => Date | null): boolean =>
    bots.every((bot) => {
      const failing = since(bot)
      return failing !== null && now.getTime() - failing.getTime() >= OUTAGE_AFTER_MS
    })
  const allFail: Record<'offers' | 'inventories', boolean> = {
    offers: isDown((bot) => bot.offersFailingSince),
    inventories: isDown((bot) => bot.inventoriesFailingSince),
  }
  const isOngoing = (kind: 'offers' | 'inventories') => (bots.length === 0 ? open.has(kind) : allFail[kind])
  const isCountdownPaused = isOngoing('offers') || isOngoing('inventories') || open.has('maintenance')
  const states: [Outage, boolean][] = [
    ['offers', isOngoing('offers')],
    ['inventories', isOngoing('inventories')],
    ['deposits', isCountdownPaused],
  ]
  return {
    begin: states.flatMap(([kind, isOn]) => (isOn && !open.has(kind) ? [kind] : [])),
    end: states.flatMap(([kind, isOn]) => (!isOn && open.has(kind) ? [kind] : [])),
  }
}
