/** Faults of a market, each with a switch. */
import type { Incoming } from './http.ts'

type Fault = {
  /** The description for people. */
  line: string
  /** The affected requests to the market's hosts. If absent, the sandbox's own code checks whether the fault is on. */
  at?: RegExp
  effect?: Effect
  /** The fault ends after affecting this many requests, unless a call sets another number. */
  times?: number
}

/** `lost`: the market carries out the request, but the answer never arrives. */
export type Effect = {
  status?: number
  body?: string | ((request: Incoming) => string)
  html?: true
  delayMs?: number
  lost?: true
}

const ANY_REQUEST = /^/
const BROWSER_CHECK_PAGE =
  '<html><head><title>Just a moment...</title></head><body><h1>Checking your browser</h1></body></html>'

export const FAULTS = {
  'passers-buy': {
    line: 'Passers-by buy items that have been on sale for 30 seconds and cost no more than the lowest price of others.',
  },
  'bad-gateway': {
    line: 'Every call answers 502.',
    at: ANY_REQUEST,
    effect: { status: 502, body: BROWSER_CHECK_PAGE, html: true },
  },
  'technical-works': {
    line: 'Every call answers 503, as during maintenance.',
    at: ANY_REQUEST,
    effect: { status: 503, body: 'Technical works', html: true },
  },
  'html-instead': {
    line: 'Every call answers 200 with an HTML page.',
    at: ANY_REQUEST,
    effect: { status: 200, body: BROWSER_CHECK_PAGE, html: true },
  },
  'false-with-500': {
    line: 'Every call answers 500 with `success: false`.',
    at: ANY_REQUEST,
    effect: { status: 500, body: '{"success":false,"error":"internal error"}' },
  },
  'false-with-number': {
    line: 'Every call answers `success: false` with a number as the error.',
    at: ANY_REQUEST,
    effect: { status: 200, body: '{"success":false,"error":3001}' },
  },
  'address-in-refusal': {
    line: 'Every call is refused with a text that quotes its address, including the key.',
    at: ANY_REQUEST,
    effect: {
      body({ path, query }) {
        const text = `cannot answer ${path}?${query}`
        return JSON.stringify({ success: false, error: text, msg: text })
      },
    },
  },
  slow: { line: 'Every answer takes 30 seconds.', at: ANY_REQUEST, effect: { delayMs: 30_000 } },
  'family-hangs': {
    line: 'The hosts of the family answer only after an hour. Waxpeer answers as always.',
    at: /^(GET|POST) \/api\//,
    effect: { delayMs: 3_600_000 },
  },
  'answer-lost': {
    line: 'The next listing succeeds, but its answer never arrives.',
    at: /^(GET|POST) .*\/(mass-)?add-to-sale$|^POST .*\/list-items-steam$/,
    effect: { lost: true },
    times: 1,
  },
  'ready-lost': {
    line: 'The next `trade-ready` or `steam-trade` is accepted, but its answer never arrives.',
    at: /\/(trade-ready|steam-trade)$/,
    effect: { lost: true },
    times: 1,
  },
  'ready-invalid-response': {
    line: 'The next `trade-ready` fails with `error InvalidResponseException`, although the offer is fine.',
    at: /\/trade-ready$/,
    effect: { body: '{"success":false,"error":"error InvalidResponseException"}' },
    times: 1,
  },
  'ready-no-info': {
    line: 'The next `trade-ready` fails with `error get info about trade`, although the offer is fine.',
    at: /\/trade-ready$/,
    effect: { body: '{"success":false,"error":"error get info about trade"}' },
    times: 1,
  },
  'ready-not-active': {
    line: 'The next `trade-ready` fails with `error not active offers`, although the offer is fine.',
    at: /\/trade-ready$/,
    effect: { body: '{"success":false,"error":"error not active offers"}' },
    times: 1,
  },
  'inventory-not-read': { line: 'The market cannot read inventories, so its copies stay out of date.' },
  'empty-says-false': { line: 'An empty `items` or history of the family is `false`.' },
  'price-in-units': { line: '`items` gives prices as integers, 1000 to the dollar, not in dollars.' },
  'failed-without-id': {
    line: 'The failed lines of `mass-add-to-sale`, `mass-set-price` and `list-items-steam` do not name their item.',
  },
  'envelope-lies': { line: 'Every line of `mass-add-to-sale` fails, but the answer reports success.' },
  'steam-trade-false': { line: 'Waxpeer refuses `steam-trade`, so the seller must not confirm the offer.' },
  'token-forgotten': {
    line: 'At the next `steam-trade`, Waxpeer forgets the seller’s access token.',
    times: 1,
  },
  'odd-rows': {
    line: 'The lists of Waxpeer contain rows without amount, status or price. Its poll and its socket report a sale without a trade link.',
  },
  'history-endless': {
    line: 'Each page of the history of Waxpeer is full: rows about other items, dated now, fill it up.',
  },
  'history-late': { line: 'The history of Waxpeer shows a sale only after its end.' },
  'status-unknown': {
    line: 'A sale whose offer Waxpeer knows has the status 2, which is not documented.',
  },
  'link-reordered': { line: 'Waxpeer names the token of a trade link before the partner.' },
  'names-no-removed': { line: '`remove-items` tells how many listings were removed, but not which.' },
  'poll-refused': {
    line: '`ready-to-transfer-p2p` refuses an account that has not given a key of Steam’s Web API.',
  },
  'sales-off': {
    line: 'At the next ping of the socket, Waxpeer takes the account’s listings off sale until `check-wss-user`.',
    times: 1,
  },
  'sales-refused': {
    line: '`check-wss-user` puts nothing on sale: it is refused.',
    at: /\/check-wss-user$/,
    effect: { body: '{"success":false,"msg":"Connect to the websocket first"}' },
  },
  'sales-pending': {
    line: '`check-wss-user` puts nothing on sale: it reports success, but a step before the last one.',
    at: /\/check-wss-user$/,
    effect: { body: '{"success":true,"step":1,"msg":"Connect to the websocket first"}' },
  },
  'one-object': { line: '`ready-to-transfer-p2p` answers with a single trade instead of a list.' },
  'check-for-buyers': {
    line: '`check-many-steam` knows the numbers of buyers only, so it refuses those of a seller.',
  },
  'send-soon': { line: 'Waxpeer gives the seller only 20 seconds to hand over.' },
  'socket-refused': { line: 'The socket of Waxpeer does not open.' },
  'socket-silent': { line: 'The socket of Waxpeer answers no ping.' },
  'socket-double': { line: 'The socket of Waxpeer reports each sale twice.' },
  'sold-meanwhile': {
    line: 'The next `trade-request-give-p2p-all` also names an item that was bought after the last `items`.',
    times: 1,
  },
  'key-of-one-host': {
    line: 'Of the family, only market.csgo.com accepts a key; its other hosts answer `bad_key`.',
  },
  'key-in-words': {
    line: 'Every call is refused with `Bad KEY`, not `bad_key`.',
    at: ANY_REQUEST,
    effect: { status: 200, body: '{"success":false,"error":"Bad KEY"}' },
  },
  'key-unauthorized': {
    line: 'Every call answers 401 with an empty body.',
    at: ANY_REQUEST,
    effect: { status: 401, body: '' },
  },
  'key-forbidden': {
    line: 'Every call answers 403 with JSON that has no `success`.',
    at: ANY_REQUEST,
    effect: { status: 403, body: '{"message":"Forbidden"}' },
  },
  'guard-page': {
    line: 'Every call answers 403 with a page of a guard in front of the market.',
    at: ANY_REQUEST,
    effect: { status: 403, body: BROWSER_CHECK_PAGE, html: true },
  },
  'token-unauthorized': {
    line: 'The market answers 401 to every access token.',
    at: /\/(ping-new|steam-token)$/,
    effect: { status: 401, body: '' },
  },
  'items-missing': { line: 'The next `items` is empty, whatever is listed or sold.', times: 1 },
  'strange-rows': {
    line: 'The lists of the family contain rows of other kinds: a bought item without an asset id, an offer without a token, a payout, and an item without a price.',
  },
  'times-in-ms': { line: 'The history of the family gives times in milliseconds, not seconds.' },
  'reversal-late': {
    line: 'A market pays for a sale whose trade was taken back, and notices that only two days later.',
  },
  'lies-app': { line: 'The family asks for an item of a game whose number is too large for JavaScript.' },
  'lies-asset': { line: 'The market asks for an item that was never listed.' },
  'lies-more': { line: 'The market asks for one more item than was sold.' },
  'lies-partner': { line: 'The market names the seller as the recipient.' },
  'lies-message': { line: 'The market asks for an offer with the message of a deposit.' },
  'lies-price': {
    line: '`items`, `list-items-steam` and `ready-to-transfer-p2p` show half the price of an item.',
  },
  'wallet-in-dollars': { line: 'Waxpeer shows the wallet of an account in dollars, with a point.' },
  'lies-fee': { line: 'Waxpeer reports a fee of 1 %, but keeps 5 %.' },
  'lies-received': { line: 'The history shows a tenth of the proceeds of a sale.' },
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof FAULTS

export function isFault(name: string): name is FaultName {
  return Object.hasOwn(FAULTS, name)
}

export type Faults = ReturnType<typeof createFaults>

/** The active faults, and for how many requests each stays active. */
export function createFaults() {
  const on = new Map<FaultName, number>()
  /** Returns whether the fault is on, and counts the request that it affects. */
  const use = (name: FaultName): boolean => {
    const left = on.get(name)
    if (left === undefined) return false
    if (left <= 1) on.delete(name)
    else on.set(name, left - 1)
    return true
  }
  return {
    begin(name: FaultName, times?: number) {
      const fault: Fault = FAULTS[name]
      on.set(name, times ?? fault.times ?? Infinity)
    },
    end: (name: FaultName) => void on.delete(name),
    clear: () => on.clear(),
    isOn: (name: FaultName) => on.has(name),
    use,
    activeNames: (): FaultName[] => [...on.keys()],
    /** Returns the effect of the first active fault that affects this request, and counts the request. */
    take({ isOwn, method, path }: Incoming): Effect | undefined {
      if (isOwn) return undefined
      for (const name of on.keys()) {
        const { at, effect }: Fault = FAULTS[name]
        if (!effect || !at?.test(`${method} ${path}`) || method === 'OPTIONS') continue
        use(name)
        return effect
      }
      return undefined
    },
  }
}
