/** The socket over which Waxpeer reports sales. A seller counts as online while it is open. */
import { type RawData, WebSocket } from 'ws'
import { z } from 'zod'
import { keepNewest } from '../../keep-newest.ts'
import { nameIn } from './answer-parts.ts'
import type { Connection } from './connection.ts'
import { parseLossless } from './lossless-json.ts'
import { type PushedDeal, pushedDealOf } from './waxpeer-answers.ts'

const PING = JSON.stringify({ name: 'ping' })
const SOCKET_URL = 'wss://wssex.waxpeer.com'
/** The time between two pings. */
const PING_MS = 25_000
/**
 * How long the socket may fail to open before it counts as down, and how long a ping may stay unanswered before the
 * socket is closed.
 */
const SILENT_MS = 60_000
/** The time between two attempts to open the socket. */
const REOPEN_AFTER_MS = 5_000

type Options = {
  connection: Connection
  key: string
  steamId: string
  now: () => Date
  /** A clock that never jumps, in milliseconds. */
  machineMs: () => number
}

export type Socket = {
  /** Opens the socket if it is closed, and pings it. Call this often, because the socket has no timer. */
  keepOpen(): void
  /** Sets the account's trade link, which is sent each time the socket opens. */
  setTradeLink(tradeLink: string | null): void
  /** How many times the socket has opened; 0 while it is closed. */
  openings(): number
  /** How many times Waxpeer has said over the socket that the account can sell nothing. */
  stops(): number
  /** True if the socket has failed to open for a minute, so nothing sells. */
  isDown(): boolean
  /** Deals that the socket has reported and whose deadline has not passed. */
  deals(): readonly PushedDeal[]
  /** The numbers of reported deals that cannot be read. */
  unread(): readonly string[]
  /** True if the socket has reported that the market called off the deal of this offer. */
  isCalledOff(offerId: string): boolean
  close(): void
}

const messageSchema = z.looseObject({ name: z.string().max(50), data: z.unknown() })
const sellsNothingSchema = z.looseObject({ can_p2p: z.literal(false) })
const calledOffSchema = z.looseObject({ trade_id: z.union([z.string().max(30), z.int()]) })

export function createSocket(options: Options): Socket {
  const { connection, key, steamId, machineMs } = options
  const inbox = createInbox(options)
  let socket: WebSocket | undefined
  let triedMs = Number.NEGATIVE_INFINITY
  let downSinceMs: number | undefined
  let openings = 0
  let tradeLink: string | null = null

  const open = (): void => {
    triedMs = machineMs()
    downSinceMs ??= triedMs
    inbox.restart()
    const opened = connection.open(SOCKET_URL)
    socket = opened
    opened.on('message', inbox.receive)
    // The socket closes after an error, and keepOpen opens it again.
    opened.on('error', () => {})
    opened.on('open', () => {
      downSinceMs = undefined
      openings += 1
      const auth = {
        name: 'auth',
        steamid: steamId,
        tradeurl: tradeLink ?? '',
        source: 'tradetill',
        waxApi: key,
      }
      opened.send(JSON.stringify({ ...auth, info: { version: '1' } }))
      // Waxpeer may count the account as online only from the first ping on.
      opened.send(PING)
      inbox.notePing()
    })
  }
  return {
    setTradeLink(link) {
      tradeLink = link
    },
    keepOpen() {
      const isSilent = inbox.isSilent()
      if (isSilent) socket?.terminate()
      if (isSilent || socket === undefined || socket.readyState === WebSocket.CLOSED) {
        if (machineMs() - triedMs >= REOPEN_AFTER_MS) open()
        return
      }
      if (socket.readyState !== WebSocket.OPEN || !inbox.isPingDue()) return
      socket.send(PING)
      inbox.notePing()
    },
    openings: () => (socket?.readyState === WebSocket.OPEN ? openings : 0),
    stops: inbox.stops,
    isDown: () => downSinceMs !== undefined && machineMs() - downSinceMs > SILENT_MS,
    deals: inbox.deals,
    unread: inbox.unread,
    isCalledOff: inbox.isCalledOff,
    close() {
      socket?.terminate()
      socket = undefined
      downSinceMs = undefined
    },
  }
}

/** Handles the socket's messages, and tracks whether its pings are answered. */
function createInbox({ now, machineMs }: Pick<Options, 'now' | 'machineMs'>) {
  const deals = new Map<string, unknown>()
  const unread = new Map<string, unknown>()
  const calledOff = new Map<string, unknown>()
  let pingedMs = 0
  let isPingAnswered = true
  let stops = 0
  return {
    /** Treats the last ping as answered just now, because the socket was opened. */
    restart(): void {
      isPingAnswered = true
      pingedMs = machineMs()
    },
    isPingDue: (): boolean => isPingAnswered && machineMs() - pingedMs >= PING_MS,
    /** Begins to wait for the answer to a ping. */
    notePing(): void {
      pingedMs = machineMs()
      isPingAnswered = false
    },
    stops: (): number => stops,
    isSilent: (): boolean => !isPingAnswered && machineMs() - pingedMs > SILENT_MS,
    receive(raw: RawData): void {
      const message = messageSchema.safeParse(parseMessage(raw)).data
      if (message?.name === 'pong') isPingAnswered = true
      if (message?.name === 'user_change' && sellsNothingSchema.safeParse(message.data).success) stops += 1
      if (message?.name === 'send-trade') {
        const isRead = pushedDealOf(message.data, now()) !== undefined
        keepNewest(isRead ? deals : unread, nameIn(message.data, 'waxid'), message.data)
      }
      if (message?.name === 'cancelTrade') {
        const calledOffTrade = calledOffSchema.safeParse(message.data).data
        if (calledOffTrade) keepNewest(calledOff, String(calledOffTrade.trade_id), true)
      }
    },
    deals: (): PushedDeal[] =>
      [...deals.values()].flatMap((data) => pushedDealOf(data, now()) ?? []).filter(isInTime),
    unread: (): string[] => [...unread.keys()],
    isCalledOff: (offerId: string): boolean => calledOff.has(offerId),
  }
}

const isInTime = ({ rows }: PushedDeal): boolean => rows.every(({ leftS }) => leftS !== null && leftS > 0)

function parseMessage(raw: RawData): unknown {
  try {
    return parseLossless(String(raw))
  } catch {
    return undefined
  }
}
