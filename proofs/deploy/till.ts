/** A gateway in live mode with its console, as it runs behind a proxy; its doctor; and a server that sends a stream. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import type { ProxyAddress } from './ask.ts'
import type { Upstreams } from './proxies.ts'

const ROOT = join(import.meta.dirname, '../..')

export type Till = { env: Record<string, string>; kill(): Promise<void> }

export async function startTill(databaseUrl: string, upstreams: Upstreams): Promise<Till> {
  const env = {
    TRADETILL_MODE: 'live',
    DATABASE_URL: databaseUrl,
    TRADETILL_MASTER_KEY: randomBytes(32).toString('base64'),
    TRADETILL_PUBLIC_URL: 'https://pay.example',
    TRADETILL_TRUSTED_PROXIES: '127.0.0.1',
    TRADETILL_PORT: String(upstreams.page),
    TRADETILL_CONSOLE_PORT: String(upstreams.console),
    TRADETILL_CONSOLE_URL: 'https://till-ops.example',
    TRADETILL_PRICE_SOURCES: 'none',
    TRADETILL_DATA: join(ROOT, '.data/proof-of-deploy'),
  }
  const child = spawn(process.execPath, [join(ROOT, 'gateway/main.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output: string[] = []
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output.push(String(chunk))
        if (output.join('').includes('gateway ready at')) resolve()
      })
  })
  const isReady = await Promise.race([ready.then(() => true), ended.then(() => false)])
  if (!isReady) throw new Error(`the gateway does not start:\n${output.join('')}`)
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { env, kill }
}

const reportSchema = z.object({
  findings: z.array(z.object({ check: z.string(), state: z.string(), says: z.string() })),
})

type ExamineOptions = { trustsCertificate?: boolean; settings?: Record<string, string> }

export type Finding = z.infer<typeof reportSchema>['findings'][number]

/** Runs the doctor, with the example host names redirected to the proxy at `address`. Resolves to its findings. */
export async function examine(
  till: Till,
  address: ProxyAddress,
  { trustsCertificate = true, settings = {} }: ExamineOptions = {},
): Promise<Finding[]> {
  const preload = `file://${import.meta.dirname}/names-from-outside.mjs?tls=${address.tlsPort}&plain=${address.plainPort}`
  const child = spawn(process.execPath, [join(ROOT, 'gateway/cli/main.ts'), 'doctor', '--json'], {
    env: {
      ...till.env,
      NODE_OPTIONS: `--import=${preload}`,
      ...(trustsCertificate ? { NODE_EXTRA_CA_CERTS: address.certificate } : {}),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return reportSchema.parse(JSON.parse(await text(child.stdout))).findings
}

/** Starts a server that begins each answer at once, and finishes it when `finish` is called. */
export async function startStream(port: number) {
  const open: ServerResponse[] = []
  const server = createServer((_request, answer) => {
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    answer.write('data: first\n\n')
    open.push(answer)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    finish() {
      for (const answer of open.splice(0)) answer.end('data: second\n\n')
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
