/**
 * Waxpeer: one host for all games, and a socket and a poll for sales. An offer is reported before it is confirmed.
 */
import { type Caller, createCaller } from './caller.ts'
import type { Call, Connection } from './connection.ts'
import type { Failure, Line, Listed, Market, MarketAnswer, Repriced, Row } from './market.ts'
import type { Time } from './pace.ts'
import type { Scale } from './scale.ts'
import {
  checkedSchema,
  type DueDeal,
  dueDealsOf,
  editedOf,
  editedSchema,
  envelopeSchema,
  feeOf,
  GAMES,
  type HistoryRow,
  historySchema,
  isCancelledStatus,
  isOpenStatus,
  isOver,
  isSale,
  LOOK_BACK_MS,
  listedOf,
  listedSchema,
  onSaleOf,
  onSaleSchema,
  outcomeOf,
  pricesSchema,
  problemsOf,
  readyTradesSchema,
  removedOf,
  removedSchema,
  rowUnderWay,
  statusIn,
  userSchema,
} from './waxpeer-answers.ts'
import { createSocket, keepNewest, type Socket } from './waxpeer-socket.ts'
import { createToken, type Token } from './waxpeer-token.ts'

const HOST = 'https://api.waxpeer.com/v1/'
const EVERY_MS = 1_000
const MOST_LINES = 50
/** Waxpeer accepts two listings or changes of one item within this time, and refuses more. */
const ITEM_WINDOW_MS = 120_000
const MOST_OF_ITEM = 2
/** How often to ask whether a deal was called off. */
const CALLED_OFF_MS = 30_000
const DAY_MS = 86_400_000
/** A page has 100 rows, and no more than 1,000 can be skipped. */
const PAGE_ROWS = 100
const MOST_PAGES = 10
const FIRST_STEAM_ID = 76561197960265728n

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

type Ask = { query?: readonly (readonly [string, string])[]; body?: unknown }
type Part<K extends keyof Market> = Pick<Market, K>
type Parts = Options & { call: Caller<Ask>; socket: Socket; token: Token }

export function createWaxpeer(options: Options): Market {
  const { connection, time, key, steamId, now } = options
  const call = createCaller<Ask>(
    {
      everyMs: EVERY_MS,
      callOf: (name, ask) => callOf(name, key, ask),
      failureOf,
      isAnswer: (status) => status === 403,
    },
    { connection, time },
  )
  const socket = createSocket({ connection, key, steamId, now, machineMs: () => time.now() })
  const parts = { ...options, call, socket, token: createToken(call, time) }
  return {
    name: 'waxpeer.com',
    games: Object.values(GAMES),
    order: 'report_then_confirm',
    ...accountCalls(parts),
    ...listingCalls(parts),
    ...saleCalls(parts),
    close: () => socket.close(),
  }
}

function callOf(name: string, key: string, { query = [], body }: Ask): Call {
  const url = new URL(name, HOST)
  for (const [field, value] of query) url.searchParams.append(field, value)
  url.searchParams.set('api', key)
  return body === undefined ? { method: 'GET', url } : { method: 'POST', url, body: JSON.stringify(body) }
}

function failureOf(answer: unknown, status: number): Failure | undefined {
  const envelope = envelopeSchema.safeParse(answer)
  if (!envelope.success || envelope.data.success) return undefined
  const code = envelope.data.msg ?? 'no reason'
  return status === 403 && /wrong api/i.test(code) ? { kind: 'locked_out' } : { kind: 'refused', code }
}

const gameOf = (appId: number): readonly [string, string] => {
  const name = Object.keys(GAMES).find((game) => GAMES[game] === appId)
  if (name === undefined) throw new Error(`Waxpeer does not sell the game ${appId}`)
  return ['game', name]
}

function accountCalls(parts: Parts): Part<'ready' | 'keepOnline' | 'setTradeToken' | 'goOffline' | 'money'> {
  const { call, socket, token, steamId, scale, now } = parts
  /** The value of `socket.openings()` when `check-wss-user` last succeeded. */
  let checkedOpenings = 0
  const linkOf = (linkToken: string): string =>
    `https://steamcommunity.com/tradeoffer/new/?partner=${BigInt(steamId) - FIRST_STEAM_ID}&token=${linkToken}`
  return {
    ready: () =>
      call('user', userSchema, {
        read: ({ user }) => {
          socket.setTradeLink(user.tradelink ?? null)
          return { problems: problemsOf(user, steamId), feeBp: feeOf(user) }
        },
      }),
    async keepOnline(accessToken) {
      socket.keepOpen()
      if (socket.isDown()) return { kind: 'unanswered', because: 'its socket does not open' }
      const kept = await token.keep(accessToken)
      if (kept.kind !== 'answered') return kept
      const openings = socket.openings()
      if (openings === 0 || openings === checkedOpenings) return { kind: 'answered', value: null }
      // After the socket opens, Waxpeer sells nothing until this call.
      const answer = await call('check-wss-user', envelopeSchema, {
        query: [['steamid', steamId]],
        read: () => null,
      })
      if (answer.kind === 'answered') checkedOpenings = openings
      return answer.kind === 'locked_out' ? answer : { kind: 'answered', value: null }
    },
    async setTradeToken(linkToken) {
      const tradelink = linkOf(linkToken)
      const answer = await call('change-tradelink', envelopeSchema, { body: { tradelink }, read: () => null })
      if (answer.kind === 'answered') socket.setTradeLink(tradelink)
      return answer
    },
    async goOffline() {
      socket.close()
      return { kind: 'answered', value: null }
    },
    async money() {
      const wallet = await call('user', userSchema, { read: ({ user }) => scale.toMinor(user.wallet) })
      if (wallet.kind !== 'answered') return wallet
      // Waxpeer reports no total of the money that is settling, so the client sums it up from the history.
      const rows = await historyOf(parts, new Date(now().getTime() - LOOK_BACK_MS))
      if (rows.kind !== 'answered') return rows
      const settlingMinor = rows.value
        .map((row) => outcomeOf(row, scale, now()).end)
        .reduce((sum, end) => (end.kind === 'settling' ? sum + end.receivedMinor : sum), 0n)
      return { kind: 'answered', value: { freeMinor: wallet.value, settlingMinor, currency: scale.currency } }
    },
  }
}

/** Returns a function that decides whether an item may be listed or changed now. If so, it counts the change. */
function createItemLimit(time: Time) {
  const changeTimes = new Map<string, number[]>()
  return (assetId: string): boolean => {
    const nowMs = time.now()
    for (const [id, times] of changeTimes)
      if (times.every((at) => nowMs - at > ITEM_WINDOW_MS)) changeTimes.delete(id)
    const recent = (changeTimes.get(assetId) ?? []).filter((at) => nowMs - at <= ITEM_WINDOW_MS)
    if (recent.length >= MOST_OF_ITEM) return false
    changeTimes.set(assetId, [...recent, nowMs])
    return true
  }
}

function listingCalls({
  call,
  scale,
  time,
}: Parts): Part<'refresh' | 'list' | 'reprice' | 'unlist' | 'unlistAll' | 'lowestPrices'> {
  const mayChange = createItemLimit(time)
  const lineOf = (itemId: string, priceMinor: bigint) => ({
    // A string, because asset ids of Rust have 19 digits.
    item_id: itemId,
    price: Number(scale.toUnits(priceMinor)),
  })
  return {
    refresh: (appId) =>
      call('fetch-my-inventory', envelopeSchema, { query: [gameOf(appId)], read: () => null }),
    async list(appId, lines) {
      const requested = lines.slice(0, MOST_LINES).filter(({ assetId }) => mayChange(assetId))
      const early = lines.filter((line) => !requested.includes(line)).map(tooEarly)
      if (requested.length === 0) return { kind: 'answered', value: early }
      return call('list-items-steam', listedSchema, {
        query: [gameOf(appId)],
        body: { items: requested.map(({ assetId, priceMinor }) => lineOf(assetId, priceMinor)) },
        read: (answer) => [
          ...listedOf(
            answer,
            requested.map(({ assetId }) => assetId),
          ),
          ...early,
        ],
      })
    },
    async reprice(appId, lines): Promise<MarketAnswer<readonly Repriced[]>> {
      const requested = lines.slice(0, MOST_LINES).filter(({ itemId }) => mayChange(itemId))
      if (requested.length === 0) return { kind: 'answered', value: [] }
      return call('edit-items', editedSchema, {
        query: [gameOf(appId)],
        body: { items: requested.map(({ itemId, priceMinor }) => lineOf(itemId, priceMinor)) },
        read: (answer) =>
          editedOf(
            answer,
            requested.map(({ itemId }) => itemId),
          ),
      })
    },
    unlist: (appId, itemIds) =>
      call('remove-items', removedSchema, {
        query: [...itemIds.map((id) => ['id', id] as const), gameOf(appId)],
        read: (answer) => removedOf(answer, itemIds),
      }),
    unlistAll: (appId) => call('remove-all', envelopeSchema, { query: [gameOf(appId)], read: () => null }),
    lowestPrices: (appId) =>
      call('prices', pricesSchema, {
        query: [gameOf(appId), ['minified', '0']],
        read: ({ items }) =>
          new Map(
            items.flatMap(({ name, min }) => (min == null ? [] : [[name, scale.toMinor(min)] as const])),
          ),
      }),
  }
}

const tooEarly = ({ assetId }: Line): Listed => ({ kind: 'refused', assetId, code: 'too early', retry: true })

function saleCalls(parts: Parts): Part<'round' | 'isWanted' | 'isCalledOff' | 'reportOffer' | 'outcomes'> {
  const { call, socket, token, scale, now } = parts
  /** The offer of each deal, by the deal's number. */
  const offers = new Map<string, string>()
  return {
    async round(appId) {
      socket.keepOpen()
      // The order matters: an item that is sold between the two answers appears in the second one.
      const onSale = await call('list-items-steam', onSaleSchema, { query: [gameOf(appId)], read: onSaleOf })
      if (onSale.kind !== 'answered') return onSale
      const ready = await call('ready-to-transfer-p2p', readyTradesSchema, {
        read: (answer) => dueDealsOf(answer, now()),
      })
      if (ready.kind !== 'answered') return ready
      const history = await historyOf(parts, new Date(now().getTime() - DAY_MS))
      if (history.kind !== 'answered') return history
      const pushed = socket.deals().filter((each) => isOpen(each, history.value))
      const deals = joinDeals(ready.value, pushed).filter(({ due }) => isOfGame(due.assets, appId))
      const pending = history.value.flatMap((row) =>
        GAMES[row.game] === appId ? (rowUnderWay(row) ?? []) : [],
      )
      const rows = firstRowOfEach([...deals.flatMap((each) => each.rows), ...onSale.value, ...pending])
      return { kind: 'answered', value: { rows, due: deals.map(({ due }) => due) } }
    },
    async isWanted({ dealId, assets }) {
      const offerId = offers.get(dealId)
      if (offerId !== undefined && socket.isCalledOff(offerId)) return { kind: 'answered', value: false }
      const status = await statusOf(parts, dealId)
      if (status.kind !== 'answered') return status
      if (status.value !== undefined) return { kind: 'answered', value: isOpenStatus(status.value) }
      const ready = await call('ready-to-transfer-p2p', readyTradesSchema, {
        read: (answer) => dueDealsOf(answer, now()),
      })
      if (ready.kind !== 'answered') return ready
      if (ready.value.some(({ due }) => due.dealId === dealId)) return { kind: 'answered', value: true }
      const rows = await historyOf(parts, new Date(now().getTime() - DAY_MS))
      if (rows.kind !== 'answered') return rows
      return { kind: 'answered', value: assets.every(({ assetId }) => isSaleOpen(rows.value, assetId)) }
    },
    isCalledOff: createCalledOff(parts),
    async reportOffer(_appId, { offerId, dealId }) {
      keepNewest(offers, dealId, offerId)
      const body = { tradeid: offerId, waxid: dealId }
      const report = () => call('steam-trade', envelopeSchema, { body, read: () => null })
      const answer = await report()
      const lacksToken = answer.kind === 'refused' && /token/i.test(answer.code)
      return lacksToken && (await token.sendAgain()) ? report() : answer
    },
    async outcomes(appId, since) {
      const rows = await historyOf(parts, since)
      if (rows.kind !== 'answered') return rows
      const rowsOfGame = rows.value.filter(({ game }) => GAMES[game] === appId)
      return { kind: 'answered', value: rowsOfGame.map((row) => outcomeOf(row, scale, now())) }
    },
  }
}

/**
 * The status of a deal. Undefined if Waxpeer does not name it: the call was made for buyers, and may refuse or omit the
 * number that a seller knows.
 */
async function statusOf({ call }: Parts, dealId: string): Promise<MarketAnswer<number | undefined>> {
  const answer = await call('check-many-steam', checkedSchema, {
    query: [['id', dealId]],
    read: (checked) => statusIn(checked, dealId),
  })
  return answer.kind === 'refused' ? { kind: 'answered', value: undefined } : answer
}

/** Only Waxpeer's clear word calls a deal off: cancelling a good offer counts as not handing over. */
function createCalledOff(parts: Parts): NonNullable<Market['isCalledOff']> {
  const { socket, time } = parts
  /** By deal: the last answer, and when it was asked for. */
  const checks = new Map<string, { isCalledOff: boolean; atMs: number }>()
  return async ({ dealId }, offerId) => {
    const last = checks.get(dealId)
    if (socket.isCalledOff(offerId) || last?.isCalledOff === true) return true
    const atMs = time.now()
    if (last !== undefined && atMs - last.atMs < CALLED_OFF_MS) return false
    const status = await statusOf(parts, dealId)
    const isCalledOff = status.kind === 'answered' && isCancelledStatus(status.value)
    keepNewest(checks, dealId, { isCalledOff, atMs })
    return isCalledOff
  }
}

/** True if the history, newest first, shows that the item's latest sale is under way. */
const isSaleOpen = (history: readonly HistoryRow[], assetId: string): boolean =>
  isOpenStatus(history.find(({ item_id }) => item_id === assetId)?.status)

/**
 * True unless the history, newest first, shows that an item's sale is over. The socket's list keeps a deal until its
 * deadline, even if the deal ends before that.
 */
const isOpen = ({ due }: DueDeal, history: readonly HistoryRow[]): boolean =>
  due.assets.every(({ assetId }) => {
    const newest = history.find(({ item_id }) => item_id === assetId)
    return newest === undefined || !isOver(newest)
  })

/** If both poll and socket report a deal, the poll's version counts. */
function joinDeals(polled: readonly DueDeal[], pushed: readonly DueDeal[]): DueDeal[] {
  const polledIds = new Set(polled.map(({ due }) => due.dealId))
  return [...polled, ...pushed.filter(({ due }) => !polledIds.has(due.dealId))]
}

const isOfGame = (assets: readonly { appId: number }[], appId: number): boolean =>
  assets.some((asset) => asset.appId === appId)

function firstRowOfEach(rows: readonly Row[]): Row[] {
  const byItem = new Map<string, Row>()
  for (const row of rows) if (!byItem.has(row.itemId)) byItem.set(row.itemId, row)
  return [...byItem.values()]
}

/** Reads the newest sales since `since`, newest first, from at most `MOST_PAGES` pages of the history. */
async function historyOf({ call, now }: Parts, since: Date): Promise<MarketAnswer<HistoryRow[]>> {
  const rows: HistoryRow[] = []
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await call('my-history', historySchema, {
      body: { skip: page * PAGE_ROWS, start: since.toISOString(), end: now().toISOString(), sort: 'DESC' },
      read: ({ data }) => data.trades,
    })
    if (answer.kind !== 'answered') return answer
    rows.push(...answer.value.filter((row) => row !== null))
    if (answer.value.length < PAGE_ROWS) break
  }
  return { kind: 'answered', value: rows.filter(isSale) }
}
