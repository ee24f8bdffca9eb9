import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { spawnCommand } from '../gateway/testing/command.ts'
import { offerEvidence } from '../gateway/testing/evidence.ts'
import { prepareDemo } from '../scripts/demo.ts'
import { helpTexts } from '../widget/i18n/help.ts'
import { storeSecrets } from './support/demo-store.ts'
import { isServing, type Running, run } from './support/process.ts'
import { answerOffer, readOffers, readPlayer, readPlayers } from './support/sandbox.ts'
import { openBrowser } from './support/shared-till.ts'
import {
  answerInBrowser,
  giveLinkAndAwaitItems,
  openOffer,
  pickItems,
  sortDearestFirst,
  switchLanguage,
  TEXTS,
} from './support/shopper.ts'
import { newPlace, type Place, query as queryAt, removePlace, startTill, type Till } from './support/till.ts'
import { callerOf, makeOffer, newDeposit } from './support/widget-calls.ts'

/** Makes a process and its children print a line for every process that they start. */
const PRINT_CHILDREN = `--import=data:text/javascript,${encodeURIComponent(`
  import { subscribe } from 'node:diagnostics_channel'
  subscribe('child_process', ({ process: child }) => {
    child.once('spawn', () => process.stderr.write('began ' + child.spawnargs.join(' ') + ' as ' + child.pid + '\\n'))
  })
`)}`

/** Makes `enrol`, the first command of the vault's set-up, run until it is ended. */
const ENDLESS_ENROLMENT = `--import=data:text/javascript,${encodeURIComponent(`
  if (process.argv[2] === 'enrol') setInterval(() => {}, 1_000_000)
`)}`

/** Makes the market sandbox end as soon as it begins. */
const NO_MARKET = `--import=data:text/javascript,${encodeURIComponent(`
  if (process.argv[1]?.endsWith('market-sandbox/main.ts')) process.exit(3)
`)}`

let place: Place
let till: Till

beforeAll(async () => {
  place = await newPlace()
  till = await startTill({ ...place, env: { ...place.env, NODE_OPTIONS: PRINT_CHILDREN } })
})

afterAll(async () => {
  await till?.main.interrupt()
  removePlace(place)
})

/** Processes whose command line contains the folder. */
function processesOf(root: string): string[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(root))
}

const query = (sql: string) => queryAt(place, sql)

const registrationFile = () => join(place.root, 'demo-store.json')
const registration = () => JSON.parse(readFileSync(registrationFile(), 'utf8'))
const openTopUp = () =>
  fetch(`${place.store}/top-ups`, {
    method: 'POST',
    body: new URLSearchParams({ currency: 'USD', language: '' }),
    redirect: 'manual',
  })
const depositIds = () => query('select id::text from deposit')
const storePage = () => fetch(place.store).then((answer) => answer.text())
const addressesOfStores = () =>
  query(
    'select store.id::text, origins, url from store join webhook_endpoint on webhook_endpoint.store_id = store.id',
  )

test('npm start starts its parts, and prints their addresses, a first step, the tour, and where to try selling', async () => {
  await expect
    .poll(() => till.main.output(), { message: 'npm start says that it is ready' })
    .toContain('Top up')
  for (const address of [place.gateway, place.sandbox, place.store, `${place.sandbox}/tour/`]) {
    expect(till.main.output()).toContain(address)
  }
  // The link's part after # is the heading in lower case, with hyphens.
  const [, file = '', heading = ''] = /(docs\/\S+\.md)#(\S+)/.exec(till.main.output()) ?? []
  expect(readFileSync(file, 'utf8')).toContain(`### ${heading.replaceAll('-', ' ').replace(/^t/, 'T')}\n`)
  for (const part of ['embedded-postgres', 'steam-sandbox', 'demo-store']) {
    expect(till.main.output()).toMatch(new RegExp(`began .*/${part}/main\\.ts`))
  }
})

test('A-030 npm start shows examples of the contacts on the help page', async () => {
  const { page } = await openBrowser()
  await page.goto(`${place.gateway}/help`)
  await page.getByRole('link', { name: helpTexts.en.messenger }).waitFor()
  await page.getByRole('link', { name: /^\S+@\S+\.example$/ }).waitFor()
})

test('npm start stops, without saying that it is ready, if the market sandbox ends', async () => {
  const otherPlace = await newPlace()
  const start = run('scripts/start.ts', { ...otherPlace.env, NODE_OPTIONS: NO_MARKET })
  expect(await start.ended).toBe(1)
  expect(start.output()).toContain('The market sandbox ended unexpectedly (exit code 3)')
  expect(start.output()).not.toContain('Tradetill is ready')
  removePlace(otherPlace)
})

/** Starts a till that must refuse to start, and expects that none of its parts has started. */
async function expectRefusal(env: (other: Place) => Record<string, string>): Promise<Running> {
  const otherPlace = await newPlace()
  const start = run('scripts/start.ts', {
    ...otherPlace.env,
    NODE_OPTIONS: PRINT_CHILDREN,
    ...env(otherPlace),
  })
  expect(await start.ended).toBe(1)
  expect(start.output()).not.toMatch(/began |ready at|is ready/)
  expect(start.output()).not.toContain('    at ')
  for (const url of [otherPlace.gateway, otherPlace.sandbox, otherPlace.store])
    expect(await isServing(url)).toBe(false)
  removePlace(otherPlace)
  return start
}

describe.concurrent('before any part starts', () => {
  test('a second start on the same folder is refused and says why', async () => {
    const second = await expectRefusal(() => ({ TRADETILL_DATA_ROOT: place.root }))
    expect(second.output()).toMatch(/already/i)
    expect(await isServing(`${place.gateway}/healthz`)).toBe(true)
  })

  test.each([
    ['not a number', { TRADETILL_PORT: 'abc' }, 'TRADETILL_PORT must be a port'],
    ['out of range', { DEMO_STORE_PORT: '99999' }, 'DEMO_STORE_PORT must be a port'],
  ])('a port that is %s is refused with the name of its setting', async (_what, env, reason) => {
    expect((await expectRefusal(() => env)).output()).toContain(reason)
  })

  test('a port that two parts share, or that another program has taken, is refused', async () => {
    const same = await expectRefusal(({ env }) => ({ DEMO_STORE_PORT: env.TRADETILL_PORT ?? '' }))
    expect(same.output()).toContain('each needs its own port')
    const taken = await expectRefusal(() => ({ STEAM_SANDBOX_PORT: new URL(place.sandbox).port }))
    expect(taken.output()).toMatch(/sandbox is taken.*STEAM_SANDBOX_PORT/)
  })

  test('a folder that cannot be made is refused with its path', async () => {
    const start = await expectRefusal(({ root }) => {
      writeFileSync(join(root, 'a-file'), '')
      return { TRADETILL_DATA_ROOT: join(root, 'a-file', 'data') }
    })
    expect(start.output()).toMatch(/a-file.*cannot be written.*TRADETILL_DATA_ROOT/)
  })
})

/** Takes the sandbox's port at the moment when the first part starts. */
const TAKE_PORT = `--import=data:text/javascript,${encodeURIComponent(`
  import { subscribe } from 'node:diagnostics_channel'
  import { createServer } from 'node:net'
  const take = () => createServer().on('error', () => {}).listen(Number(process.env.STEAM_SANDBOX_PORT), '127.0.0.1').unref()
  subscribe('child_process', take)
`)}`

test('a port that is taken while the parts start is reported with the name of its setting', async () => {
  const otherPlace = await newPlace()
  const start = run('scripts/start.ts', { ...otherPlace.env, NODE_OPTIONS: TAKE_PORT })
  expect(await start.ended).toBe(1)
  expect(start.output()).toMatch(/for the sandbox is taken.*STEAM_SANDBOX_PORT/)
  removePlace(otherPlace)
})

test('a start keeps an existing registration', async () => {
  const [before, stores] = [registration(), await addressesOfStores()]
  const gatewayEnv = { TRADETILL_DATA: join(place.root, 'gateway') }
  const { apiKey } = await prepareDemo({ file: registrationFile(), urls: place, gatewayEnv })
  expect(apiKey).toBe(before.apiKey)
  expect(registration()).toEqual(before)
  expect(await addressesOfStores()).toEqual(stores)
})

describe('Ctrl-C, and a start on other ports with a fresh Steam world', () => {
  let before: { registration: Record<string, unknown>; deposits: Record<string, unknown>[] }

  beforeAll(async () => {
    await openTopUp()
    before = { registration: registration(), deposits: await depositIds() }
    await query(`update bot set state = 'dead', online = false`)
    expect(processesOf(place.root).length).toBeGreaterThan(0)
  })

  test('Ctrl-C ends every process', async () => {
    expect(await till.main.interrupt()).toBe(0)
    for (const url of [place.gateway, place.sandbox, place.store]) expect(await isServing(url)).toBe(false)
    expect(processesOf(place.root)).toEqual([])

    // The next tests need a start on other ports, with a new Steam world and a registration that refers to an unknown
    // bot.
    const otherPlace = await newPlace()
    removePlace(otherPlace)
    place = { ...otherPlace, root: place.root, env: { ...otherPlace.env, TRADETILL_DATA_ROOT: place.root } }
    writeFileSync(registrationFile(), JSON.stringify({ ...before.registration, bots: ['76561198000000000'] }))
    rmSync(join(place.root, 'sandbox.json'))
    rmSync(join(place.root, 'vault'), { recursive: true, force: true })
    const withEndlessEnrolment = { NODE_OPTIONS: `${PRINT_CHILDREN} ${ENDLESS_ENROLMENT}` }
    till = await startTill({ ...place, env: { ...place.env, ...withEndlessEnrolment } })
  })

  test('after the next start, the till has its old deposit, and the store its old top-up', async () => {
    const [deposit] = before.deposits
    expect(deposit).toBeDefined()
    expect(await depositIds()).toEqual(before.deposits)
    expect(await storePage()).toContain(`<b>#${deposit?.id}</b>`)
  })

  test('the store has its new address and its old key', async () => {
    const { storeId, apiKey } = before.registration
    expect(await addressesOfStores()).toEqual([
      { id: storeId, origins: [place.store], url: `${place.store}/webhooks/tradetill` },
    ])
    expect(registration()).toMatchObject({ apiKey, url: place.store })
    const opened = await openTopUp()
    expect(opened.headers.get('location')).toMatch(new RegExp(`^${place.gateway}/deposit/[0-9a-f]{32}$`))
  })

  test('bots of a fresh world are enrolled', async () => {
    await expect
      .poll(() => query('select 1 from bot where online'), { message: 'both bots are online' })
      .toHaveLength(2)
  })
})

describe('Ctrl-C while the vault is set up, and a start with a fresh database', () => {
  let before: Awaited<ReturnType<typeof readPlayers>>

  test('Ctrl-C ends every process, including the running command', async () => {
    before = await readPlayers(place.sandbox)
    const enrols = /began .*\/vault\/main\.ts enrol as (\d+)/
    await expect.poll(() => till.main.output(), { message: 'the vault is being enrolled' }).toMatch(enrols)
    const command = Number(enrols.exec(till.main.output())?.[1])
    expect(await till.main.interrupt()).toBe(0)
    expect(processesOf(place.root)).toEqual([])
    expect(() => process.kill(command, 0)).toThrow('ESRCH')

    // The next tests need a start with a new database.
    rmSync(join(place.root, 'gateway'), { recursive: true })
    till = await startTill(place)
  })

  test('the next start registers the store and enrols the bots again', async () => {
    expect(await query('select url from webhook_endpoint')).toEqual([
      { url: `${place.store}/webhooks/tradetill` },
    ])
    expect(await query('select 1 from bot')).toHaveLength(2)
  })

  test('the next start finds the world of Steam as it was', async () => {
    expect(await readPlayers(place.sandbox)).toEqual(before)
    expect(await readOffers(place.sandbox)).toEqual([])
  })
})

const DAY_S = 86_400

const advanceClock = (duration: string) => {
  const env = { TRADETILL_DATA: join(till.root, 'gateway'), TRADETILL_STEAM_SANDBOX_URL: till.sandbox }
  return spawnCommand(['clock', 'advance', duration], { env })
}

/** Reads how far the clocks of the till and of the sandbox are ahead, in days. */
async function daysAhead() {
  const [row] = await query('select ahead_s from till_clock')
  const { aheadS } = await (await fetch(`${till.sandbox}/control/clock`)).json()
  return { till: Number(row?.ahead_s) / DAY_S, sandbox: aheadS / DAY_S }
}

/** Pays a deposit on release with a protected item, so all of it is held. */
async function payHeldDeposit(name?: string) {
  const secrets = await storeSecrets(till.root)
  const deposit = await newDeposit({ place: till, secrets }, { creditMode: 'on_release' })
  const shopper = await callerOf(till.gateway, deposit)
  const { tradeUrl } = await readPlayer(till.sandbox, name)
  await shopper.post('/api/trade-url', { tradeUrl })
  const { offerId, amount } = await makeOffer(shopper)
  // `magic_reverser` accepts automatically.
  if (name === undefined) await answerOffer(till.sandbox, offerId, 'accept')
  await expect.poll(shopper.payment).toMatchObject({ status: 'succeeded', amount, heldAmount: amount })
  const eventTypes = async () => {
    const headers = { authorization: `Bearer ${secrets.apiKey}` }
    const answer = await fetch(`${till.gateway}/v1/deposits/${deposit.id}/events`, { headers })
    const { events } = (await answer.json()) as { events: { type: string }[] }
    return events.map(({ type }) => type)
  }
  return { payment: shopper.payment, amount, eventTypes }
}

/** In the demo store, pays a top-up that is held until Steam's protection ends. */
async function topUpOnHold(page: Page): Promise<void> {
  const texts = TEXTS.en
  await page.goto(till.store)
  await page.getByRole('checkbox', { name: 'Hold it' }).check()
  await page.getByRole('button', { name: 'Top up with game items' }).click()
  await page.waitForURL(/\/deposit\/[0-9a-f]{32}$/)
  await switchLanguage(page, 'en')
  await giveLinkAndAwaitItems(page, texts, await readPlayer(till.sandbox, 'quiet_lynx'))
  await sortDearestFirst(page, texts)
  await pickItems(page, 2)
  await openOffer(page, texts)
  await answerInBrowser(page, texts, 'Accept')
  await page.getByRole('dialog', { name: texts.outcomes.succeeded.title }).waitFor()
}

// These tests use the same till, because a start costs more time than all of them.
describe('the clocks of the till and the Steam sandbox', () => {
  beforeEach(() => offerEvidence('own-till.log', () => till.main.output()))

  test('D-40 are both moved by `clock advance 8d`, and held money is released', async () => {
    const { payment, amount, eventTypes } = await payHeldDeposit()
    expect(await eventTypes()).not.toContain('deposit.funds_available')

    const { code, out, errors } = await advanceClock('8d')
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(out).toContain('8 days ahead')
    expect(await daysAhead()).toEqual({ till: 8, sandbox: 8 })

    await expect.poll(eventTypes).toContain('deposit.funds_available')
    expect(await payment()).toMatchObject({ status: 'succeeded', amount, heldAmount: 0, heldUntil: null })
    const [{ available } = {}] = await query(
      `select sum(balance) as available from account where kind = 'available'`,
    )
    expect(Number(available)).toBe(amount)
  })

  test('D-40 are moved by three days, and the store learns of a reversal in that time', async () => {
    const { eventTypes } = await payHeldDeposit('magic_reverser')
    expect(await eventTypes()).not.toContain('deposit.reversed')
    expect((await advanceClock('3d')).code).toBe(0)
    await expect.poll(eventTypes).toContain('deposit.reversed')
    expect(await eventTypes()).not.toContain('deposit.funds_available')
  })

  test("D-40 are both moved by a button on the sandbox's page, and the demo store shows the release", async () => {
    const { page, context } = await openBrowser()
    await topUpOnHold(page)
    await page.goto(till.store)
    const held = page.locator('small.held', { hasText: /on hold .* until/ })
    await held.waitFor()
    const daysBefore = await daysAhead()

    const sandbox = await context.newPage()
    await sandbox.goto(`${till.sandbox}/behaviours/`)
    await sandbox.getByRole('button', { name: '8 days later' }).click()
    await sandbox.getByText(/\d days ahead/).waitFor()

    const daysAfter = { till: daysBefore.till + 8, sandbox: daysBefore.sandbox + 8 }
    await expect.poll(daysAhead).toEqual(daysAfter)
    await held.waitFor({ state: 'detached' })
  })
})

/** `effect`: a query for a value that the scene leaves in the database. */
type TourScene = { title: string; status: RegExp; effect?: { sql: string; value: string } }

const SCENES: readonly TourScene[] = [
  { title: 'Paid', status: /gave an item worth \$[\d.]+ to Tradetill Bot/ },
  { title: 'Held', status: /is on hold until \d{4}-/ },
  { title: 'Released', status: /\$[\d.]+ was released/ },
  { title: 'Reversed', status: /told the store to take \$[\d.]+ back/ },
  {
    title: 'A foiled scam',
    status: /the till refused it.*the store answered 400/,
    effect: {
      sql: `select status as value from deposit where status = 'tradeCountered'`,
      value: 'tradeCountered',
    },
  },
  {
    title: 'A barred bot',
    status: /Steam refused Tradetill Bot #2.*Tradetill Bot #1 sent the offer/,
    effect: { sql: 'select reason as value from bot_bar', value: 'bot_cannot_trade' },
  },
  { title: 'A killed gateway', status: /asked Steam, and credited \$[\d.]+ once/ },
]

describe('the tour plays a scene at the press of a button, and says what to look at', () => {
  test.each(SCENES)('$title', async ({ title, status, effect }) => {
    offerEvidence('own-till.log', () => till.main.output())
    const { page } = await openBrowser()
    await page.goto(`${till.sandbox}/tour/`)
    const heading = page.getByRole('heading', { name: title })
    const card = page.getByRole('listitem').filter({ has: heading })
    await card.getByRole('button', { name: `Play: ${title}` }).click()
    await card.getByText('Look at:').waitFor({ timeout: 150_000 })
    await expect.poll(() => card.getByRole('status').textContent()).toMatch(status)
    await expect.poll(() => card.getByRole('link').count()).toBeGreaterThanOrEqual(3)
    if (effect !== undefined) expect(await query(effect.sql)).toEqual([{ value: effect.value }])
  })
})
