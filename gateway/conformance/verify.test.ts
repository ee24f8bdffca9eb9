import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../kit/clock.ts'
import { runCommand } from '../testing/command.ts'
import { freePort } from '../testing/free-port.ts'
import { FLAWS, type Flaw, startStoreHandler } from '../testing/store-handler.ts'
import { SECRET } from '../testing/webhooks.ts'
import { createBalanceReader } from './balance.ts'
import { createHandlerClient } from './handler-client.ts'
import { CHECKS, type CheckResult, type Options, type VerifyResult, verifyHandler } from './verify.ts'

/**
 * A handler in this process credits before it answers, so only a check that fails waits for all of `settleMs`. The
 * deadline of an answer suits a busy machine: two flaws wait for 500 turns of an event loop that all handlers share.
 */
const PATIENCE = { settleMs: 100, quietMs: 10, reconcileMs: 60_000, deadlineMs: 120_000 }
/** Waits as long as a slow machine may need. With a correct handler, the wait ends early. */
const LONG_PATIENCE = { ...PATIENCE, settleMs: 60_000 }

type Setting = { flaw?: Flaw; hasTill?: boolean; change?: Partial<Options> }

async function verify({ flaw, hasTill = false, change = {} }: Setting): Promise<VerifyResult> {
  const tillPort = hasTill ? await freePort() : undefined
  const handler = await startStoreHandler({ ...(flaw && { flaw }), ...(tillPort && { tillPort }) })
  try {
    const { url, balanceUrl: balance } = handler
    const common = { url: new URL(url), secret: SECRET, clock: systemClock, customer: 'nova' }
    return await verifyHandler({ ...common, balance, tillPort, patience: PATIENCE, ...change })
  } finally {
    await handler.close()
  }
}

async function resultsOf(setting: Setting): Promise<CheckResult[]> {
  const answer = await verify(setting)
  if (answer.kind !== 'checked') throw new Error(answer.reason)
  return answer.results
}

const namesOf = (results: readonly CheckResult[], wanted: CheckResult['result']): string[] =>
  results.filter(({ result }) => result === wanted).map(({ check }) => check)

const REVERSALS = ['reversed-part', 'reversed-whole', 'borne-by-operator', 'later-reversal']

/** The checks that the test of the flaws leaves out, because no flaw here makes a handler slow. */
const COSTLY = ['many-at-once', 'slow-callers']
/** A check that may find the flaw too, depending on the machine's speed. */
const FOUND_BY_CHANCE: Partial<Record<Flaw, string>> = { 'checks for repeats without a lock': 'answer-lost' }

const FOUND: Record<Flaw, string[]> = {
  'checks no signature': ['wrong-signature', 'no-signature', 'changed-body', 'wrong-time'],
  'ignores the signed time': ['wrong-time'],
  'reads the first signature only': ['two-secrets'],
  'verifies the parsed body instead of the raw one': ['large-body'],
  'accepts only small bodies': ['large-body'],
  'credits each delivery': [
    'amount-increased',
    'old-news',
    ...REVERSALS,
    'currency',
    'repeated-at-once',
    'answer-lost',
  ],
  'credits each event': [
    'amount-increased',
    'hold-ends',
    'old-news',
    'old-hold',
    ...REVERSALS,
    'currency',
    'new-at-once',
  ],
  'never updates a credit': ['amount-increased', 'hold-ends', ...REVERSALS],
  'ignores the order of events': ['old-news', 'old-hold'],
  'forgets reversals': ['old-news', ...REVERSALS],
  'deducts only what the store is charged': ['borne-by-operator', 'later-reversal'],
  'refuses unknown types': ['unknown-type', 'new-epoch', 'lost-payment'],
  'takes back the credit of a lost payment': ['lost-payment'],
  'refuses unknown fields': ['unknown-field'],
  'checks for repeats without a lock': [
    'amount-increased',
    'old-news',
    ...REVERSALS,
    'currency',
    'repeated-at-once',
  ],
  'does not lock a deposit before saving it': ['new-at-once'],
  'ignores a late success': ['late-success', 'lost-payment'],
  'credits open offers': ['no-credit', 'lost-payment'],
  'ignores the currency': ['currency'],
  'ignores the challenge': ['challenge'],
  'adds more than a kilobyte to the challenge': ['challenge'],
  'credits a test of its address': ['challenge'],
  'never reads the log': ['event-log'],
  'stops at other types in the log': ['event-log'],
}

describe('verify', () => {
  it.concurrent.each(FLAWS)('finds what is wrong with a handler that %s, and nothing else', async (flaw) => {
    const only = CHECKS.map(({ name }) => name).filter(
      (name) => !COSTLY.includes(name) && name !== FOUND_BY_CHANCE[flaw],
    )
    const results = await resultsOf({ flaw, hasTill: flaw.endsWith('the log'), change: { only } })
    expect(namesOf(results, 'failed')).toEqual(FOUND[flaw])
  })

  it('finds no fault in a handler that follows the documents', async () => {
    const results = await resultsOf({ hasTill: true, change: { patience: LONG_PATIENCE } })
    expect(results.filter(({ result }) => result !== 'passed')).toEqual([])
    expect(results).toHaveLength(CHECKS.length)
  })

  it('names the checks that it could not make, and finds a wrong answer nevertheless', async () => {
    const withoutBalance = await resultsOf({ change: { balance: undefined } })
    expect(namesOf(withoutBalance, 'failed')).toEqual([])
    expect(namesOf(withoutBalance, 'incomplete')).toHaveLength(CHECKS.length)
    const wrong = await resultsOf({ flaw: 'checks no signature', change: { balance: undefined } })
    expect(namesOf(wrong, 'failed')).toEqual(FOUND['checks no signature'])
    // The store does not read the log here, so waiting is pointless.
    const patience = { ...PATIENCE, reconcileMs: 0 }
    const withUnreadLog = await resultsOf({ change: { tillPort: await freePort(), patience } })
    expect(namesOf(withUnreadLog, 'incomplete')).toEqual(['event-log'])
  })

  it('makes no check if the handler cannot be reached, or the balance cannot be read', async () => {
    expect(await verify({ change: { url: new URL('http://127.0.0.1:9/') } })).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringContaining('http://127.0.0.1:9/ cannot be reached'),
    })
    const handler = await startStoreHandler()
    const answer = await verify({ change: { balance: handler.url } })
    await handler.close()
    expect(answer).toMatchObject({ kind: 'unreadable', reason: expect.stringContaining('minor units') })
  })

  it('finds a handler that dies when callers break off in the middle of their calls', async () => {
    const careless = `require('node:http').createServer(async (request, response) => {
      for await (const _ of request);
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`
    const store = spawn(process.execPath, ['-e', careless], { stdio: ['ignore', 'pipe', 'ignore'] })
    onTestFinished(() => void store.kill())
    const [port] = await once(store.stdout, 'data')
    const url = new URL(`http://127.0.0.1:${Number(port)}/`)
    expect(await resultsOf({ change: { url, balance: undefined, only: ['slow-callers'] } })).toMatchObject([
      { result: 'failed', detail: expect.stringContaining('after the check it did not answer') },
    ])
  })

  it('does not read an answer to its end, because it may be endless', async () => {
    const server = createServer((_request, response) => {
      const fillBuffer = () => {
        while (response.write('1'.repeat(16_384)));
      }
      response.on('drain', fillBuffer)
      fillBuffer()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
    const reply = await createHandlerClient(new URL(url), 600_000).send({ headers: {}, body: '{}' })
    expect(reply).toEqual({ kind: 'answered', status: 200, text: '1'.repeat(4_096) })
    await expect(createBalanceReader(url, 'nova')('USD')).rejects.toThrow('minor units')
  })

  it('ends with exit code 1 if a check failed, and with 4 if a check could not be made', async () => {
    const handler = await startStoreHandler({ flaw: 'ignores the challenge' })
    const args = ['verify', handler.url, '--secret', SECRET, '--balance', handler.balanceUrl]
    const wrong = await runCommand([...args, '--only', 'challenge'], {})
    expect(wrong).toMatchObject({ code: 1, errors: expect.stringContaining('1 of 1 checks failed.') })
    expect(wrong.out).toMatch(
      /^failed +challenge +a test of the address.*\n.*see docs\/webhooks\.md#endpoints/,
    )
    const incomplete = await runCommand([...args, '--only', 'event-log', '--only', 'two-secrets'], {})
    expect([incomplete.code, incomplete.out]).toEqual([
      4,
      expect.stringMatching(/^passed +two-secrets[\s\S]*^incomplete +event-log/m),
    ])
    // Without --secret, the command asks for it.
    const typed = await runCommand(['verify', handler.url, '--only', 'challenge'], { input: `${SECRET}\n` })
    expect(typed.code).toBe(1)
    await handler.close()
  })

  it('refuses options that leave no check to run, and a port that is taken', async () => {
    const handler = await startStoreHandler()
    const { port } = new URL(handler.url)
    const args = ['verify', handler.url, '--secret', SECRET, '--till']
    const none = await runCommand([...args, '4399', '--open', handler.url, '--only', 'currency'], {})
    expect(none).toMatchObject({ code: 2, out: '', errors: expect.stringContaining('--open leaves out') })
    const taken = await runCommand([...args, port, '--only', 'credit'], {})
    expect(taken).toMatchObject({ code: 2, errors: expect.stringMatching(`--till.*port ${port} is taken`) })
    await handler.close()
  })

  it('asks whether the secret is right if the handler refuses signed calls', async () => {
    const handler = await startStoreHandler()
    const otherSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const args = ['verify', handler.url, '--secret', otherSecret, '--balance', handler.balanceUrl]
    const { out } = await runCommand([...args, '--only', 'credit'], {})
    expect(out).toContain('must answer 2xx (is --secret the secret of this handler?)')
    await handler.close()
  })

  it.each(CHECKS)('names an existing place in the documents for the check $name', ({ document }) => {
    const [file = '', anchor] = document.split('#')
    const text = readFileSync(join(import.meta.dirname, '../../docs', file), 'utf8')
    const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    )
    expect(headings).toContain(anchor)
  })
})
