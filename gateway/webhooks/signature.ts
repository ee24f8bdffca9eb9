import { Webhook } from 'standardwebhooks'

export type SignedHeaders = {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

/**
 * Signs a body by the Standard Webhooks specification, once with each secret (`whsec_` and base64). During a
 * rotation, the receiver may know only one of them.
 */
export function signWebhook(
  secrets: readonly string[],
  message: { id: string; body: string; at: Date },
): SignedHeaders {
  const { id, body, at } = message
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  }
}
