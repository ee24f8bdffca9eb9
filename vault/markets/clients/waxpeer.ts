/**
 * Waxpeer: one host for all games, and a socket and a poll for sales. The vault reports an offer to Waxpeer before it
 * confirms the offer on Steam.
 */
import { accountOf } from '../../../contract/steam-id.ts'
import type { Line, Listed, Market, MarketAnswer, Repriced } from '../market.ts'
import type { Scale } from '../scale.ts'
import type { Connection } from './connection.ts'
import type { Time } from './pace.ts'
import {
  editedOf,
  editedSchema,
  envelopeSchema,
  feeOf,
  GAMES,
  LOOK_BACK_MS,
  listedOf,
  listedSchema,
  obstacleOf,
  outcomeOf,
  pricesSchema,
  problemsOf,
  removedOf,
  removedSchema,
  sellingSchema,
  userSchema,
  walletSchema,
} from './waxpeer-answers.ts'
import { createWaxpeerCaller, gameOf, type WaxpeerCaller } from './waxpeer-calls.ts'
import { createHistory, type History } from './waxpeer-history.ts'
import { saleCalls } from './waxpeer-sales.ts'
import { createSocket, type Socket } from './waxpeer-socket.ts'
import { createToken, type Token } from './waxpeer-token.ts'

/** The most listings to make, change or take down in one call. */
const MOST_LINES = 50
/** Waxpeer accepts two listings or changes of one item within this time, and refuses more. */
const ITEM_WINDOW_MS = 120_000
const MOST_OF_ITEM = 2
/** If Waxpeer tells the client to wait before the next change of an item, the client waits at most this long. */
const MOST_WAIT_MS = 60 * 60_000
/** How often to ask Waxpeer to put the account's listings on sale, as its documentation recommends. */
const CHECK_SALES_MS = 60 * 60_000
/** How long Waxpeer must have put nothing on sale before the vault reports it. */
const OBSTACLE_MS = 5 * 60_000

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

type Part<K extends keyof Market> = Pick<Market, K>
type Parts = Options & { call: WaxpeerCaller; socket: Socket; token: Token; history: History }

export function createWaxpeer(options: Options): Market {
  const { connection, time, key, steamId, now } = options
  const call = createWaxpeerCaller(key, { connection, time })
  const socket = createSocket({ connection, key, steamId, now, machineMs: () => time.now() })
  const history = createHistory({ call, time, now })
  const parts = { ...options, call, socket, history, token: createToken(call, time) }
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

function accountCalls(parts: Parts): Part<'ready' | 'keepOnline' | 'obstacle' | 'setTradeToken' | 'money'> {
  const { call, socket, token, history, steamId, scale, now } = parts
  const sales = createSalesCheck(parts)
  const linkOf = (linkToken: string): string =>
    `https://steamcommunity.com/tradeoffer/new/?partner=${accountOf(steamId)}&token=${linkToken}`
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
      return sales.check()
    },
    obstacle: sales.obstacle,
    async setTradeToken(linkToken) {
      const tradelink = linkOf(linkToken)
      const answer = await call('change-tradelink', envelopeSchema, { body: { tradelink }, read: () => null })
      if (answer.kind === 'answered') socket.setTradeLink(tradelink)
      return answer
    },
    async money() {
      const wallet = await call('user', walletSchema, { read: ({ user }) => scale.toMinor(user.wallet) })
      if (wallet.kind !== 'answered') return wallet
      // Waxpeer reports no total of the money that is settling, so the client sums it up from the history.
      const since = new Date(now().getTime() - LOOK_BACK_MS)
      const sold = await history.since(since)
      if (sold.kind !== 'answered') return sold
      // Without the oldest sales, the sum would look as if money were missing.
      if (sold.value.wholeSinceMs > since.getTime())
        return { kind: 'unanswered', because: 'a history that is too long to read' }
      const settlingMinor = sold.value.rows
        .map((row) => outcomeOf(row, scale, now()).end)
        .reduce((sum, end) => (end.kind === 'settling' ? sum + end.receivedMinor : sum), 0n)
      return { kind: 'answered', value: { freeMinor: wallet.value, settlingMinor, currency: scale.currency } }
    },
  }
}

/**
 * Waxpeer puts the account's listings on sale only after a call of `check-wss-user`. The call is needed each time the
 * socket opens, and each time Waxpeer reports that the account sells nothing. A failure does not stop the vault from
 * selling, because Waxpeer may fail at this call alone.
 */
function createSalesCheck({ call, socket, steamId, time }: Parts) {
  let last = { openings: 0, stops: 0, atMs: Number.NEGATIVE_INFINITY }
  /** Why Waxpeer puts nothing on sale, and since when. */
  let failure: { because: string; sinceMs: number } | undefined
  const note = (because: string | undefined): void => {
    failure = because === undefined ? undefined : { because, sinceMs: failure?.sinceMs ?? time.now() }
  }
  return {
    async check(): Promise<MarketAnswer<null>> {
      const [openings, stops] = [socket.openings(), socket.stops()]
      const isChecked = openings === last.openings && stops === last.stops
      if (openings === 0 || (isChecked && time.now() - last.atMs < CHECK_SALES_MS))
        return { kind: 'answered', value: null }
      const query = [['steamid', steamId]] as const
      const answer = await call('check-wss-user', sellingSchema, { query, read: obstacleOf })
      if (answer.kind === 'locked_out') return answer
      if (answer.kind === 'answered') note(answer.value)
      else if (answer.kind !== 'busy') note(answer.kind === 'refused' ? answer.code : answer.because)
      if (failure === undefined && answer.kind === 'answered') last = { openings, stops, atMs: time.now() }
      return { kind: 'answered', value: null }
    },
    obstacle: (): string | undefined =>
      failure !== undefined && time.now() - failure.sinceMs >= OBSTACLE_MS ? failure.because : undefined,
  }
}

/** Tells which items may be listed or changed now. */
function createItemLimit(time: Time) {
  /** By asset: the times of its last changes, and until when Waxpeer itself takes none. */
  const items = new Map<string, { times: readonly number[]; waitUntilMs: number }>()
  const recentOf = (assetId: string) => {
    const { times = [], waitUntilMs = Number.NEGATIVE_INFINITY } = items.get(assetId) ?? {}
    return { times: times.filter((at) => time.now() - at <= ITEM_WINDOW_MS), waitUntilMs }
  }
  return {
    /** True if the item may be changed now. Counts the change if so. */
    take(assetId: string): boolean {
      for (const id of items.keys()) {
        const { times, waitUntilMs } = recentOf(id)
        if (times.length === 0 && waitUntilMs <= time.now()) items.delete(id)
      }
      const { times, waitUntilMs } = recentOf(assetId)
      if (times.length >= MOST_OF_ITEM || waitUntilMs > time.now()) return false
      items.set(assetId, { times: [...times, time.now()], waitUntilMs })
      return true
    },
    waitFor(assetId: string, ms: number): void {
      items.set(assetId, { ...recentOf(assetId), waitUntilMs: time.now() + Math.min(ms, MOST_WAIT_MS) })
    },
  }
}

function listingCalls({
  call,
  scale,
  time,
}: Parts): Part<'refresh' | 'list' | 'reprice' | 'unlist' | 'lowestPrices'> {
  const limit = createItemLimit(time)
  const lineOf = (itemId: string, priceMinor: bigint) => ({
    // A string, because asset ids of Rust have 19 digits.
    item_id: itemId,
    price: Number(scale.toUnits(priceMinor)),
  })
  return {
    refresh: (appId) =>
      call('fetch-my-inventory', envelopeSchema, { query: [gameOf(appId)], read: () => null }),
    async list(appId, lines, begin) {
      const requested = lines.slice(0, MOST_LINES).filter(({ assetId }) => limit.take(assetId))
      const early = lines.filter((line) => !requested.includes(line)).map(postponed)
      if (requested.length === 0) return { kind: 'answered', value: early }
      return call('list-items-steam', listedSchema, {
        query: [gameOf(appId)],
        body: { items: requested.map(({ assetId, priceMinor }) => lineOf(assetId, priceMinor)) },
        begin: begin && (() => begin(requested)),
        read: (answer) => {
          const results = listedOf(
            answer,
            requested.map(({ assetId }) => assetId),
          )
          for (const { line, waitMs } of results) if (waitMs > 0) limit.waitFor(line.assetId, waitMs)
          return [...results.map(({ line }) => line), ...early]
        },
      })
    },
    async reprice(appId, lines): Promise<MarketAnswer<readonly Repriced[]>> {
      const requested = lines.slice(0, MOST_LINES).filter(({ itemId }) => limit.take(itemId))
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
    unlist(appId, itemIds) {
      const requested = itemIds.slice(0, MOST_LINES)
      return call('remove-items', removedSchema, {
        query: [...requested.map((id) => ['id', id] as const), gameOf(appId)],
        read: (answer) => removedOf(answer, requested),
      })
    },
    lowestPrices: (appId) =>
      call('prices', pricesSchema, {
        query: [gameOf(appId), ['minified', '0']],
        read: ({ items }) =>
          new Map(
            items.rows.flatMap(({ name, min }) => (min == null ? [] : [[name, scale.toMinor(min)] as const])),
          ),
      }),
  }
}

const postponed = ({ assetId }: Line): Listed => ({ kind: 'postponed', assetId })
