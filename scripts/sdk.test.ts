import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { packSdk } from './sdk.ts'

const ROOT = join(import.meta.dirname, '..')
const MOST_BYTES = 3_700

/** A store that is written against the package: a wrong line would not compile. */
const STORE = `import { createTill, isOfDeposit, verifyWebhook, type TillEvent } from 'tradetill-sdk'

const till = createTill({ url: 'https://pay.example', apiKey: 'tt_test_1' })
const order = { externalId: 'order-1', backToStoreUrl: 'https://store.example/' }
export const opened: string = (await till.createDeposit({ ...order, currency: 'USD' })).url
// @ts-expect-error a currency that no till has
await till.createDeposit({ ...order, currency: 'XXX' })
// @ts-expect-error a deposit without an order
await till.createDeposit({ currency: 'USD' })
for await (const event of till.events({ after: 1 })) {
  const told: TillEvent = event
  if (isOfDeposit(told)) console.log(told.data.amount)
}
export const read = await verifyWebhook({ secret: 'whsec_', headers: new Headers(), body: '' })
`

test('the package is small, has no dependencies, and its types hold a store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-sdk-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const archive = packSdk(folder)
  const home = join(folder, 'node_modules/tradetill-sdk')
  execFileSync('mkdir', ['-p', home])
  execFileSync('tar', ['-xzf', archive, '-C', home, '--strip-components=1'])
  const facts = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect([facts.version, facts.dependencies]).toEqual([ours.version, undefined])
  expect(readdirSync(home).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
  const code = readdirSync(join(home, 'dist'))
    .filter((file) => file.endsWith('.js'))
    .map((file) => readFileSync(join(home, 'dist', file), 'utf8'))
    .join('\n')
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(MOST_BYTES)
  expect(code).not.toMatch(/\bnode:|\bprocess\.|\bBuffer\b/)
  const compilerOptions = { strict: true, noEmit: true, target: 'es2023', module: 'nodenext', types: [] }
  const lib = ['es2024', 'dom', 'dom.iterable']
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, lib }, files: ['store.ts'] }),
  )
  writeFileSync(join(folder, 'store.ts'), STORE)
  const tsc = () => {
    try {
      return execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
    } catch (error) {
      return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
    }
  }
  expect(tsc()).toBe('')
})
