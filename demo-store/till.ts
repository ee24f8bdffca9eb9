/** The store's side of Tradetill's store API, as docs/store-guide.md and docs/webhooks.md describe it. */
import { Webhook as StandardWebhook } from 'standardwebhooks'

export type TillAccount = { url: string; apiKey: string; webhookSecret: string }

export type Deposit = {
  id: string
  externalId: string
  url: string
  status: string
  currency: string
  /** Minor units; null until it succeeded. */
  amount: number | null
  /** The part of amount that Steam can still take back, and that was taken back. */
  heldAmount: number
  heldUntil: string | null
  reversedAmount: number
  /** The part of reversedAmount that our account at the till fell by. */
  chargedAmount: number
  endReason: string | null
  createdAt: string
}

export type TillEvent = { id: string; type: string; sequence: number; deposit: Deposit }

export type EventPage = { events: TillEvent[]; next: number; hasMore: boolean }

export type NewDeposit = {
  externalId: string
  currency: string
  backToStoreUrl: string
  customerReference: string
  /** The till's page shows it, so a shopper sees whose balance is filled. */
  customerLabel: string
  language?: string
  /** All of it is held until Steam can no longer take it back. */
  creditMode?: 'on_release'
}

const DEADLINE_MS = 10_000
const TRIES = 2
const LOG_PAGE = 500

/** Opens a deposit. Undefined when the till cannot be reached or refuses; `report` is told why. */
export async function createDeposit(
  { url, apiKey }: TillAccount,
  wanted: NewDeposit,
  report: (problem: string) => void,
): Promise<Deposit | undefined> {
  // The same externalId gives the same deposit, so a lost answer is repaired by asking again.
  for (let tries = 1; tries <= TRIES; tries += 1) {
    try {
      const response = await fetch(`${url}/v1/deposits`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(wanted),
        signal: AbortSignal.timeout(DEADLINE_MS),
      })
      const body: unknown = await response.json()
      if (response.ok) return readDeposit(body)
      report(`the till refused a deposit: ${response.status} ${textOf(body, 'code')}`)
      if (response.status < 500) return undefined
    } catch (error) {
      report(`the till does not answer: ${error instanceof Error ? error.message : 'unknown error'}`)
    }
  }
  return undefined
}

/**
 * Events after a position of the till's log that tell of a deposit, in their order. Types may be added that tell of
 * something else: they must not stop what comes after them. Throws when the till does not answer as it should.
 */
export async function readLog({ url, apiKey }: TillAccount, after: number): Promise<EventPage> {
  const response = await fetch(`${url}/v1/events?after=${after}&limit=${LOG_PAGE}`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: AbortSignal.timeout(DEADLINE_MS),
  })
  const body: unknown = await response.json()
  if (!response.ok) throw new Error(`the till refused its log: ${response.status} ${textOf(body, 'code')}`)
  const [rows, next] = [fieldOf(body, 'events'), fieldOf(body, 'next')]
  if (!Array.isArray(rows) || typeof next !== 'number') throw new Error('the log of the till is not readable')
  const events = rows.filter(isOfDeposit).map(eventOf)
  if (!events.every((event) => event !== undefined)) throw new Error('an event of the till is not readable')
  return { events, next, hasMore: fieldOf(body, 'hasMore') === true }
}

export type Webhook =
  | { kind: 'event'; event: TillEvent }
  /** A test of this address, which is answered with its challenge. */
  | { kind: 'test'; challenge: string }
  /** Signed by the till, but of a type that we do not know yet. */
  | { kind: 'other' }

/** Checks the signature over the raw body and reads it; undefined if either is not as it should be. */
export function readWebhook(
  { webhookSecret }: TillAccount,
  headers: Record<string, string>,
  body: string,
): Webhook | undefined {
  try {
    const verified = new StandardWebhook(webhookSecret).verify(body, headers)
    if (textOf(verified, 'type') === 'webhook.test') {
      return { kind: 'test', challenge: textOf(fieldOf(verified, 'data'), 'challenge') }
    }
    if (!isOfDeposit(verified)) return { kind: 'other' }
    const event = eventOf(verified)
    return event && { kind: 'event', event }
  } catch {
    return undefined
  }
}

const isOfDeposit = (event: unknown): boolean => textOf(event, 'type').startsWith('deposit.')

function eventOf(value: unknown): TillEvent | undefined {
  const sequence = fieldOf(value, 'sequence')
  const deposit = readDeposit(fieldOf(value, 'data'))
  const [id, type] = [textOf(value, 'id'), textOf(value, 'type')]
  if (deposit === undefined || id === '' || type === '' || !isCount(sequence)) return undefined
  return { id, type, sequence, deposit }
}

function readDeposit(value: unknown): Deposit | undefined {
  const text = (name: string) => textOf(value, name)
  const count = (name: string) => {
    const field = fieldOf(value, name)
    return isCount(field) ? field : null
  }
  const deposit = {
    id: text('id'),
    externalId: text('externalId'),
    url: text('url'),
    status: text('status'),
    currency: text('currency'),
    amount: count('amount'),
    heldAmount: count('heldAmount') ?? 0,
    heldUntil: text('heldUntil') || null,
    reversedAmount: count('reversedAmount') ?? 0,
    chargedAmount: count('chargedAmount') ?? 0,
    endReason: text('endReason') || null,
    createdAt: text('createdAt'),
  }
  const complete = [deposit.id, deposit.externalId, deposit.status, deposit.currency, deposit.createdAt]
  const isWeb = /^https?:$/.test(URL.parse(deposit.url)?.protocol ?? '')
  return complete.includes('') || !isWeb ? undefined : deposit
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function textOf(value: unknown, name: string): string {
  const field = fieldOf(value, name)
  return typeof field === 'string' ? field : ''
}
