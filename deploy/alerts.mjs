/**
 * A receiver of the till's alerts. It checks the signature of each alert, and pipes the alert's text, and the console's
 * address if there is one, to the command in ALERT_COMMAND, such as one that sends an email. If the command fails, the
 * till sends the alert again later. The receiver listens on the address in TRADETILL_ALERT_URL, which must be a loopback
 * address. tradetill-alerts.service runs it.
 */
import { spawn } from 'node:child_process'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const { TRADETILL_ALERT_URL = '', TRADETILL_ALERT_SECRET = '', ALERT_COMMAND = '' } = process.env
const MOST_BODY_BYTES = 64 * 1024
/** How far the time of an alert may be from this machine's, before or after it. */
const MOST_AGE_S = 300
/** Less than the 15 s for which the till waits for the answer. */
const COMMAND_TIMEOUT_MS = 10_000

const url = URL.parse(TRADETILL_ALERT_URL)
if (url?.protocol !== 'http:' || !['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)) {
  refuse('TRADETILL_ALERT_URL must be an http address of this machine, such as http://127.0.0.1:4380/')
}
if (!TRADETILL_ALERT_SECRET.startsWith('whsec_')) refuse('TRADETILL_ALERT_SECRET must begin with whsec_')
if (ALERT_COMMAND === '') refuse('ALERT_COMMAND must be a command that reads the text of an alert on stdin')

function refuse(message) {
  console.error(message)
  process.exit(2)
}

const key = Buffer.from(TRADETILL_ALERT_SECRET.slice('whsec_'.length), 'base64')

/** Checks like `verifyWebhook` of `tradetill-sdk`. This file cannot import it, because it must run alone. */
function isSigned({ headers }, body) {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures = '' } = headers
  const isRecent = Math.abs(Date.now() / 1000 - Number(at)) <= MOST_AGE_S
  const expected = Buffer.from(
    `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`,
  )
  return (
    isRecent &&
    signatures
      .split(' ')
      .map((signature) => Buffer.from(signature))
      .some((given) => given.length === expected.length && timingSafeEqual(given, expected))
  )
}

/** Resolves to true if the command exited with 0. */
function runCommand(text) {
  return new Promise((resolve) => {
    // The command may contain a secret. Any user can list a shell's arguments, but not its environment.
    const child = spawn('/bin/sh', ['-c', 'eval "$ALERT_COMMAND"'], {
      // Leaves out the other variables, which are the till's settings and secrets.
      env: { PATH: process.env.PATH, ALERT_COMMAND },
      stdio: ['pipe', 'inherit', 'inherit'],
      timeout: COMMAND_TIMEOUT_MS,
    })
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code === 0))
    // A command may end before it has read its input.
    child.stdin.on('error', () => {})
    child.stdin.end(`${text}\n`)
  })
}

async function readBody(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MOST_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

async function answer(request) {
  if (request.method !== 'POST') return 405
  const body = await readBody(request)
  if (body === undefined) return 413
  if (!isSigned(request, body)) return 401
  const { text, consoleUrl } = JSON.parse(body).data
  return (await runCommand(consoleUrl === null ? text : `${text}\n${consoleUrl}`)) ? 204 : 502
}

createServer((request, response) => {
  answer(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(400).end(),
  )
}).listen(Number(url.port || 80), url.hostname.replace(/[[\]]/g, ''), () =>
  console.log(`listening for alerts at ${url.href}`),
)
