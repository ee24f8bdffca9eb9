import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const books = z.object({ account: z.record(z.string(), z.number()) })
const secrets = z.object({ apiKey: z.string(), webhookSecret: z.string() })

export type StoreSecrets = z.infer<typeof secrets>

/** The store's balance at the till, held credit included, in US cents, as the store's own books have it. */
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
