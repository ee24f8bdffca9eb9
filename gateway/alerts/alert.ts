/** Which counts of open problems go to the operator's webhook, and when. Pure. */
import type { Needs } from './needs-store.ts'

export type AlertKind = keyof Needs

/** Same wording as in the console. */
export const ALERT_TEXTS: Record<AlertKind, string> = {
  ledgerDifferences: 'differences in the ledger',
  departuresUnexplained: 'departures of items that nobody explained',
  itemsMissing: 'items that bots should have and have not',
  botsDead: 'bots whose token Steam refuses',
  tradesOverdue: 'trades that nobody takes care of',
  endpointsLost: 'webhook endpoints that are gone',
  endpointsFailing: 'webhook endpoints that keep failing',
  webhooksLate: 'webhooks that are late',
  botsUnheld: 'active bots that cannot be reached',
  botsBarred: 'bots that rest because Steam refused their offers',
  storesAtLimit: 'stores with little room left in their limit of credit at risk',
  proposalsOpen: 'acts that wait for a second operator',
  feedsFailing: 'sources of prices that fail',
  tokensEndSoon: 'bots whose token ends within 30 days',
}

export const ALERT_KINDS = Object.keys(ALERT_TEXTS).filter((name): name is AlertKind =>
  Object.hasOwn(ALERT_TEXTS, name),
)

export type AlertStep =
  /** The count rose above the reported one: send a message. */
  | { kind: AlertKind; step: 'tell'; count: number }
  /** The count fell: send nothing, but report the next rise again. */
  | { kind: AlertKind; step: 'lower'; count: number }
  | { kind: AlertKind; step: 'forget' }

/** `known`: counts already reported or about to be. */
export function alertSteps(known: ReadonlyMap<string, number>, needs: Needs): AlertStep[] {
  return ALERT_KINDS.flatMap((kind): AlertStep[] => {
    const [before, count] = [known.get(kind) ?? 0, needs[kind]]
    if (count === before) return []
    if (count === 0) return [{ kind, step: 'forget' }]
    return [{ kind, step: count > before ? 'tell' : 'lower', count }]
  })
}
