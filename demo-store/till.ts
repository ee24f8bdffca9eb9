/** The store's side of Tradetill's store API, as docs/store-guide.md and docs/webhooks.md describe it. */
import { Webhook } from 'standardwebhooks'

export type TillAccount = { url: string; apiKey: string; webhookSecret: string }

export type Deposit = {
  id: string
  externalId: string
  url: string
  status: string
  currency: string
  /** Minor units; null until it succeeded. */
  amount: number | null
  createdAt: string
}

export type TillEvent = { type: string; sequence: number; deposit: Deposit }

export type NewDeposit = {
  externalId: string
  currency: string
  backToStoreUrl: string
  language?: string
}

const DEADLINE_MS = 10_000
const TRIES = 2

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

/** Checks the signature over the raw body and reads the event; undefined if either is not as it should be. */
export function readEvent(
  { webhookSecret }: TillAccount,
  headers: Record<string, string>,
  body: string,
): TillEvent | undefined {
  try {
    const event = new Webhook(webhookSecret).verify(body, headers)
    const sequence = fieldOf(event, 'sequence')
    const deposit = readDeposit(fieldOf(event, 'data'))
    const type = textOf(event, 'type')
    if (deposit === undefined || type === '' || !isCount(sequence)) return undefined
    return { type, sequence, deposit }
  } catch {
    return undefined
  }
}

function readDeposit(value: unknown): Deposit | undefined {
  const text = (name: string) => textOf(value, name)
  const amount = fieldOf(value, 'amount')
  const deposit = {
    id: text('id'),
    externalId: text('externalId'),
    url: text('url'),
    status: text('status'),
    currency: text('currency'),
    amount: isCount(amount) ? amount : null,
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
