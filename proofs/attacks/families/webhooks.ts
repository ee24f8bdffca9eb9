/** Replayed, changed and forged webhooks, checked by the package for stores: family 13. */
import { Webhook } from 'standardwebhooks'
import { verifyWebhook } from '../../../sdk/webhook.ts'
import { type Case, type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'

const PACKAGE = 'sdk/webhook.ts'
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const ID = 'evt_1'
const BODY = JSON.stringify({ id: ID, type: 'webhook.test', sequence: 1, data: { challenge: 'abc' } })

type Sent = { headers: Record<string, string>; body: string }

function signed({ id = ID, secondsAgo = 0, body = BODY, secret = SECRET } = {}): Sent {
  const at = new Date(Date.now() - secondsAgo * 1_000)
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  }
  return { headers, body }
}

const withHeader = (sent: Sent, name: string, value: string): Sent => ({
  ...sent,
  headers: { ...sent.headers, [name]: value },
})
const without = (sent: Sent, name: string): Sent => ({
  ...sent,
  headers: Object.fromEntries(Object.entries(sent.headers).filter(([key]) => key !== name)),
})

/** For each byte of the body, a webhook in which one bit of that byte is flipped. */
const flippedBodies = (): [string, Sent][] =>
  Array.from({ length: BODY.length }, (_, index) => {
    const bytes = Buffer.from(BODY)
    bytes[index] = (bytes[index] ?? 0) ^ 1
    return [`the body with byte ${index} changed`, { ...signed(), body: bytes.toString('latin1') }]
  })

const forgedWebhooks = (): [string, Sent][] => {
  const good = signed()
  const signature = good.headers['webhook-signature'] ?? ''
  return [
    ...[301, 302, 3_600, 86_400].map((seconds): [string, Sent] => [
      `a webhook from ${seconds} s ago`,
      signed({ secondsAgo: seconds }),
    ]),
    ...[302, 3_600, 86_400].map((seconds): [string, Sent] => [
      `a webhook from ${seconds} s in the future`,
      signed({ secondsAgo: -seconds }),
    ]),
    ['another id', withHeader(good, 'webhook-id', 'evt_2')],
    ['a dot in the id', withHeader(good, 'webhook-id', `${ID}.1`)],
    ['an empty id', withHeader(good, 'webhook-id', '')],
    [
      'another time',
      withHeader(good, 'webhook-timestamp', String(Number(good.headers['webhook-timestamp']) - 1)),
    ],
    ['a time that is not a number', withHeader(good, 'webhook-timestamp', 'now')],
    ['no id', without(good, 'webhook-id')],
    ['no time', without(good, 'webhook-timestamp')],
    ['no signature', without(good, 'webhook-signature')],
    ['an empty signature', withHeader(good, 'webhook-signature', '')],
    ['a signature without its version', withHeader(good, 'webhook-signature', signature.slice(3))],
    ['a signature of another version', withHeader(good, 'webhook-signature', `v2${signature.slice(2)}`)],
    ['half a signature', withHeader(good, 'webhook-signature', signature.slice(0, 20))],
    [
      'two wrong signatures',
      withHeader(good, 'webhook-signature', `v1,${'A'.repeat(43)}= v1,${'B'.repeat(43)}=`),
    ],
    ['the secret of another store', signed({ secret: OTHER_SECRET })],
    ['a body with one more space', { ...good, body: `${BODY} ` }],
    [
      'a body with its fields in another order',
      { ...good, body: JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(BODY)).toReversed())) },
    ],
  ]
}

const isAccepted = (sent: Sent): Promise<boolean> =>
  verifyWebhook({ secret: SECRET, ...sent }).then(
    () => true,
    () => false,
  )

type Defence = 'the checks of a webhook'

const caseOf = ([what, sent]: [string, Sent]): Case<Defence> => ({
  what,
  stoppedBy: 'the checks of a webhook',
  attack: async () => problemIf(await isAccepted(sent), 'is believed'),
})

export const webhooks: Family = family<Defence>({
  number: 13,
  name: 'replayed, changed and forged webhooks',
  kind: 'parts',
  defences: {
    'the checks of a webhook': {
      at: `${PACKAGE} verifyWebhook`,
      off: [
        {
          file: PACKAGE,
          from: "  const id = read('webhook-id')",
          to: "  if (secret !== '') return JSON.parse(body)\n  const id = read('webhook-id')",
        },
      ],
    },
  },
  honest: async () => problemIf(!(await isAccepted(signed())), 'a genuine webhook is refused'),
  cases: () => [...forgedWebhooks(), ...flippedBodies()].map(caseOf),
})
