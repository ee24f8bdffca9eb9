/** The package's check of signatures. */
import { Webhook as Signer } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { isTest, verifyWebhook, WebhookRefused } from './index.ts'

describe('a webhook', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const body = JSON.stringify({ id: 'e2', type: 'deposit.succeeded', sequence: 2, data: { amount: 1_000 } })
  const now = new Date('2026-11-23T12:00:00Z')
  const signed = (at = now, key = secret) => ({
    'webhook-id': 'e2',
    'webhook-timestamp': String(at.getTime() / 1_000),
    'webhook-signature': new Signer(key).sign('e2', at, body),
  })

  test('is read after one of its signatures is verified, with headers in an object or in `Headers`', async () => {
    expect(await verifyWebhook({ secret, headers: signed(), body, now })).toEqual(JSON.parse(body))
    const headers = new Headers(signed())
    headers.set('Webhook-Signature', `v1,AAAA v1a,x ${signed()['webhook-signature']}`)
    const event = await verifyWebhook({ secret, headers, body, now })
    expect(isTest(event)).toBe(false)
  })

  test.each<[what: string, headers: Record<string, string>, body: string]>([
    ['another body', signed(), `${body} `],
    ['another secret', signed(now, `whsec_${Buffer.alloc(32, 8).toString('base64')}`), body],
    // Five minutes are accepted.
    ['an old time', signed(new Date(now.getTime() - 301_000)), body],
    ['a future time', signed(new Date(now.getTime() + 301_000)), body],
    ['another id', { ...signed(), 'webhook-id': 'e3' }, body],
    ['no headers', {}, body],
    ['letters that are not base64', { ...signed(), 'webhook-signature': 'v1,*' }, body],
  ])('with %s is refused', async (_what, headers, sent) => {
    await expect(verifyWebhook({ secret, headers, body: sent, now })).rejects.toBeInstanceOf(WebhookRefused)
  })

  test('cannot be verified with an empty secret', async () => {
    await expect(verifyWebhook({ secret: '', headers: signed(), body, now })).rejects.toThrow('whsec_')
  })
})
