/**
 * `npm run bench -- line`: time until the trade link can be typed in, on a first visit at 400 kbit/s with a latency of
 * 400 ms. It is compared with a page that has only React and one field, compressed and served in the same way.
 */
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import type { Browser } from 'playwright-core'
import { build } from 'vite'
import { launchBrowser, MOBILE } from '../e2e/support/browser.ts'
import { storeSecrets } from '../e2e/support/demo-store.ts'
import { prepare } from '../e2e/support/setup.ts'
import { endTill, startTill } from '../e2e/support/till.ts'
import { newDeposit } from '../e2e/support/widget-calls.ts'
import { median, type Outcome } from './outcome.ts'

/** Our field may take up to this many times as long as that of the compared page. */
const MOST_TIMES = 1.3
/** The first paint must come before a second round trip ends: it may wait for the document, but for no other file. */
const MOST_ROUND_TRIPS = 2
const LATENCY_MS = 400
const BYTES_PER_S = 400_000 / 8
const ROUNDS = 5

/** A folder within the project, so the build finds React. */
const FLOOR_FOLDER = join(import.meta.dirname, '../.data/bench-line')

type VisitTimes = { paintMs: number; fieldMs: number }

export async function benchLine(): Promise<Outcome> {
  await prepare()
  const floor = await serveFloor()
  const till = await startTill()
  const browser = await launchBrowser()
  try {
    const { url } = await newDeposit({ place: till, secrets: await storeSecrets(till.root) })
    const ours: VisitTimes[] = []
    const theirs: VisitTimes[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      theirs.push(await visitOnce(browser, floor.url))
      ours.push(await visitOnce(browser, url))
    }
    return judge(ours, theirs)
  } finally {
    await browser.close()
    await endTill(till)
    floor.server.close()
  }
}

function judge(ours: readonly VisitTimes[], theirs: readonly VisitTimes[]): Outcome {
  const medianOf = (visits: readonly VisitTimes[], time: keyof VisitTimes) =>
    median(visits.map((visit) => visit[time]))
  const [paint, field, bare] = [
    medianOf(ours, 'paintMs'),
    medianOf(ours, 'fieldMs'),
    medianOf(theirs, 'fieldMs'),
  ]
  const trips = paint / LATENCY_MS
  console.log(`line: first paint after ${paint.toFixed(0)} ms, ${trips.toFixed(1)} round trips`)
  return {
    name: 'line',
    ours: `${field.toFixed(0)}ms`,
    floor: `${bare.toFixed(0)}ms`,
    ratio: field / bare,
    limit: `<=${MOST_TIMES}`,
    passed: field / bare <= MOST_TIMES && trips < MOST_ROUND_TRIPS,
  }
}

/** Runs in the page before its scripts: records when the field can be typed in. */
function watchField(): void {
  const check = (): void => {
    if (document.querySelector('input:not([disabled])') === null) requestAnimationFrame(check)
    else Reflect.set(window, 'fieldMs', performance.now())
  }
  requestAnimationFrame(check)
}

/** Visits the page once with an empty cache. */
async function visitOnce(browser: Browser, url: string): Promise<VisitTimes> {
  const context = await browser.newContext({ viewport: MOBILE, locale: 'en-US' })
  try {
    const page = await context.newPage()
    await page.addInitScript(watchField)
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: LATENCY_MS,
      downloadThroughput: BYTES_PER_S,
      uploadThroughput: BYTES_PER_S,
    })
    await page.goto(url, { waitUntil: 'commit' })
    const field = await page.waitForFunction(() => Reflect.get(window, 'fieldMs'))
    const paintMs = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    )
    return { paintMs, fieldMs: Number(await field.jsonValue()) }
  } finally {
    await context.close()
  }
}

/** Serves the smallest page on which React renders a field, as the gateway would. */
async function serveFloor(): Promise<{ server: Server; url: string }> {
  rmSync(FLOOR_FOLDER, { recursive: true, force: true })
  mkdirSync(FLOOR_FOLDER, { recursive: true })
  writeFileSync(
    join(FLOOR_FOLDER, 'index.html'),
    '<!doctype html><title>React</title><div id="root"></div><script type="module" src="/main.jsx"></script>',
  )
  writeFileSync(
    join(FLOOR_FOLDER, 'main.jsx'),
    `import { createRoot } from 'react-dom/client'
     createRoot(document.getElementById('root')).render(<input />)`,
  )
  await build({
    root: FLOOR_FOLDER,
    logLevel: 'silent',
    plugins: [react()],
    build: { target: 'es2022', modulePreload: { polyfill: false } },
  })
  const page = brotliCompressSync(readFileSync(join(FLOOR_FOLDER, 'dist/index.html')))
  const assets = new Map(
    readdirSync(join(FLOOR_FOLDER, 'dist/assets')).map((name) => [
      `/assets/${name}`,
      brotliCompressSync(readFileSync(join(FLOOR_FOLDER, 'dist/assets', name))),
    ]),
  )
  const server = createServer(({ url = '/' }, answer) => {
    const script = assets.get(url)
    const type = script === undefined ? 'text/html; charset=utf-8' : 'text/javascript; charset=utf-8'
    answer.writeHead(200, { 'content-type': type, 'content-encoding': 'br', 'cache-control': 'no-store' })
    answer.end(script ?? page)
  })
  await once(server.listen(0, 'localhost'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return { server, url: `http://localhost:${address.port}/` }
}
