/** Which counts of open problems go to the operator's webhook, and when. Pure. */
import type { Needs } from './needs-store.ts'

export type AlertKind = keyof Needs

/** The singular, then the plural. The kinds are listed worst first. */
const ALERT_TEXTS: Record<AlertKind, readonly [one: string, many: string]> = {
  restoreUnfinished: [
    'unfinished restore, which stops the till: see restore status',
    'unfinished restores, which stop the till: see restore status',
  ],
  ledgerDifferences: ['difference in the ledger', 'differences in the ledger'],
  departuresUnexplained: ['unexplained departure of items', 'unexplained departures of items'],
  itemsMissing: [
    'item that a bot should have but does not have',
    'items that bots should have but do not have',
  ],
  vaultNeeds: ['report of the vault that needs a person', 'reports of the vault that need a person'],
  botsDead: ['bot whose token Steam refuses', 'bots whose token Steam refuses'],
  tradesOverdue: ['trade whose next step is overdue', 'trades whose next step is overdue'],
  endpointsLost: ['webhook endpoint that is gone', 'webhook endpoints that are gone'],
  endpointsFailing: ['webhook endpoint that keeps failing', 'webhook endpoints that keep failing'],
  webhooksLate: ['webhook that is late', 'webhooks that are late'],
  botsUnheld: ['active bot that cannot be reached', 'active bots that cannot be reached'],
  botsBarred: [
    'bot that rests because Steam refused its offers',
    'bots that rest because Steam refused their offers',
  ],
  storesAtLimit: [
    'store with little room left in its limit of credit at risk',
    'stores with little room left in their limit of credit at risk',
  ],
  shoppersTookBack: [
    'account that took items back in the last 24 hours',
    'accounts that took items back in the last 24 hours',
  ],
  proposalsOpen: ['act that waits for a second operator', 'acts that wait for a second operator'],
  feedsFailing: [
    'feed of prices or exchange rates that fails',
    'feeds of prices or exchange rates that fail',
  ],
  tokensEndSoon: ['bot whose token expires within 30 days', 'bots whose token expires within 30 days'],
}

export const ALERT_KINDS = Object.keys(ALERT_TEXTS).filter(isAlertKind)

function isAlertKind(kind: string): kind is AlertKind {
  return Object.hasOwn(ALERT_TEXTS, kind)
}

/** Describes the counted problem, without the number. Alerts, the console and the command line use the same text. */
export function alertText(kind: string, count: number): string {
  if (!isAlertKind(kind)) return kind
  const [one, many] = ALERT_TEXTS[kind]
  return count === 1 ? one : many
}

export type AlertStep =
  /** The count rose: send a message. */
  | { kind: AlertKind; step: 'report'; count: number }
  /** The count fell: send no new message, but report the next rise again. */
  | { kind: AlertKind; step: 'lower'; count: number }
  /** The count fell to 0: delete its row. */
  | { kind: AlertKind; step: 'forget' }

/** `earlierCounts`: the count of each kind at the last check. A kind without an entry had 0. */
export function alertSteps(earlierCounts: ReadonlyMap<string, number>, needs: Needs): AlertStep[] {
  return ALERT_KINDS.flatMap((kind): AlertStep[] => {
    const [before, count] = [earlierCounts.get(kind) ?? 0, needs[kind]]
    if (count === before) return []
    if (count === 0) return [{ kind, step: 'forget' }]
    return [{ kind, step: count > before ? 'report' : 'lower', count }]
  })
}
