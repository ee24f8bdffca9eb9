import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startStore } from '../../demo-store/server.ts'
import { packSdk } from '../../scripts/sdk.ts'
import { systemClock } from '../kit/clock.ts'
import { freePort } from '../testing/free-port.ts'
import { SECRET } from '../testing/webhooks.ts'
import { CHECKS, type Options, verifyHandler } from './verify.ts'

const ROOT = join(import.meta.dirname, '../..')

async function runChecks(options: Omit<Options, 'secret' | 'clock' | 'customer' | 'patience'>) {
  // A correct store ends the two long waits early.
  const patience = { settleMs: 60_000, quietMs: 10, reconcileMs: 60_000 }
  const common = { secret: SECRET, clock: systemClock, customer: 'nova', patience }
  const verified = await verifyHandler({ ...common, ...options })
  if (verified.kind !== 'checked') throw new Error(verified.reason)
  const { results } = verified
  return { checks: results.length, failures: results.filter(({ result }) => result !== 'passed') }
}

const guide = readFileSync(join(ROOT, 'docs/store-guide.md'), 'utf8')
const recipes = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, recipe = '']) => recipe)

/** Packs the npm package for stores, and installs only that in `folder`. */
function installPackage(folder: string): void {
  const archive = packSdk(folder)
  const options = ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', archive]
  execFileSync('npm', options, { cwd: folder, stdio: 'pipe' })
}

it.each([
  ['the recipe of the store guide', 0],
  ['the recipe with the package, packed and installed by npm', 1],
])('verify finds no fault in %s', async (_what, recipeIndex) => {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-recipe-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'shop.mts'), recipes[recipeIndex] ?? '')
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  if (recipeIndex === 1) installPackage(folder)
  else symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const [port, tillPort] = [await freePort(), await freePort()]
  const env = {
    TILL_URL: `http://127.0.0.1:${tillPort}`,
    TILL_SECRET: SECRET,
    PORT: String(port),
    RECONCILE_MS: '200',
  }
  const shop = spawn(process.execPath, ['shop.mts'], { cwd: folder, env, stdio: 'pipe' })
  onTestFinished(() => void shop.kill('SIGKILL'))
  let output = ''
  for (const stream of [shop.stdout, shop.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  await expect.poll(() => output).toContain('shop at')
  const address = `http://127.0.0.1:${port}`
  const balance = `${address}/balance?customer={CUSTOMER}`
  const url = new URL(`${address}/webhooks/tradetill`)
  expect(await runChecks({ url, balance, tillPort })).toEqual({ checks: CHECKS.length, failures: [] })
})

it('verify finds no fault in the demo store, which credits only its own orders', async () => {
  const tillPort = await freePort()
  const till = { url: `http://127.0.0.1:${tillPort}`, apiKey: 'tt_test_key', webhookSecret: SECRET }
  const common = { port: 0, dataFile: ':memory:', sandboxUrl: 'http://127.0.0.1:9' }
  const store = await startStore({ ...common, till, report: () => {} })
  onTestFinished(() => store.close())
  let isDone = false
  const result = runChecks({
    url: new URL(`${store.url}/webhooks/tradetill`),
    balance: `${store.url}/books.json`,
    open: `${store.url}/top-ups`,
    tillPort,
  }).finally(() => {
    isDone = true
  })
  // Presses the shopper's button, because the store itself reads the log only once a minute.
  while (!isDone) await fetch(`${store.url}/reconcile`, { method: 'POST', redirect: 'manual' })
  const expectedChecks = CHECKS.filter(({ inventedOrdersOnly }) => inventedOrdersOnly !== true)
  expect(await result).toEqual({ checks: expectedChecks.length, failures: [] })
})
