/** Checks the signature of a webhook: Standard Webhooks, HMAC-SHA256 over `id.timestamp.body`. */
import type { Deposit, Event, WebhookTest } from './types.ts'

/** An event, or a test of the address: answer a test with `data.challenge`. */
export type Webhook = Event | WebhookTest

/** An event of a deposit: `data` is the entire deposit as it was then. */
export type DepositEvent = Event & { data: Deposit }

/** False for a test, and for events that are not about a deposit, such as `epoch.started`. */
export const isOfDeposit = (webhook: Webhook): webhook is DepositEvent =>
  webhook.type.startsWith('deposit.') && 'sequence' in webhook

export const isTest = (webhook: Webhook): webhook is WebhookTest => webhook.type === 'webhook.test'

export type Signed = {
  /** The webhook secret, `whsec_…`. */
  secret: string
  /** The headers of a `Request`, or of Node's request. */
  headers: Headers | Record<string, string | string[] | undefined>
  /** The body as received, before parsing. */
  body: string
  /** For tests. */
  now?: Date
}

/** Thrown if a webhook has no valid signature, or its time is more than five minutes off. Answer it with 400. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused'
}

const TOLERANCE_S = 5 * 60
const MOST_SIGNATURES = 10

/** Throws `WebhookRefused` if a header, the time or the signature is wrong, `TypeError` if the secret is malformed. */
export async function verifyWebhook({ secret, headers, body, now = new Date() }: Signed): Promise<Webhook> {
  const read = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    return typeof value === 'string' ? value : ''
  }
  const id = read('webhook-id')
  const timestamp = read('webhook-timestamp')
  const signatures = read('webhook-signature').split(' ').slice(0, MOST_SIGNATURES)
  if (id === '' || !/^\d{1,12}$/.test(timestamp))
    throw new WebhookRefused('a signature header is missing or invalid')
  if (Math.abs(now.getTime() / 1_000 - Number(timestamp)) > TOLERANCE_S)
    throw new WebhookRefused('the time of the webhook is more than five minutes off')
  const key = await crypto.subtle.importKey('raw', keyOf(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ])
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  for (const one of signatures) {
    const signature = one.startsWith('v1,') ? bytesOf(one.slice(3)) : undefined
    // This comparison takes constant time.
    if (signature !== undefined && (await crypto.subtle.verify('HMAC', key, signature, signed)))
      return JSON.parse(body)
  }
  throw new WebhookRefused('no signature is valid')
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = bytesOf(secret.replace(/^whsec_/, ''))
  if (key === undefined || key.length === 0)
    throw new TypeError('the webhook secret must be as the till gave it: whsec_…')
  return key
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
