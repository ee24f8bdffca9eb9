/**
 * Runs the recipe of docs/store-guide.md, unchanged, against the real store API and webhooks. Also checks the guide's
 * diagram, and the reference.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { publishEvents } from '../events/service.ts'
import { freePort } from '../testing/free-port.ts'
import { payFor } from '../testing/payment.ts'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aBot, aDeposit, startTill, type Till } from '../testing/till.ts'
import { workOnWebhooks } from '../testing/webhooks.ts'
import { OPERATIONS } from './table.ts'

const ROOT = join(import.meta.dirname, '../..')
const guide = readFileSync(join(ROOT, 'docs/store-guide.md'), 'utf8')

let till: Till
let api: StoreApi
let folder: string
let port: number
let children: ChildProcess[]
let environment: Record<string, string>

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
  folder = mkdtempSync(join(tmpdir(), 'tradetill-guide-'))
  children = []
  port = await freePort()
  const recipe = /```ts\n([\s\S]*?)```/.exec(guide)?.[1] ?? ''
  writeFileSync(join(folder, 'shop.mts'), recipe)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const url = `http://127.0.0.1:${port}/webhooks/tradetill`
  const endpoint = await api.call('POST', '/v1/webhook-endpoints', { body: { url } })
  await till.db
    .updateTable('store')
    .set({ origins: [`http://localhost:${port}`, 'https://store.test'] })
    .where('id', '=', api.store.id)
    .execute()
  environment = {
    TILL_URL: await api.app.listen({ host: '127.0.0.1', port: 0 }),
    TILL_KEY: api.key,
    TILL_SECRET: endpoint.json().secret,
    PORT: String(port),
  }
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await api.app.close()
  await till.close()
  rmSync(folder, { recursive: true })
})

async function startShop(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['shop.mts'], { cwd: folder, env: environment, stdio: 'pipe' })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  await expect.poll(() => output).toContain('shop at')
  return child
}

const balance = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/balance`)).text()

/** Pays a deposit of 30.00 for the customer `guest`. */
async function payAsGuest(): Promise<void> {
  const deposit = await aDeposit(till, api.store)
  await till.db
    .updateTable('deposit')
    .set({ customer_reference: 'guest' })
    .where('id', '=', deposit.id)
    .execute()
  await payFor(till, await aBot(till), deposit)
}

describe('the recipe of the store guide', () => {
  it('opens a deposit and sends the shopper to it', async () => {
    await startShop()
    const answer = await fetch(`http://127.0.0.1:${port}/buy?customer=nova`, {
      method: 'POST',
      redirect: 'manual',
    })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toMatch(/^http:\/\/till\.test\/deposit\/[0-9a-f]{32}$/)
    const opened = await till.db.selectFrom('deposit').selectAll().execute()
    expect(opened).toMatchObject([{ customer_reference: 'nova', customer_label: 'nova' }])
  })

  it('credits a deposit once, even when its webhook is sent again, and refuses a forged webhook', async () => {
    await startShop()
    const { send, secretsOf } = api.deps
    const stop = await workOnWebhooks({ ...till.deps, send, secretsOf, random: () => 0.5 })
    try {
      await payAsGuest()
      await expect.poll(balance).toBe('3000')
      const endpoint = (await api.call('GET', '/v1/webhook-endpoints')).json().endpoints[0].id
      await api.call('POST', `/v1/webhook-endpoints/${endpoint}/replay`, {
        body: { fromSequence: 1, toSequence: 9 },
      })
      const due = () =>
        till.db.selectFrom('webhook_delivery').select('id').where('state', '=', 'due').execute()
      await expect.poll(due).toEqual([])
      expect(await balance()).toBe('3000')
      const test = await api.call('POST', `/v1/webhook-endpoints/${endpoint}/test`)
      expect(test.json()).toMatchObject({ delivered: true, challengeRepeated: true })
      const forged = await fetch(`http://127.0.0.1:${port}/webhooks/tradetill`, {
        method: 'POST',
        body: '{}',
      })
      expect(forged.status).toBe(400)
    } finally {
      await stop()
    }
  })

  it('credits a deposit from the event log if it was down when the webhook was due', async () => {
    await payAsGuest()
    await publishEvents(till.deps)
    await startShop()
    await expect.poll(balance).toBe('3000')
  })
})

it('the store guide draws the states of a deposit as ARCHITECTURE.md does', () => {
  const diagram = /<!-- deposit states -->[\s\S]*?<!-- end of deposit states -->/
  expect(diagram.exec(guide)?.[0]).toBe(
    diagram.exec(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'))?.[0],
  )
})

it('the reference describes every call, and its page runs no script', async () => {
  const document = (await api.app.inject('/v1/openapi.json')).json()
  expect(document.openapi).toBe('3.1.0')
  expect(Object.keys(document.paths)).toHaveLength(new Set(OPERATIONS.map(({ path }) => path)).size)
  for (const methods of Object.values<Record<string, { operationId: string }>>(document.paths)) {
    for (const { operationId } of Object.values(methods)) {
      expect((await api.app.inject('/v1/reference')).body).toContain(`id="${operationId}"`)
    }
  }
  const names = [...JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g)].map(
    (match) => match[1],
  )
  const missing = names.filter((name) => !(String(name) in document.components.schemas))
  expect(missing).toEqual([])
  const page = await api.app.inject('/v1/reference')
  expect(page.body).not.toMatch(/<script|style=|onclick=/)
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  // The page shows the fields of both forms that a body can have, and a complete shell example.
  const replay = /<article id="schema-Replay">[\s\S]*?<\/article>/.exec(page.body)?.[0]
  for (const field of ['eventId', 'fromSequence', 'toSequence']) expect(replay).toContain(field)
  expect(page.body).toContain(`<pre>curl -X POST 'http://till.test/v1/deposits' \\
  -H &quot;Authorization: Bearer $TRADETILL_API_KEY&quot; \\
  -H 'Content-Type: application/json' \\
  -d '{&quot;externalId&quot;`)
})
