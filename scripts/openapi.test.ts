import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { documentText, typesText } from './openapi.ts'
import { clientOf } from './openapi-types.ts'

const ROOT = join(import.meta.dirname, '..')
const text = readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')

test('docs/openapi.json and sdk/types.ts match the store API (node scripts/openapi.ts writes them)', () => {
  expect(text).toBe(documentText())
  expect(readFileSync(join(ROOT, 'sdk/types.ts'), 'utf8')).toBe(typesText())
})

/** The code of a store that uses the client. A line would not compile if its part of the document were wrong. */
const STORE = `import type { Client, Deposit, Webhooks } from './client.ts'

export async function topUp(client: Client): Promise<string> {
  const body = { externalId: 'order-1', currency: 'USD', backToStoreUrl: 'https://store.example/' } as const
  const deposit = await client.createDeposit({ path: {}, query: {}, body })
  // @ts-expect-error an order without its id
  await client.createDeposit({ path: {}, query: {}, body: { currency: 'USD', backToStoreUrl: '' } })
  // @ts-expect-error a currency that no till has
  await client.createDeposit({ path: {}, query: {}, body: { ...body, currency: 'XXX' } })
  const { events, next } = await client.listEvents({ path: {}, query: { after: 0 } })
  const data = events[0]?.data
  const read: Deposit =
    data === undefined || 'epoch' in data ? await client.getDeposit({ path: { id: deposit.id }, query: {} }) : data
  return [worthOf(read), next, (await client.getBalance({ path: {}, query: {} })).balances[0]?.available].join()
}

function worthOf({ status, amount, reversedAmount, heldAmount, sequence, trade }: Deposit): number {
  // A status of a later version compiles too.
  if (status === 'somethingNew' || status !== 'succeeded' || amount === null) return 0
  // The last term adds nothing: it only compiles if these fields are numbers.
  return amount - reversedAmount - heldAmount + 0 * (sequence + (trade?.items[0]?.price ?? 0))
}

export function onWebhook(event: Webhooks['event'] | Webhooks['test']): string {
  if (!('sequence' in event)) return event.data.challenge
  // A type of event of a later version compiles too.
  if (event.type === 'deposit.grown') return ''
  return 'epoch' in event.data ? 'a till that was restored' : event.data.externalId
}
`

test('a client generated from the document compiles, and accepts values added later', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-client-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const compilerOptions = { strict: true, noEmit: true, target: 'es2023', module: 'nodenext', types: [] }
  const config = {
    compilerOptions: { ...compilerOptions, allowImportingTsExtensions: true },
    files: ['store.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'client.ts'), clientOf(JSON.parse(text)))
  writeFileSync(join(folder, 'store.ts'), STORE)
  const compile = () => {
    try {
      return execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
    } catch (error) {
      return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
    }
  }
  expect(compile()).toBe('')
})

test('the document leaves webhooks and the main answers open to new fields and values', () => {
  const { webhooks, components } = JSON.parse(text)
  const inAnswers = ['Deposit', 'Event', 'EventList', 'Balances', 'Statement', 'Problem', 'WebhookEndpoint']
  const open = JSON.stringify([webhooks, ...inAnswers.map((name) => components.schemas[name])])
  expect(open).toContain('x-extensible-enum')
  expect(open).not.toMatch(/"additionalProperties":false|"enum":/)
  // Calls stay closed, so an unknown field is an error.
  expect(components.schemas.NewDeposit.additionalProperties).toBe(false)
  const headers = webhooks.event.post.parameters.map(({ name }: { name: string }) => name)
  expect(headers).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature'])
})
