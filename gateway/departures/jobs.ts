import { Gauge, type Registry } from 'prom-client'
import type { Db } from '../db/client.ts'
import { countUnexplained, countVaultNeeds } from './list-store.ts'

export type DepartureGauges = { unexplained: Gauge<'bot'>; vaultNeeds: Gauge<'kind'> }

export function createDepartureGauges(registry: Registry): DepartureGauges {
  return {
    unexplained: new Gauge({
      name: 'tradetill_bot_departures_unexplained',
      help: 'Unexplained Steam trades in which a bot gives items, except those that were called off or whose items all came back',
      labelNames: ['bot'],
      registers: [registry],
    }),
    vaultNeeds: new Gauge({
      name: 'tradetill_vault_needs',
      help: 'What needs a person at the vault, by kind, as the vault last reported it',
      labelNames: ['kind'],
      registers: [registry],
    }),
  }
}

export async function surveyDepartures({ db, gauges }: { db: Db; gauges: DepartureGauges }): Promise<void> {
  const counts = await countUnexplained(db)
  gauges.unexplained.reset()
  for (const { steamId: bot, departures } of counts) gauges.unexplained.set({ bot }, departures)
  const needs = await countVaultNeeds(db)
  gauges.vaultNeeds.reset()
  for (const { kind, count } of needs) gauges.vaultNeeds.set({ kind }, count)
}
