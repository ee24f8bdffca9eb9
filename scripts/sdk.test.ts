import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { Webhook as Signer } from 'standardwebhooks'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packSdk } from './sdk.ts'

const ROOT = join(import.meta.dirname, '..')
/**
 * The most bytes of the package's code, comments included, after compression. Raise it only for a reason. The last one:
 * `createTill` refuses addresses and keys with which no call can work.
 */
const MOST_BYTES = 4_000

/** The code of a store that uses the package. It would not compile if the types were wrong. */
const STORE = `import { createTill, isOfDeposit, verifyWebhook, type TillEvent } from 'tradetill-sdk'

const till = createTill({ url: 'https://pay.example', apiKey: 'tt_test_1' })
const order = { externalId: 'order-1', backToStoreUrl: 'https://store.example/' }
export const opened: string = (await till.createDeposit({ ...order, currency: 'USD' })).url
// @ts-expect-error a currency that no till has
await till.createDeposit({ ...order, currency: 'XXX' })
// @ts-expect-error a deposit without an order
await till.createDeposit({ currency: 'USD' })
for await (const event of till.events({ after: 1 })) {
  const typed: TillEvent = event
  if (isOfDeposit(typed)) console.log(typed.data.amount)
}
export const read = await verifyWebhook({ secret: 'whsec_', headers: new Headers(), body: '' })
`

/** Runs in any runtime. Reports the package's results for a signed event, a changed event and a call. */
const USE_PACKAGE = `
const nameOfError = (error) => error.name
const echo = async (url, { method, headers }) =>
  Response.json({ request: method + ' ' + url, key: headers.authorization })
const till = createTill({ url: 'https://pay.example', apiKey: 'tt_test_1', fetch: echo })
const results = Promise.all([
  verifyWebhook(signed).then(({ type, data }) => type + ' ' + data.customerLabel),
  verifyWebhook({ ...signed, body: signed.body + ' ' }).catch(nameOfError),
  till.createDeposit({ externalId: 'order-1', currency: 'USD', backToStoreUrl: 'https://store.example/' }),
])`

const RESULTS = [
  'deposit.succeeded Zoë',
  'WebhookRefused',
  { request: 'POST https://pay.example/v1/deposits', key: 'Bearer tt_test_1' },
]

/** The folder of a store that contains nothing but the package, as `npm install` puts it there. */
const folder = mkdtempSync(join(tmpdir(), 'tradetill-sdk-test-'))
const packageFolder = join(folder, 'node_modules/tradetill-sdk')

beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}')
  const quiet = ['--offline', '--no-audit', '--no-fund', '--no-update-notifier']
  execFileSync('npm', ['install', ...quiet, packSdk(folder)], { cwd: folder, stdio: 'pipe' })
})
afterAll(() => rmSync(folder, { recursive: true }))

function signedEvent() {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const body = JSON.stringify({ id: 'e2', type: 'deposit.succeeded', data: { customerLabel: 'Zoë' } })
  const at = new Date()
  const headers = {
    'webhook-id': 'e2',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Signer(secret).sign('e2', at, body),
  }
  return { secret, headers, body }
}

test(`the package has no dependencies, and its code has at most ${MOST_BYTES} bytes, compressed`, () => {
  const facts = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect([facts.version, facts.dependencies]).toEqual([ours.version, undefined])
  expect(readdirSync(packageFolder).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
  expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    'tradetill-sdk',
  ])
  const code = readdirSync(join(packageFolder, 'dist'))
    .filter((file) => file.endsWith('.js'))
    .map((file) => readFileSync(join(packageFolder, 'dist', file), 'utf8'))
    .join('\n')
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(MOST_BYTES)
})

test('the types of the package fit the code of a store', () => {
  const compilerOptions = { strict: true, noEmit: true, target: 'es2023', module: 'nodenext', types: [] }
  const lib = ['es2024', 'dom', 'dom.iterable']
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

test('the installed package works in Node', () => {
  const script = `import { createTill, verifyWebhook } from 'tradetill-sdk'
const signed = ${JSON.stringify(signedEvent())}
${USE_PACKAGE}
console.log(JSON.stringify(await results))`
  writeFileSync(join(folder, 'use.js'), script)
  const output = execFileSync(process.execPath, ['use.js'], { cwd: folder, encoding: 'utf8' })
  expect(JSON.parse(output)).toEqual(RESULTS)
})

/** Globals that every edge runtime has. */
const EDGE = { AbortSignal, Headers, Response, TextEncoder, URL, URLSearchParams, atob, crypto }

test('the bundled package works in an edge runtime, without imports and without Node', async () => {
  const bundled = await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: false,
      lib: { entry: join(packageFolder, 'dist/index.js'), formats: ['iife'], name: 'sdk' },
      rolldownOptions: { platform: 'neutral' },
    },
  })
  const [output] = [bundled].flat()
  if (output === undefined || !('output' in output)) throw new Error('nothing was bundled')
  const [chunk, ...others] = output.output
  expect([chunk.imports, chunk.dynamicImports, others]).toEqual([[], [], []])
  expect(chunk.code).not.toMatch(/\bnode:|\brequire\(/)
  const edge = createContext({ ...EDGE, signed: signedEvent() })
  const script = `${chunk.code};(() => { const { createTill, verifyWebhook } = sdk;${USE_PACKAGE}; return results })()`
  expect(await runInContext(script, edge)).toEqual(RESULTS)
})
