import { Webhook } from 'standardwebhooks'

export type SignedHeaders = {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

/** Signs a body after the Standard Webhooks specification. `secret` is `whsec_` and base64. */
export function signWebhook(secret: string, message: { id: string; body: string; at: Date }): SignedHeaders {
  const { id, body, at } = message
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  }
}
