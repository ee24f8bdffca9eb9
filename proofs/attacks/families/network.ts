/** The addresses that webhooks may go to: family 12. Cases can reach nothing but their own listener. */
import { createServer } from 'node:net'
import { isPublicAddress } from '../../../gateway/webhooks/addresses.ts'
import { createSender } from '../../../gateway/webhooks/sender.ts'
import { refuseUrl } from '../../../gateway/webhooks/url.ts'
import { type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'

const ADDRESSES = 'gateway/webhooks/addresses.ts'
const URLS = 'gateway/webhooks/url.ts'
const SENDER = 'gateway/webhooks/sender.ts'
const PUBLIC = '93.184.215.14'
/** A public address that no network has, so packets to it go nowhere. */
const NOWHERE = '2000::1'
/** Deadline of a webhook. A webhook to `NOWHERE` may wait until then. */
const DEADLINE_MS = 2_000

/**
 * Addresses of this machine or a private network, addresses that are not one machine on the internet, and texts that
 * are not an address.
 */
const NOT_PUBLIC = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.254',
  '127.0.0.1',
  '127.1.2.3',
  '169.254.169.254',
  '169.254.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  '64:ff9b::7f00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:a00:1::',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'ff0e::1',
  '127.1',
  '0x7f.1',
  '0177.0.0.1',
  '2130706433',
  '0x7f000001',
  '127.0.0.1.',
  'localhost',
  '',
  '1.2.3',
  '[::1]',
]

/** URLs that a store could enter. They must be refused before any name is resolved. */
const STORE_URLS = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0x7f000001/',
  'https://2130706433/',
  'https://0177.0.0.1/',
  ...['https://0/', 'https://0.0.0.0/', 'https://[::]/', 'https://[::1]/', 'https://[::ffff:127.0.0.1]/'],
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[fd00:ec2::254]/',
  'https://169.254.169.254/latest/meta-data/',
  'https://①②⑦.0.0.1/',
  'https://127。0。0。1/',
  'https://10.0.0.1/',
  'https://user:word@127.0.0.1/',
  'https://shop.example@127.0.0.1/',
  'https://127.0.0.1:443/',
  'https://0x7f.1/',
  'http://shop.example/',
  'ftp://shop.example/',
  'gopher://shop.example/',
  'file:///etc/passwd',
  'data:text/plain,x',
  'ws://shop.example/',
  'ldap://shop.example/',
  'dict://shop.example:11211/',
  'jar:https://shop.example/',
  'unix:/run/x',
  ...[21, 22, 25, 80, 2375, 3306, 5432, 6379, 8080, 8443, 9200, 11211].map(
    (port) => `https://shop.example:${port}/`,
  ),
  'https://shop$(id).example/',
  'https://shop`id`.example/',
  "https://shop'.example/",
  'https://shop;id.example/',
]

/** DNS answers in which at least one address is this machine's. */
const PRIVATE_ANSWERS = [
  ['127.0.0.1'],
  ['127.0.0.1', PUBLIC],
  ['127.0.0.1', '::1'],
  ['127.0.0.1', '127.0.0.1'],
]

/** Successive DNS answers for one name. The last answer repeats. */
const CHANGING = [
  [[NOWHERE], ['127.0.0.1']],
  [[NOWHERE, NOWHERE], ['127.0.0.1']],
  [[NOWHERE], ['127.0.0.1', NOWHERE]],
] as const

/** Sends a webhook to a name with these DNS answers. Resolves to true if a listener on this machine was reached. */
async function isReached(answers: readonly (readonly string[])[]): Promise<boolean> {
  let connections = 0
  const listener = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve))
  const at = listener.address()
  const port = typeof at === 'object' && at !== null ? at.port : 0
  let questions = 0
  const send = createSender({
    mode: 'live',
    deadlineMs: DEADLINE_MS,
    // The operator has allowed the port, but no private addresses.
    findAllowance: async () => ({ inside: false }),
    resolve: (_name, _options, callback) => {
      const addresses = answers[Math.min(questions, answers.length - 1)] ?? []
      questions += 1
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    },
  })
  await send({ storeId: 1n, url: `https://shop.example:${port}/`, headers: {}, body: '{}' })
  await new Promise((resolve) => listener.close(resolve))
  return connections > 0
}

export const network: Family = family({
  number: 12,
  name: 'webhooks into the network (SSRF)',
  kind: 'parts',
  defences: {
    'public addresses only': {
      at: `${ADDRESSES} isPublicAddress`,
      off: [
        {
          file: ADDRESSES,
          from: "if (address === undefined || address.range() !== 'unicast') return false",
          to: 'if (text !== undefined) return true',
        },
      ],
    },
    'https to port 443 of a name or a public address': {
      at: `${URLS} refuseUrl`,
      off: [
        {
          file: URLS,
          from: "const isSecure = url.protocol === 'https:'\n",
          to: "if (url !== undefined) return undefined\n  const isSecure = url.protocol === 'https:'\n",
        },
      ],
    },
    'every address of the name': {
      at: `${SENDER} guardedLookup`,
      off: [
        {
          file: SENDER,
          from: 'addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address))',
          to: 'addresses.length === 0',
        },
      ],
    },
    'the address that was checked': {
      at: `${SENDER} guardedLookup`,
      off: [
        {
          file: SENDER,
          from: 'if (options.all === true || first === undefined) callback(null, addresses)\n',
          to: 'if (first !== undefined) resolve(hostname, { ...options, all: true }, (_error, later) => callback(null, later))\n',
        },
      ],
    },
  },
  honest() {
    const url = new URL('https://shop.example/hook')
    const refusal = refuseUrl(url, { mode: 'live', allowance: undefined })
    return refusal ?? problemIf(!isPublicAddress(PUBLIC), `${PUBLIC} is refused`)
  },
  cases: () => [
    ...NOT_PUBLIC.map((address) => ({
      what: address,
      stoppedBy: 'public addresses only' as const,
      attack: () => problemIf(isPublicAddress(address), 'counts as public'),
    })),
    ...STORE_URLS.flatMap((written) => {
      const url = URL.parse(written)
      // The parser refuses some texts, which therefore never reach the check.
      if (url === null) return []
      return {
        what: written,
        stoppedBy: 'https to port 443 of a name or a public address' as const,
        attack: () =>
          problemIf(refuseUrl(url, { mode: 'live', allowance: undefined }) === undefined, 'is allowed'),
      }
    }),
    ...PRIVATE_ANSWERS.map((addresses) => ({
      what: `a name that resolves to ${addresses.join(' and ')}`,
      stoppedBy: 'every address of the name' as const,
      attack: async () => problemIf(await isReached([addresses]), 'reached this machine'),
    })),
    ...CHANGING.map((changing) => ({
      what: `a name that resolves to ${changing.map((addresses) => addresses.join(' and ')).join(', then to ')}`,
      stoppedBy: 'the address that was checked' as const,
      attack: async () => problemIf(await isReached(changing), 'reached this machine'),
    })),
  ],
})
