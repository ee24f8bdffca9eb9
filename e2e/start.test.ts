import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runningEmbeddedUrl } from '../gateway/db/embedded.ts'
import { isServing, run } from './process.ts'
import { offers, players } from './sandbox.ts'
import { newPlace, type Place, removePlace, startTill, type Till } from './till.ts'

let place: Place
let till: Till

beforeAll(async () => {
  place = await newPlace()
  till = await startTill(place)
})

afterAll(async () => {
  await till?.main.interrupt()
  removePlace(place)
})

/** Processes whose command line names the folder. */
function processesOf(root: string): string[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(root))
}

test('it prints the three addresses and the first step', async () => {
  await expect.poll(() => till.main.output()).toContain(place.store)
  for (const address of [place.gateway, place.sandbox]) expect(till.main.output()).toContain(address)
  expect(till.main.output()).toContain('Top up')
})

test('a second start on the same folder is refused within a second and says why', async () => {
  const other = await newPlace()
  const begin = performance.now()
  const second = run('scripts/start.ts', { ...other.env, TRADETILL_DATA_ROOT: place.root })
  expect(await second.ended).toBe(1)
  expect(performance.now() - begin).toBeLessThan(1000)
  expect(second.output()).toMatch(/already/i)
  expect(await isServing(`${place.gateway}/healthz`)).toBe(true)
  removePlace(other)
})

test('Ctrl-C ends all of it, and after the next start the data is still there', async () => {
  const before = await players(place.sandbox)
  const created = await fetch(`${place.store}/balance.json`).then((answer) => answer.text())
  expect(processesOf(place.root).length).toBeGreaterThan(0)
  expect(await till.main.interrupt()).toBe(0)
  for (const url of [place.gateway, place.sandbox, place.store]) expect(await isServing(url)).toBe(false)
  expect(processesOf(place.root)).toEqual([])

  till = await startTill(place)
  expect(await players(place.sandbox)).toEqual(before)
  expect(await offers(place.sandbox)).toEqual([])
  expect(await fetch(`${place.store}/balance.json`).then((answer) => answer.text())).toEqual(created)
})

test.each([
  ['no number', { TRADETILL_PORT: 'abc' }, 'TRADETILL_PORT must be a port'],
  ['out of range', { DEMO_STORE_PORT: '99999' }, 'DEMO_STORE_PORT must be a port'],
])('a port that is %s is refused by the name of its setting', async (_what, env, reason) => {
  const other = await newPlace()
  const start = run('scripts/start.ts', { ...other.env, ...env })
  expect(await start.ended).toBe(1)
  expect(start.output()).toContain(reason)
  expect(start.output()).not.toContain('    at ')
  removePlace(other)
})

test('ports that are taken, by another part or by another program, are refused by name', async () => {
  const other = await newPlace()
  const same = run('scripts/start.ts', { ...other.env, DEMO_STORE_PORT: other.env.TRADETILL_PORT ?? '' })
  expect(await same.ended).toBe(1)
  expect(same.output()).toContain('each needs a port of its own')
  const taken = run('scripts/start.ts', { ...other.env, STEAM_SANDBOX_PORT: new URL(place.sandbox).port })
  expect(await taken.ended).toBe(1)
  expect(taken.output()).toMatch(/sandbox is taken.*STEAM_SANDBOX_PORT/)
  removePlace(other)
})

test('a folder that cannot be made is refused with its path', async () => {
  const other = await newPlace()
  const file = join(other.root, 'a-file')
  writeFileSync(file, '')
  const start = run('scripts/start.ts', { ...other.env, TRADETILL_DATA_ROOT: join(file, 'data') })
  expect(await start.ended).toBe(1)
  expect(start.output()).toMatch(/a-file.*cannot be written.*TRADETILL_DATA_ROOT/)
  removePlace(other)
})

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: runningEmbeddedUrl(join(place.root, 'gateway')) })
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(sql)
  await client.end()
  return rows
}

test('on other ports the store is known by its new address, with the key it had', async () => {
  const registration = () => JSON.parse(readFileSync(join(place.root, 'demo-store.json'), 'utf8'))
  const before = registration()
  await till.main.interrupt()
  const other = await newPlace()
  const moved = { ...other, root: place.root, env: { ...other.env, TRADETILL_DATA_ROOT: place.root } }
  removePlace(other)
  place = moved
  till = await startTill(place)
  const stores = await query(
    'select store.id::text, origins, url from store join webhook_endpoint on webhook_endpoint.store_id = store.id',
  )
  expect(stores).toEqual([
    { id: before.storeId, origins: [place.store], url: `${place.store}/webhooks/tradetill` },
  ])
  expect(registration()).toMatchObject({ apiKey: before.apiKey, url: place.store })
  const body = new URLSearchParams({ currency: 'USD', language: '' })
  const opened = await fetch(`${place.store}/top-ups`, { method: 'POST', body, redirect: 'manual' })
  expect(opened.headers.get('location')).toMatch(new RegExp(`^${place.gateway}/deposit/[0-9a-f]{32}$`))
})

test('bots of a world that was made anew are enrolled again', async () => {
  const file = join(place.root, 'demo-store.json')
  await query(`update bot set state = 'dead', online = false`)
  await till.main.interrupt()
  const known = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...known, bots: ['76561198000000000'] }))
  rmSync(join(place.root, 'sandbox.json'))
  till = await startTill(place)
  await expect.poll(() => query('select 1 from bot where online'), { timeout: 20_000 }).toHaveLength(2)
})

test('with a database made anew, the store is registered and the bots are enrolled again', async () => {
  await till.main.interrupt()
  rmSync(join(place.root, 'gateway'), { recursive: true })
  till = await startTill(place)
  expect(await query('select url from webhook_endpoint')).toEqual([
    { url: `${place.store}/webhooks/tradetill` },
  ])
  expect(await query('select 1 from bot')).toHaveLength(2)
})
