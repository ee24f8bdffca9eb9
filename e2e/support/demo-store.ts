import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const books = z.object({ account: z.record(z.string(), z.number()) })
const secrets = z.object({ apiKey: z.string(), webhookSecret: z.string() })

export type StoreSecrets = z.infer<typeof secrets>

/** The balance of the till's account in the store's own books, in US cents, including held credit. */
export async function balanceCents(store: string): Promise<number> {
  const { account } = books.parse(await (await fetch(`${store}/books.json`)).json())
  return account.USD ?? 0
}

/** The secrets that `npm start` gave to the demo store. */
export async function storeSecrets(root: string): Promise<StoreSecrets> {
  return secrets.parse(JSON.parse(await readFile(join(root, 'demo-store.json'), 'utf8')))
}

export function parseSecrets(json: string): StoreSecrets {
  return secrets.parse(JSON.parse(json))
}
