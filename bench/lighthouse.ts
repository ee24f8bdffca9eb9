/**
 * `npm run bench -- lighthouse`: Lighthouse's scores for the deposit page with 60 items on an average phone.
 *
 * The median of five runs counts. A run before them does not count, because the till is then still starting its
 * workers. Lighthouse is installed into a temporary folder, because it is large and only this figure needs it.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { inventorySchema } from '../contract/widget-api.ts'
import { UNWANTED_FEATURES } from '../e2e/support/browser.ts'
import { storeSecrets } from '../e2e/support/demo-store.ts'
import { prepare } from '../e2e/support/setup.ts'
import { endTill, startTill } from '../e2e/support/till.ts'
import { createDepositWithLink } from '../e2e/support/widget-calls.ts'
import { withPackage } from './npm-package.ts'
import { median, type Outcome } from './outcome.ts'

const LIGHTHOUSE = 'lighthouse@13.5.0'
const CATEGORIES = ['performance', 'accessibility', 'best-practices'] as const
const TIMES = ['first-contentful-paint', 'largest-contentful-paint', 'total-blocking-time', 'speed-index']
const RUNS = 5
const ITEMS = 60
/** The fewest of Lighthouse's 100 points for performance. The other categories must have all 100. */
const LEAST_PERFORMANCE = 97
/** The longest time until the largest part of the page is painted. */
const LATEST_PAINT_MS = 1_800

const run = promisify(execFile)

const categorySchema = z.object({
  score: z.number(),
  auditRefs: z.array(z.object({ id: z.string(), weight: z.number() })),
})
const reportSchema = z.object({
  categories: z.object({
    performance: categorySchema,
    accessibility: categorySchema,
    'best-practices': categorySchema,
  }),
  /** The machine's speed: about 1500 on an idle desktop, far less on a busy one. */
  environment: z.object({ benchmarkIndex: z.number() }),
  audits: z.record(
    z.string(),
    z.object({ score: z.number().nullable(), numericValue: z.number().optional() }),
  ),
})

type Report = z.infer<typeof reportSchema>

const points = ({ categories }: Report, name: (typeof CATEGORIES)[number]): number =>
  Math.round(categories[name].score * 100)
const figureOf = ({ audits }: Report, name: string): number => audits[name]?.numericValue ?? Number.NaN

/** The audits that cost points, except the speed figures, which are printed separately. */
function auditsWithLoss({ categories, audits }: Report): string[] {
  return CATEGORIES.slice(1)
    .flatMap((name) => categories[name].auditRefs)
    .filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 1)
    .map(({ id }) => id)
}

/**
 * Runs Lighthouse. Disables the pages that desktop Chromium loads for its address bar, because a phone does not load
 * them.
 */
async function measure(folder: string, url: string, chromium: string): Promise<Report> {
  const file = join(folder, 'report.json')
  const flags = `--headless=new --no-sandbox --disable-features=${UNWANTED_FEATURES}`
  const args = [`--chrome-flags=${flags}`, '--output=json', `--output-path=${file}`]
  const cli = join(folder, 'node_modules/lighthouse/cli/index.js')
  const measureOnce = () =>
    run(process.execPath, [cli, url, '--quiet', ...args, `--only-categories=${CATEGORIES}`], {
      env: { ...process.env, CHROME_PATH: chromium },
      timeout: 120_000,
    })
  // If the browser's trace lacks its beginning, nothing was measured, so Lighthouse runs again.
  await measureOnce().catch(async (error: unknown) => {
    if (!String(error).includes('NO_NAVSTART')) throw error
    await measureOnce()
  })
  return reportSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
}

function print(report: Report, index: number): void {
  const scores = CATEGORIES.map((name) => `${name} ${points(report, name)}`)
  const times = TIMES.map((name) => `${name} ${Math.round(figureOf(report, name))} ms`)
  const shift = `shift ${figureOf(report, 'cumulative-layout-shift').toFixed(4)}`
  const machine = `machine ${Math.round(report.environment.benchmarkIndex)}`
  console.log(
    [`run ${index + 1}: ${scores.join(', ')}`, ...times, shift, machine, ...auditsWithLoss(report)].join(
      ', ',
    ),
  )
}

/** Starts a proxy in front of the till. It gives the inventory `count` items. */
async function startItemProxy(gateway: string, count: number): Promise<{ url: string; close(): void }> {
  const { hostname, port } = new URL(gateway)
  const server = createServer((incoming, answer) => {
    const isInventory = incoming.url?.startsWith('/api/inventory') === true
    const headers = { ...incoming.headers, host: `${hostname}:${port}` }
    if (incoming.headers.origin !== undefined) headers.origin = gateway
    if (isInventory) headers['accept-encoding'] = 'identity'
    const onward = request(
      { hostname, port, path: incoming.url, method: incoming.method, headers },
      (upstream) => {
        if (!isInventory) {
          answer.writeHead(upstream.statusCode ?? 502, upstream.headers)
          upstream.pipe(answer)
          return
        }
        void text(upstream).then((body) => {
          const { 'content-length': _, 'transfer-encoding': __, ...rest } = upstream.headers
          answer.writeHead(upstream.statusCode ?? 502, { ...rest, 'content-encoding': 'gzip' })
          answer.end(gzipSync(withCount(body, count)))
        })
      },
    )
    incoming.pipe(onward)
  })
  await once(server.listen(0, 'localhost'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return { url: `http://localhost:${address.port}`, close: () => server.close() }
}

/** Cuts an inventory to `count` items, or adds copies of its first items with new ids, at most one of each. */
function withCount(body: string, count: number): string {
  const inventory = inventorySchema.parse(JSON.parse(body))
  const { items } = inventory
  const copies = items
    .slice(0, Math.max(0, count - items.length))
    .map((item) => ({ ...item, id: `9${item.id}` }))
  return JSON.stringify({ ...inventory, items: [...items, ...copies].slice(0, count) })
}

export async function benchLighthouse(): Promise<Outcome> {
  const chromium = await prepare()
  const till = await startTill()
  try {
    const secrets = await storeSecrets(till.root)
    // Sends the language, as the demo store does, so the first answer contains the texts.
    const shopper = await createDepositWithLink({ place: till, secrets }, { language: 'en' })
    const page = await startItemProxy(till.gateway, ITEMS)
    const url = `${page.url}/deposit/${shopper.hash}`
    try {
      return judge(await withPackage(LIGHTHOUSE, (folder) => reportsOf(folder, url, chromium)))
    } finally {
      page.close()
    }
  } finally {
    await endTill(till)
  }
}

async function reportsOf(folder: string, url: string, chromium: string): Promise<Report[]> {
  const reports: Report[] = []
  await measure(folder, url, chromium)
  for (let index = 0; index < RUNS; index += 1) {
    const report = await measure(folder, url, chromium)
    print(report, index)
    reports.push(report)
  }
  return reports
}

function judge(reports: readonly Report[]): Outcome {
  const score = (name: (typeof CATEGORIES)[number]): number =>
    median(reports.map((report) => points(report, name)))
  const shift = median(reports.map((report) => figureOf(report, 'cumulative-layout-shift')))
  const ours = [...CATEGORIES.map(score), shift.toFixed(3)].join('/')
  const areOthersAt100 = score('accessibility') === 100 && score('best-practices') === 100
  const paintMs = median(reports.map((report) => figureOf(report, 'largest-contentful-paint')))
  const passed =
    score('performance') >= LEAST_PERFORMANCE && areOthersAt100 && shift === 0 && paintMs <= LATEST_PAINT_MS
  return {
    name: 'lighthouse',
    ours: `${ours}/${Math.round(paintMs)}ms`,
    limit: `>=${LEAST_PERFORMANCE}/100/100/0/<=${LATEST_PAINT_MS}ms`,
    passed,
  }
}
