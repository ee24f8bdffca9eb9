/**
 * Checks that a proxy program does its duties in front of a real gateway. For the check of streams, a server that sends
 * one takes the gateway's place.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from '../../e2e/support/process.ts'
import { ask, askPlainly, CONSOLE, open, type ProxyAddress, protocolOf } from './ask.ts'
import type { ProxyProgram, Running, Upstreams } from './proxies.ts'
import { examine, startStream, startTill, type Till } from './till.ts'

/** `why` is empty if the check passed. */
export type Check = { name: string; why: string }

const HASH = '0123456789abcdef0123456789abcdef'
const UPPERCASE_HASH = HASH.toUpperCase()
const KIB = 1_024
/** How long to wait for the proxy to pass on the first half of an answer. */
const STREAM_MS = 60_000

type Parts = { proxy: ProxyProgram; folder: string; databaseUrl: string }

export async function checkProxyDuties({ proxy, folder, databaseUrl }: Parts): Promise<Check[]> {
  const [page = 0, console = 0, tls = 0, plain = 0] = await freePorts(4)
  const upstreams: Upstreams = { page, console }
  const start = (mayOpenConsole: boolean) => {
    const ownFolder = join(folder, `${proxy.name}-${mayOpenConsole ? 'open' : 'closed'}`)
    mkdirSync(ownFolder)
    return proxy.start({ folder: ownFolder, upstreams, ports: [tls, plain], mayOpenConsole })
  }
  const till = await startTill(databaseUrl, upstreams)
  const checks: Check[] = []
  try {
    checks.push(...(await withProxy(start(false), (running) => checkClosed(running.address))))
    checks.push(...(await withProxy(start(true), (running) => checkOpen(running, till, upstreams))))
  } finally {
    await till.kill()
  }
  return checks
}

async function withProxy<T>(starting: Promise<Running>, work: (running: Running) => Promise<T>): Promise<T> {
  const running = await starting
  try {
    return await work(running)
  } finally {
    await running.stop()
  }
}

async function checkClosed(address: ProxyAddress): Promise<Check[]> {
  return [
    await expectThat('a stranger is refused at the console', async () => {
      const { status } = await ask(address, '/', { host: CONSOLE })
      return status === 403 ? '' : `answered ${status}`
    }),
  ]
}

async function checkOpen(running: Running, till: Till, upstreams: Upstreams): Promise<Check[]> {
  const { address } = running
  const checks = [
    ...(await checkTls(address)),
    ...(await checkSizes(address)),
    ...(await checkDoctor(till, address)),
  ]
  await visitWithLinks(address)
  // Calls to a killed gateway fail, and a proxy logs them too.
  await till.kill()
  await visitWithLinks(address)
  checks.push(
    await expectThat('a stream of the console is not delayed', () => checkStream(address, upstreams)),
  )
  checks.push(
    await expectThat('no log contains a deposit’s link, not even for failed calls', async () =>
      findLinks(running),
    ),
  )
  return checks
}

async function checkTls(address: ProxyAddress): Promise<Check[]> {
  const statusOver = (version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') =>
    ask(address, '/help', { version }).then(
      ({ status }) => String(status),
      () => 'refused',
    )
  return [
    await expectThat('TLS 1.2 and 1.3 are accepted, 1.1 is not', async () => {
      const answers = [
        await statusOver('TLSv1.1'),
        await statusOver('TLSv1.2'),
        await statusOver('TLSv1.3'),
      ].join()
      return answers === 'refused,200,200' ? '' : answers
    }),
    await expectThat('HTTP/2 is offered', async () => {
      const protocol = await protocolOf(address)
      return protocol === 'h2' ? '' : protocol
    }),
    await expectThat('HSTS and X-Frame-Options of the gateway’s answers arrive once each', async () => {
      const { headers } = await ask(address, '/help')
      const answers = [headers['strict-transport-security'], headers['x-frame-options']].join()
      return answers === 'max-age=31536000,DENY' ? '' : answers
    }),
  ]
}

async function checkSizes(address: ProxyAddress): Promise<Check[]> {
  const deposit = (kib: number) =>
    ask(address, '/v1/deposits', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ externalId: 'x'.repeat(kib * KIB) }),
    })
  return [
    await expectThat('a body of up to 100 KB reaches the till', async () => {
      const answers = [await deposit(60), await deposit(100)]
      const summary = answers.map(({ status, headers }) => `${status} ${'x-request-id' in headers}`).join()
      return summary === '401 true,401 true' ? '' : summary
    }),
    await expectThat('a body of a megabyte is refused by the proxy', async () => {
      const { status, headers } = await deposit(1_000)
      const isRefused = (status === 413 || status === 502) && !('x-request-id' in headers)
      return isRefused ? '' : `answered ${status}`
    }),
    await expectThat('a header of 40 KB is refused', async () => {
      const { status } = await ask(address, '/help', { headers: { 'x-long': 'x'.repeat(40 * KIB) } })
      return status >= 400 && status < 500 ? '' : `answered ${status}`
    }),
  ]
}

/** Runs the doctor, and returns its checks of the path from callers to the gateway. */
async function checkDoctor(till: Till, address: ProxyAddress): Promise<Check[]> {
  const findings = (await examine(till, address)).filter(({ check }) =>
    /^(?:public|proxy\.|console(?!\.operators))/.test(check),
  )
  return findings.map(({ check, state, says }) => ({
    name: `the doctor: ${check}`,
    why: state === 'good' ? '' : says,
  }))
}

/** Makes calls with a deposit's link in the path, the query and the referer, over TLS and over plain http. */
async function visitWithLinks(address: ProxyAddress): Promise<void> {
  const referer = { referer: `https://pay.example/deposit/${HASH}` }
  const paths = [
    `/deposit/${HASH}`,
    `/${UPPERCASE_HASH}`,
    `/api/payment?hash=${HASH}`,
    `/help?x=1&hash=${UPPERCASE_HASH}&y=2`,
  ]
  for (const path of paths) {
    await ask(address, path, { headers: referer })
    await askPlainly(address, path, { headers: referer })
  }
  await ask(address, `/deposits?link=${HASH}`, { host: CONSOLE, headers: referer })
}

/** Returns why the logs are wrong; empty if they are right. */
function findLinks(running: Running): string {
  const text = running.written()
  // A log shows a link as its first six characters.
  if (!text.includes('012345...')) return 'the log contains no shortened link'
  const [found] = text.match(/[^\n]{0,80}0123456[^\n]{0,40}/i) ?? []
  return found === undefined ? '' : `the log contains ${found}`
}

/**
 * Checks that the proxy does not hold back the first half of an answer. Sends the second half once the first has
 * arrived, or after `STREAM_MS`. Returns what is wrong; empty if nothing is.
 */
async function checkStream(address: ProxyAddress, upstreams: Upstreams): Promise<string> {
  const server = await startStream(upstreams.console)
  let isHeldBack = false
  const timer = setTimeout(() => {
    isHeldBack = true
    server.finish()
  }, STREAM_MS)
  try {
    const answer = await open(address, '/ops/live', { host: CONSOLE, method: 'POST' })
    let received = ''
    for await (const chunk of answer) {
      if (received === '') server.finish()
      received += String(chunk)
    }
    if (isHeldBack) return 'the proxy held back the first event until the second was sent'
    return received === 'data: first\n\ndata: second\n\n' ? '' : `answered ${answer.statusCode}: ${received}`
  } finally {
    clearTimeout(timer)
    await server.close()
  }
}

async function expectThat(name: string, why: () => Promise<string>): Promise<Check> {
  try {
    return { name, why: await why() }
  } catch (error) {
    return { name, why: error instanceof Error ? error.message : String(error) }
  }
}
