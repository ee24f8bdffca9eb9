/** The market.csgo.com family: the same API on four hosts, one for each game. */

import type { DueGift, Failure, Market, Problem, Row } from '../market.ts'
import type { Scale } from '../scale.ts'
import { type Caller, createCaller, LOCKED_OUT_MS } from './caller.ts'
import type { Call, Connection } from './connection.ts'
import {
  currencySchema,
  duesOf,
  envelopeSchema,
  historySchema,
  itemsSchema,
  listedOf,
  listedSchema,
  moneySchema,
  offersSchema,
  outcomesOf,
  pingSchema,
  pricesSchema,
  problemsOf,
  repricedOf,
  repricedSchema,
  rowsOf,
  steamIdSchema,
  testSchema,
} from './family-answers.ts'
import { bareNumber } from './lossless-json.ts'
import type { Time } from './pace.ts'

/** The market deletes the key of a client that sends more than 5 requests a second, perhaps counted over all hosts. */
const EVERY_MS = 500
/** The most listings to make, change or take down in one call. */
const MOST_LINES = 50

const HOSTS: Readonly<Record<number, string>> = {
  730: 'market.csgo.com',
  570: 'market.dota2.net',
  440: 'tf2.tm',
  252490: 'rust.tm',
}

/** The host for calls about the account, such as its money and pings. */
const MAIN_HOST = 'market.csgo.com'

type Options = {
  key: string
  /** The account to which the key must belong. */
  steamId: string
  scale: Scale
  connection: Connection
  /** The machine's clock, not the market's. */
  time: Time
  /** The clock by which to read the market's times. */
  now: () => Date
}

/** The parameters of a call. `appId`: the game whose host is called; without it, the main host. */
type Ask = {
  appId?: number
  query?: Readonly<Record<string, string>>
  /** The body, already converted to JSON. */
  body?: string
}

export function createFamily(options: Options): Market {
  const call = createFamilyCaller(options)
  return {
    name: 'market.csgo.com',
    games: Object.keys(HOSTS).map(Number),
    order: 'confirm_then_report',
    ...accountCalls(call, options),
    ...listingCalls(call, options),
    ...saleCalls(call, options),
    close() {},
  }
}

type FamilyCaller = Caller<Ask>

/** The market's words for a ping that follows another too soon. The account is online all the same. */
const EARLY_PING = /too early/i

/** Documented as `bad_key`; some calls answer `Bad KEY`. */
const REFUSED_KEY = /^bad[_ ]key$/i

const isStillSold = (rows: readonly Row[], { assets }: DueGift): boolean =>
  assets.every(({ assetId }) =>
    rows.some((row) => row.assetId === assetId && (row.stage === 'sold' || row.stage === 'offer_out')),
  )

/** Pauses the calls to a sister market that has refused the key. The key may be valid at the others. */
function createFamilyCaller({ key, connection, time }: Options): FamilyCaller {
  const call = createCaller(
    {
      everyMs: EVERY_MS,
      callOf: (name, ask: Ask) => callOf(name, key, ask),
      failureOf,
      isSideHost: (ask) => hostOf(ask) !== MAIN_HOST,
    },
    { key, connection, time },
  )
  /** Each host's latest refusal of the key, and when it came. */
  const refusals = new Map<string, { failure: Failure; atMs: number }>()
  return async (name, schema, ask) => {
    const host = hostOf(ask)
    const last = refusals.get(host)
    if (last !== undefined && time.now() - last.atMs < LOCKED_OUT_MS) return last.failure
    const answer = await call(name, schema, ask)
    if (answer.kind === 'refused' && REFUSED_KEY.test(answer.code))
      refusals.set(host, { failure: answer, atMs: time.now() })
    return answer
  }
}

function hostOf({ appId }: Ask): string {
  const host = appId === undefined ? MAIN_HOST : HOSTS[appId]
  if (host === undefined) throw new Error(`no market of the family sells items of the game ${appId}`)
  return host
}

function callOf(name: string, key: string, ask: Ask): Call {
  const { query, body } = ask
  const url = new URL(`https://${hostOf(ask)}/api/v2/${name}`)
  for (const [field, value] of Object.entries(query ?? {})) url.searchParams.set(field, value)
  url.searchParams.set('key', key)
  return body === undefined ? { method: 'GET', url } : { method: 'POST', url, body }
}

function failureOf(answer: unknown, _status: number, ask: Ask): Failure | undefined {
  const envelope = envelopeSchema.safeParse(answer)
  if (!envelope.success || envelope.data.success) return undefined
  const code = String(envelope.data.error ?? envelope.data.message ?? 'no reason')
  return hostOf(ask) === MAIN_HOST && REFUSED_KEY.test(code)
    ? { kind: 'locked_out' }
    : { kind: 'refused', code }
}

type Part<K extends keyof Market> = Pick<Market, K>

function accountCalls(
  call: FamilyCaller,
  { steamId, scale }: Options,
): Part<'ready' | 'keepOnline' | 'setTradeToken' | 'money'> {
  return {
    async ready() {
      const owner = await call('get-my-steam-id', steamIdSchema, { read: ({ steamid64 }) => steamid64 })
      if (owner.kind !== 'answered') return owner
      const currency = await call('get-money', currencySchema, { read: (answer) => answer.currency })
      if (currency.kind !== 'answered') return currency
      const problems: Problem[] = [
        ...(owner.value === steamId ? [] : ['other_account' as const]),
        ...(currency.value === scale.currency ? [] : ['other_currency' as const]),
      ]
      return call('test', testSchema, {
        // This market does not state its fee.
        read: (answer) => ({ problems: [...problems, ...problemsOf(answer)], feeBp: null }),
      })
    },
    async keepOnline(accessToken) {
      const body = JSON.stringify({ access_token: accessToken })
      const answer = await call('ping-new', pingSchema, {
        body,
        carriesToken: true,
        read: ({ online }) => online !== false,
      })
      if (answer.kind === 'refused' && EARLY_PING.test(answer.code)) return { kind: 'answered', value: null }
      if (answer.kind !== 'answered') return answer
      return answer.value ? { kind: 'answered', value: null } : { kind: 'refused', code: 'not online' }
    },
    setTradeToken: (token) => call('set-trade-token', envelopeSchema, { query: { token }, read: () => null }),
    money: () =>
      call('get-money', moneySchema, {
        read: ({ money, money_settlement = 0, currency }) => ({
          freeMinor: scale.majorToMinor(money),
          settlingMinor: scale.majorToMinor(money_settlement),
          currency,
        }),
      }),
  }
}

function listingCalls(
  call: FamilyCaller,
  { scale }: Options,
): Part<'refresh' | 'list' | 'reprice' | 'unlist' | 'lowestPrices'> {
  const cur = scale.currency
  const reprice = (appId: number, lines: readonly { itemId: string; priceMinor: bigint }[]) => {
    const body = `{"items":[${lines
      .slice(0, MOST_LINES)
      .map(
        ({ itemId, priceMinor }) => `{"item_id":${bareNumber(itemId)},"price":${scale.toUnits(priceMinor)}}`,
      )
      .join(',')}]}`
    const ids = lines.map(({ itemId }) => itemId)
    return call('mass-set-price', repricedSchema, {
      appId,
      query: { cur },
      body,
      read: (answer) => repricedOf(answer, ids),
    })
  }
  return {
    refresh: (appId) => call('update-inventory', envelopeSchema, { appId, read: () => null }),
    list(appId, lines, begin) {
      const requested = lines.slice(0, MOST_LINES)
      // Writes asset ids bare: JavaScript numbers would round those of 19 digits.
      const body = `{"items":[${requested
        .map(
          ({ assetId, priceMinor }) =>
            `{"asset":${bareNumber(assetId)},"price":${scale.toUnits(priceMinor)}}`,
        )
        .join(',')}]}`
      const ids = lines.map(({ assetId }) => assetId)
      return call('mass-add-to-sale', listedSchema, {
        appId,
        query: { cur },
        body,
        begin: begin && (() => begin(requested)),
        read: (answer) => listedOf(answer, ids),
      })
    },
    reprice,
    unlist: (appId, itemIds) =>
      // A price of 0 takes a listing down.
      reprice(
        appId,
        itemIds.map((itemId) => ({ itemId, priceMinor: 0n })),
      ),
    lowestPrices: (appId) =>
      call(`prices/${cur}.json`, pricesSchema, {
        appId,
        read: ({ items }) =>
          new Map(
            items.rows.map(({ market_hash_name, price }) => [
              market_hash_name,
              scale.majorToMinor(Number(price)),
            ]),
          ),
      }),
  }
}

function saleCalls(
  call: FamilyCaller,
  { scale, now }: Options,
): Part<'round' | 'isWanted' | 'reportOffer' | 'outcomes'> {
  return {
    async round(appId) {
      const readRows = () => call('items', itemsSchema, { appId, read: rowsOf })
      const items = await readRows()
      if (items.kind !== 'answered') return items
      const rows = items.value
      if (!rows.some(({ stage }) => stage === 'sold')) return { kind: 'answered', value: { rows, due: [] } }
      const answer = await call('trade-request-give-p2p-all', offersSchema, { appId, read: duesOf })
      // With these codes, the market says that there is nothing to give now.
      const isNothingDue = answer.kind === 'refused' && (answer.code === 'nothing' || answer.code === '3001')
      if (answer.kind !== 'answered')
        return isNothingDue ? { kind: 'answered', value: { rows, due: [] } } : answer
      const { due, unread } = answer.value
      if (due.every((deal) => isStillSold(rows, deal)))
        return { kind: 'answered', value: { rows, due, unread } }
      // An item was sold between the two answers. Read again: a deal without its row is refused forever.
      const later = await readRows()
      return later.kind === 'answered'
        ? { kind: 'answered', value: { rows: later.value, due, unread } }
        : later
    },
    async isWanted(deal) {
      const rows = await call('items', itemsSchema, { appId: deal.assets[0]?.appId ?? 0, read: rowsOf })
      if (rows.kind !== 'answered') return rows
      const isShown = deal.assets.every(({ assetId }) => rows.value.some((row) => row.assetId === assetId))
      // Only a row can say that a sale is off. A missing row says nothing.
      if (!isShown) return { kind: 'unanswered', because: 'a list without the sale' }
      return { kind: 'answered', value: isStillSold(rows.value, deal) }
    },
    reportOffer: (appId, { offerId }) =>
      call('trade-ready', envelopeSchema, { appId, query: { tradeoffer: offerId }, read: () => null }),
    outcomes(appId, since) {
      const query = {
        date: String(Math.floor(since.getTime() / 1000)),
        date_end: String(Math.ceil(now().getTime() / 1000)),
      }
      return call('history', historySchema, {
        appId,
        query,
        read: (answer) => outcomesOf(answer, scale, now()),
      })
    },
  }
}
