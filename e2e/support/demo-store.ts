/** The balances and secrets of the demo store. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const balances = z.record(z.string(), z.unknown())
const secrets = z.object({ apiKey: z.string(), webhookSecret: z.string() })

export type StoreSecrets = z.infer<typeof secrets>

/** The shopper's balance in USD there, in cents. */
export async function balanceCents(store: string): Promise<number> {
  const answer = balances.parse(await (await fetch(`${store}/balance.json`)).json())
  return z.number().parse(answer.USD ?? 0)
}

/** The secrets that `npm start` gave to the demo store. */
export async function storeSecrets(root: string): Promise<StoreSecrets> {
  return secrets.parse(JSON.parse(await readFile(join(root, 'demo-store.json'), 'utf8')))
}

export function parseSecrets(json: string): StoreSecrets {
  return secrets.parse(JSON.parse(json))
}
