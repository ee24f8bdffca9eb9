import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepareDemo } from '../scripts/demo.ts'
import { isServing, type Running, run } from './support/process.ts'
import { offers, players } from './support/sandbox.ts'
import { newPlace, type Place, query as queryAt, removePlace, startTill, type Till } from './support/till.ts'

/** Makes a process, and those it starts, print a line for every process that they start. */
const TELLS_CHILDREN = `--import=data:text/javascript,${encodeURIComponent(`
  import { subscribe } from 'node:diagnostics_channel'
  subscribe('child_process', ({ process: child }) => {
    child.once('spawn', () => process.stderr.write('began ' + child.spawnargs.join(' ') + '\\n'))
  })
`)}`

let place: Place
let till: Till

beforeAll(async () => {
  place = await newPlace()
  till = await startTill({ ...place, env: { ...place.env, NODE_OPTIONS: TELLS_CHILDREN } })
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

const query = (sql: string) => queryAt(place, sql)

const registrationFile = () => join(place.root, 'demo-store.json')
const registration = () => JSON.parse(readFileSync(registrationFile(), 'utf8'))
const balanceJson = () => fetch(`${place.store}/balance.json`).then((answer) => answer.text())
const addressesOfStores = () =>
  query(
    'select store.id::text, origins, url from store join webhook_endpoint on webhook_endpoint.store_id = store.id',
  )

test('it prints the three addresses and the first step', async () => {
  await expect.poll(() => till.main.output(), { message: 'it says that it is ready' }).toContain('Top up')
  for (const address of [place.gateway, place.sandbox, place.store]) {
    expect(till.main.output()).toContain(address)
  }
  for (const part of ['embedded-postgres', 'steam-sandbox', 'demo-store']) {
    expect(till.main.output()).toMatch(new RegExp(`began .*/${part}/main\\.ts`))
  }
})

/** A start that must be refused: how it ended, and that no part of it was begun. */
async function refused(env: (other: Place) => Record<string, string>): Promise<Running> {
  const other = await newPlace()
  const start = run('scripts/start.ts', { ...other.env, NODE_OPTIONS: TELLS_CHILDREN, ...env(other) })
  expect(await start.ended).toBe(1)
  expect(start.output()).not.toMatch(/began |ready at|is ready/)
  expect(start.output()).not.toContain('    at ')
  for (const url of [other.gateway, other.sandbox, other.store]) expect(await isServing(url)).toBe(false)
  removePlace(other)
  return start
}

describe.concurrent('before any part of it begins', () => {
  test('a second start on the same folder is refused and says why', async () => {
    const second = await refused(() => ({ TRADETILL_DATA_ROOT: place.root }))
    expect(second.output()).toMatch(/already/i)
    expect(await isServing(`${place.gateway}/healthz`)).toBe(true)
  })

  test.each([
    ['no number', { TRADETILL_PORT: 'abc' }, 'TRADETILL_PORT must be a port'],
    ['out of range', { DEMO_STORE_PORT: '99999' }, 'DEMO_STORE_PORT must be a port'],
  ])('a port that is %s is refused by the name of its setting', async (_what, env, reason) => {
    expect((await refused(() => env)).output()).toContain(reason)
  })

  test('ports that are taken, by another part or by another program, are refused by name', async () => {
    const same = await refused(({ env }) => ({ DEMO_STORE_PORT: env.TRADETILL_PORT ?? '' }))
    expect(same.output()).toContain('each needs a port of its own')
    const taken = await refused(() => ({ STEAM_SANDBOX_PORT: new URL(place.sandbox).port }))
    expect(taken.output()).toMatch(/sandbox is taken.*STEAM_SANDBOX_PORT/)
  })

  test('a folder that cannot be made is refused with its path', async () => {
    const start = await refused(({ root }) => {
      writeFileSync(join(root, 'a-file'), '')
      return { TRADETILL_DATA_ROOT: join(root, 'a-file', 'data') }
    })
    expect(start.output()).toMatch(/a-file.*cannot be written.*TRADETILL_DATA_ROOT/)
  })
})

test('what is registered already is left as it is', async () => {
  const [before, stores] = [registration(), await addressesOfStores()]
  const gatewayEnv = { TRADETILL_DATA: join(place.root, 'gateway') }
  const { apiKey } = await prepareDemo({ file: registrationFile(), urls: place, gatewayEnv })
  expect(apiKey).toBe(before.apiKey)
  expect(registration()).toEqual(before)
  expect(await addressesOfStores()).toEqual(stores)
})

describe('Ctrl-C, and a start on other ports with a fresh Steam world', () => {
  let before: { registration: Record<string, unknown>; balance: string }

  beforeAll(async () => {
    before = { registration: registration(), balance: await balanceJson() }
    await query(`update bot set state = 'dead', online = false`)
    expect(processesOf(place.root).length).toBeGreaterThan(0)
  })

  test('Ctrl-C ends all of it', async () => {
    expect(await till.main.interrupt()).toBe(0)
    for (const url of [place.gateway, place.sandbox, place.store]) expect(await isServing(url)).toBe(false)
    expect(processesOf(place.root)).toEqual([])

    const other = await newPlace()
    removePlace(other)
    place = { ...other, root: place.root, env: { ...other.env, TRADETILL_DATA_ROOT: place.root } }
    writeFileSync(registrationFile(), JSON.stringify({ ...before.registration, bots: ['76561198000000000'] }))
    rmSync(join(place.root, 'sandbox.json'))
    till = await startTill(place)
  })

  test('after the next start the data is still there', async () => {
    expect(await balanceJson()).toEqual(before.balance)
  })

  test('the store is known by its new address, with the key it had', async () => {
    const { storeId, apiKey } = before.registration
    expect(await addressesOfStores()).toEqual([
      { id: storeId, origins: [place.store], url: `${place.store}/webhooks/tradetill` },
    ])
    expect(registration()).toMatchObject({ apiKey, url: place.store })
    const body = new URLSearchParams({ currency: 'USD', language: '' })
    const opened = await fetch(`${place.store}/top-ups`, { method: 'POST', body, redirect: 'manual' })
    expect(opened.headers.get('location')).toMatch(new RegExp(`^${place.gateway}/deposit/[0-9a-f]{32}$`))
  })

  test('bots of a fresh world are enrolled again', async () => {
    await expect
      .poll(() => query('select 1 from bot where online'), { message: 'both bots are online' })
      .toHaveLength(2)
  })
})

describe('a start with a fresh database', () => {
  let before: Awaited<ReturnType<typeof players>>

  beforeAll(async () => {
    before = await players(place.sandbox)
    await till.main.interrupt()
    rmSync(join(place.root, 'gateway'), { recursive: true })
    till = await startTill(place)
  })

  test('registers the store and enrols the bots again', async () => {
    expect(await query('select url from webhook_endpoint')).toEqual([
      { url: `${place.store}/webhooks/tradetill` },
    ])
    expect(await query('select 1 from bot')).toHaveLength(2)
  })

  test('finds the world of Steam as it was', async () => {
    expect(await players(place.sandbox)).toEqual(before)
    expect(await offers(place.sandbox)).toEqual([])
  })
})
