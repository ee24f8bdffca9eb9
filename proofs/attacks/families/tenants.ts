/** Callers who ask for others' data, or for more than their share: families 19, 20, 22 and 24. */
import { systemIds } from '../../../gateway/kit/ids.ts'
import { type Family, family } from '../attack.ts'
import { throughProxy } from '../proxy.ts'
import { type Ask, aBody, type Target } from '../target.ts'
import { firstLineOf } from '../wire.ts'
import { mustReply, problemIf } from './checks.ts'

const VIEWS = 'gateway/deposits/view-store.ts'
const ENDPOINTS = 'gateway/webhooks/endpoint-store.ts'
const UNKNOWN = '999999999'

export const openDeposit = (
  target: Target,
  key: string,
  request: { body?: object; headers?: Record<string, string> } = {},
) =>
  target.callAsStore({
    method: 'POST',
    url: '/v1/deposits',
    key,
    body: request.body ?? aBody(),
    headers: request.headers ?? {},
  })

/** Replaces the id only as a whole word: another value in a refusal can contain the same digits. */
const withoutId = (body: string, id: string): string => body.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), 'ID')

/** Resolves to undefined if the attacker gets the same answer for `id` as for an id that does not exist. */
async function mustLearnNothing(
  target: Target,
  ask: (id: string) => Ask,
  id: string,
): Promise<string | undefined> {
  const { key } = target.attacker
  const [existing, unknown] = [
    await target.callAsStore({ ...ask(id), key }),
    await target.callAsStore({ ...ask(UNKNOWN), key }),
  ]
  if (existing.statusCode !== 404) return `answered ${existing.statusCode}`
  const isSame = withoutId(existing.body, id) === withoutId(unknown.body, UNKNOWN)
  return problemIf(!isSame, 'answers differently for ids that exist')
}

const createEndpoint = async (target: Target): Promise<string> => {
  const url = 'https://hooks.test/x'
  const { body } = await target.callAsStore({ method: 'POST', url: '/v1/webhook-endpoints', body: { url } })
  return String(JSON.parse(body).id)
}

const ENDPOINT_CALLS: ((id: string) => Ask)[] = [
  (id) => ({ url: `/v1/webhook-endpoints/${id}` }),
  (id) => ({ url: `/v1/webhook-endpoints/${id}/attempts` }),
  (id) => ({
    url: `/v1/webhook-endpoints/${id}`,
    method: 'POST',
    body: { eventTypes: ['deposit.succeeded'] },
  }),
  (id) => ({ url: `/v1/webhook-endpoints/${id}/disable`, method: 'POST' }),
  (id) => ({ url: `/v1/webhook-endpoints/${id}/rotate-secret`, method: 'POST', body: {} }),
  (id) => ({ url: `/v1/webhook-endpoints/${id}`, method: 'DELETE' }),
]

const foreignIds: Family = family({
  number: 19,
  name: 'ids of another store, and calls without their scope',
  kind: 'till',
  defences: {
    'deposits of the store': {
      at: `${VIEWS} findDeposit`,
      off: [
        {
          file: VIEWS,
          from: "by.storeId === undefined ? byId : byId.where('store_id', '=', by.storeId)",
          to: 'byId',
        },
      ],
    },
    'lists of the store': {
      at: `${VIEWS} pageOfDeposits`,
      off: [
        {
          file: VIEWS,
          from: "\n    .where('store_id', '=', storeId)\n  if (status !== undefined)",
          to: '\n  if (status !== undefined)',
        },
      ],
    },
    'endpoints of the store': {
      at: `${ENDPOINTS} ownedBy`,
      off: [
        {
          file: ENDPOINTS,
          from: ".where('id', '=', id)\n    .where('store_id', '=', storeId)\n    .where('removed_at', 'is', null)\n\nexport const findEndpoint",
          to: ".where('id', '=', id)\n    .where('removed_at', 'is', null)\n\nexport const findEndpoint",
        },
      ],
    },
    'the scope of the key': {
      at: 'gateway/store-api/authenticate.ts authenticate',
      off: [
        {
          file: 'gateway/store-api/authenticate.ts',
          from: "refuse('scope_missing', { asked: scope })",
          to: '{}',
        },
      ],
    },
  },
  honest: (target) =>
    mustReply(target.callAsStore({ url: `/v1/deposits/${target.victim.depositIds[0]}` }), 200),
  async cases(target) {
    const endpoint = await createEndpoint(target)
    const readOnly = await target.newKey(['deposits:read'])
    const writeOnly = await target.newKey(['deposits:write'])
    const ids = target.victim.depositIds
    return [
      ...ids.flatMap((id) =>
        ['', '/events'].map((path) => ({
          what: `GET /v1/deposits/${id}${path}`,
          stoppedBy: 'deposits of the store' as const,
          attack: () => mustLearnNothing(target, (asked) => ({ url: `/v1/deposits/${asked}${path}` }), id),
        })),
      ),
      ...['limit=100', 'status=created', 'createdFrom=2000-01-01T00:00:00Z', 'limit=1'].map((query) => ({
        what: `a list with ${query}`,
        stoppedBy: 'lists of the store' as const,
        async attack() {
          const { body } = await target.callAsStore({
            url: `/v1/deposits?${query}`,
            key: target.attacker.key,
          })
          const listedIds: string[] = JSON.parse(body).deposits.map(({ id }: { id: string }) => id)
          const foreign = listedIds.filter((id) => !target.attacker.depositIds.includes(id))
          return problemIf(foreign.length > 0, `lists ${foreign.join()}`)
        },
      })),
      ...ENDPOINT_CALLS.map((ask) => ({
        what: `${ask('ID').method ?? 'GET'} ${ask('ID').url}`,
        stoppedBy: 'endpoints of the store' as const,
        attack: () => mustLearnNothing(target, ask, endpoint),
      })),
      ...(
        [
          [readOnly, 'POST', '/v1/deposits', aBody()],
          [readOnly, 'POST', `/v1/deposits/${ids[0]}/cancel`, undefined],
          [readOnly, 'GET', '/v1/balance', undefined],
          [readOnly, 'GET', '/v1/webhook-endpoints', undefined],
          [writeOnly, 'GET', '/v1/deposits', undefined],
          [writeOnly, 'GET', `/v1/deposits/${ids[0]}`, undefined],
          [writeOnly, 'GET', '/v1/statement?currency=USD', undefined],
          [writeOnly, 'GET', '/v1/report?from=2026-01-01T00:00:00Z&before=2026-02-01T00:00:00Z', undefined],
        ] as const
      ).map(([key, method, url, body]) => ({
        what: `${method} ${url} without its scope`,
        stoppedBy: 'the scope of the key' as const,
        attack: () => mustReply(target.callAsStore({ url, method, key, body }), 403),
      })),
    ]
  },
})

const LIMITS = 'gateway/http/limits.ts'
/** How many misses in a row an address may make, such as calls with unknown links or paths. */
const BURST = 200

/** Makes `BURST` calls. Resolves to undefined if the next one, `guess`, is refused. */
async function mustBeLimited(
  target: Target,
  ask: (nth: number) => Ask,
  guess = ask,
): Promise<string | undefined> {
  for (let nth = 0; nth < BURST; nth += 1) await target.ask(ask(nth))
  return mustReply(target.ask(guess(BURST)), 429)
}

const guessedLink = (nth: number): Ask => ({
  url: `/api/payment?hash=${systemIds.hex(16)}`,
  ip: `192.0.2.${nth}`,
})

const guessing: Family = family({
  number: 20,
  name: 'guessed links',
  kind: 'till',
  defences: {
    'a limit on misses per address': {
      at: 'gateway/http/misses.ts admit',
      off: [
        {
          file: 'gateway/http/misses.ts',
          from: 'if (limits.mayMiss(request)) return undefined',
          to: 'if (request) return undefined',
        },
      ],
    },
    '128 random bits': {
      at: 'gateway/kit/ids.ts systemIds',
      off: [
        {
          file: 'gateway/kit/ids.ts',
          from: "hex: (bytes) => randomBytes(bytes).toString('hex')",
          to: "hex: (bytes) => randomBytes(2).toString('hex').padStart(bytes * 2, '0')",
        },
      ],
    },
  },
  honest: (target) => mustReply(target.ask({ url: `/api/payment?hash=${target.shoppers[0]?.hash}` }), 200),
  cases: (target) => [
    ...['/api/payment?hash=', '/api/inventory?game=cs&hash=', '/api/nothing?', '/v1/nothing?'].map(
      (url, index) => {
        const ip = `192.0.2.${index}`
        const call = (nth: number): Ask => ({ ...guessedLink(nth), ip })
        return {
          what: `${BURST} calls of ${url}, then a guess`,
          stoppedBy: 'a limit on misses per address' as const,
          attack: () =>
            mustBeLimited(target, (nth) => ({ ...call(nth), url: `${url}${systemIds.hex(16)}` }), call),
        }
      },
    ),
    {
      what: '100,000 links',
      stoppedBy: '128 random bits',
      attack() {
        const links = new Set(Array.from({ length: 100_000 }, () => systemIds.hex(16)))
        return problemIf(links.size < 100_000, `${links.size} different ones`)
      },
    },
  ],
})

const IDEMPOTENCY = 'gateway/store-api/idempotency-store.ts'

const foreignIdempotencyKeys: Family = family({
  number: 22,
  name: 'an Idempotency-Key of another store',
  kind: 'till',
  defences: {
    'keys of the store': {
      at: `${IDEMPOTENCY} insertKey, lockKey`,
      off: [
        {
          file: IDEMPOTENCY,
          from: 'export async function insertKey(\n  tx: Tx,\n  { storeId, key }: StoreKey,\n  starting: StartingCall,\n): Promise<KeyLock | undefined> {',
          to: `export async function insertKey(tx, { storeId, key }, starting) {
            if (await tx.selectFrom('idempotency_key').select('key').where('key', '=', key).executeTakeFirst()) return undefined`,
        },
        {
          file: IDEMPOTENCY,
          from: ".as('is_locked'))\n    .where('store_id', '=', storeId)\n",
          to: ".as('is_locked'))\n",
        },
      ],
    },
  },
  honest: (target) =>
    mustReply(openDeposit(target, target.victim.key, { headers: { 'idempotency-key': 'honest' } }), 201),
  cases: (target) =>
    ['a', 'order-1', 'x'.repeat(200), '0', '../1', '{}'].map((key) => ({
      what: `the key ${key.slice(0, 20)}`,
      stoppedBy: 'keys of the store' as const,
      async attack() {
        const request = { body: aBody(), headers: { 'idempotency-key': `${key}-stolen`.slice(0, 200) } }
        const toVictim = await openDeposit(target, target.victim.key, request)
        const toAttacker = await openDeposit(target, target.attacker.key, request)
        if (toVictim.statusCode !== 201) return `answered ${toVictim.statusCode} to its owner`
        if (toAttacker.statusCode !== 201) return `answered ${toAttacker.statusCode}`
        return problemIf(
          JSON.parse(toAttacker.body).id === JSON.parse(toVictim.body).id,
          'got the deposit of the other store',
        )
      },
    })),
})

const guessFrom = (forged: string): string =>
  `GET /api/payment?hash=${systemIds.hex(16)} HTTP/1.1\r\nHost: till.test\r\nX-Forwarded-For: ${forged}\r\nConnection: close\r\n\r\n`

const avoidedLimits: Family = family({
  number: 24,
  name: 'limits avoided by other addresses',
  kind: 'till',
  defences: {
    'trusted proxies only': {
      at: 'gateway/http/app.ts createApp',
      off: [
        {
          file: 'gateway/http/app.ts',
          from: 'options.trustedProxies === undefined ? false : isTrustedProxy',
          to: 'true',
        },
      ],
    },
    'one limit per /64': {
      at: `${LIMITS} readCaller`,
      off: [{ file: LIMITS, from: 'if (!ipaddr.isValid(ip))', to: 'if (ip)' }],
    },
  },
  honest: (target) => mustReply(target.ask({ url: '/' }), 200),
  cases: (target) => [
    ...[
      (nth: number) => `10.9.${nth % 250}.1`,
      (nth: number) => `1.2.3.4, 10.8.${nth % 250}.2`,
      (nth: number) => `2001:db8:${nth.toString(16)}::1`,
      (nth: number) => `x${nth}`,
    ].map((forged, index) => ({
      what: `a caller that bypasses the proxy and claims to be ${forged(1)}`,
      stoppedBy: 'trusted proxies only' as const,
      attack: () =>
        // `ask` claims https in a header. From this peer the till must not trust it, so the call is plain http.
        mustReply(target.ask({ url: '/api/nothing', peer: `198.51.100.${index}`, ip: forged(1) }), 400),
    })),
    ...[
      (nth: number) => `10.7.${nth % 250}.1`,
      (nth: number) => `10.6.${nth % 250}.1, 127.0.0.1`,
      (nth: number) => `2001:db8:6:${nth.toString(16)}::1`,
    ].map((forged, index) => ({
      what: `guesses that claim to be from ${forged(1)} and others, through a proxy`,
      stoppedBy: 'trusted proxies only' as const,
      async attack() {
        const guess = (nth: number) => throughProxy(target, `203.0.113.${index + 1}`, guessFrom(forged(nth)))
        for (let nth = 0; nth < BURST; nth += 1) await guess(nth)
        const line = firstLineOf(await guess(BURST))
        return problemIf(line !== 'HTTP/1.1 429 Too Many Requests', `answered ${line}`)
      },
    })),
    ...[
      (nth: number) => `2001:db8:0:1::${(nth + 1).toString(16)}`,
      (nth: number) => `2001:db8:0:2:${(nth + 1).toString(16)}::1`,
      (nth: number) => `2001:0DB8:0000:0003:0000:0000:0000:${(nth + 1).toString(16).padStart(4, '0')}`,
    ].map((address) => ({
      what: `addresses such as ${address(1)}`,
      stoppedBy: 'one limit per /64' as const,
      attack: () => mustBeLimited(target, (nth) => ({ ...guessedLink(nth), ip: address(nth) })),
    })),
  ],
})

export const TENANT_FAMILIES: readonly Family[] = [
  foreignIds,
  guessing,
  foreignIdempotencyKeys,
  avoidedLimits,
]
