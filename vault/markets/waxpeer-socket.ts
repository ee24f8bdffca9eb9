/** The socket over which Waxpeer reports sales. A seller counts as online while it is open. */
import { type RawData, WebSocket } from 'ws'
import { z } from 'zod'
import type { Connection } from './connection.ts'
import { type Asked, pushedOf } from './waxpeer-answers.ts'

const URL = 'wss://wssex.waxpeer.com'
const PING_MS = 25_000
/** The longest wait for the answer to a ping. The socket is then closed. */
const SILENT_MS = 60_000
const AGAIN_MS = 5_000
/** The most reported deals to keep. The oldest are dropped first. */
const MOST_TOLD = 500

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
  keep(): void
  /** The account's trade link, which the socket sends when it opens. */
  linkIs(tradeLink: string | null): void
  /** How often the socket has opened; 0 while it is closed. */
  openings(): number
  /** True if the socket has failed to open for a minute, so nothing sells. */
  isDown(): boolean
  /** Deals that the socket reported and has not called off. */
  told(): readonly Asked[]
  isCalledOff(offerId: string): boolean
  close(): void
}

const messageSchema = z.looseObject({ name: z.string().max(50), data: z.unknown() })
const calledOffSchema = z.looseObject({ trade_id: z.union([z.string().max(30), z.int()]) })

export function createSocket(options: Options): Socket {
  const { connection, key, steamId, machineMs } = options
  const heard = createHeard(options)
  let socket: WebSocket | undefined
  let triedMs = Number.NEGATIVE_INFINITY
  let downSinceMs: number | undefined
  let openings = 0
  let tradeLink: string | null = null

  const open = (): void => {
    triedMs = machineMs()
    downSinceMs ??= triedMs
    heard.begin()
    const opened = connection.open(URL)
    socket = opened
    opened.on('message', heard.take)
    // The socket closes after an error, and the next call of keep opens it again.
    opened.on('error', () => {})
    opened.on('open', () => {
      heard.begin()
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
    })
  }
  return {
    linkIs(link) {
      tradeLink = link
    },
    keep() {
      const isSilent = heard.isSilent()
      if (isSilent) socket?.terminate()
      if (isSilent || socket === undefined || socket.readyState === WebSocket.CLOSED) {
        if (machineMs() - triedMs >= AGAIN_MS) open()
        return
      }
      if (socket.readyState === WebSocket.OPEN && heard.mayPing())
        socket.send(JSON.stringify({ name: 'ping' }))
    },
    openings: () => (socket?.readyState === WebSocket.OPEN ? openings : 0),
    isDown: () => downSinceMs !== undefined && machineMs() - downSinceMs > SILENT_MS,
    told: heard.told,
    isCalledOff: heard.isCalledOff,
    close() {
      socket?.terminate()
      socket = undefined
      downSinceMs = undefined
    },
  }
}

/** Handles the socket's messages, and tracks whether its pings are answered. */
function createHeard({ now, machineMs }: Pick<Options, 'now' | 'machineMs'>) {
  const told = new Map<string, unknown>()
  const calledOff = new Map<string, unknown>()
  let pingedMs = 0
  let isAnswered = true
  return {
    begin(): void {
      isAnswered = true
      pingedMs = machineMs()
    },
    /** True if a ping is due. Counts it as sent if so. */
    mayPing(): boolean {
      if (!isAnswered || machineMs() - pingedMs < PING_MS) return false
      pingedMs = machineMs()
      isAnswered = false
      return true
    },
    isSilent: (): boolean => !isAnswered && machineMs() - pingedMs > SILENT_MS,
    take(raw: RawData): void {
      const message = messageSchema.safeParse(parseMessage(raw)).data
      if (message?.name === 'pong') isAnswered = true
      if (message?.name === 'send-trade') {
        const asked = pushedOf(message.data, now())
        if (asked) keepNewest(told, asked.due.dealId, message.data)
      }
      if (message?.name === 'cancelTrade') {
        const off = calledOffSchema.safeParse(message.data).data
        if (off) keepNewest(calledOff, String(off.trade_id), true)
      }
    },
    told: (): Asked[] => [...told.values()].flatMap((data) => pushedOf(data, now()) ?? []).filter(isInTime),
    isCalledOff: (offerId: string): boolean => calledOff.has(offerId),
  }
}

const isInTime = ({ rows }: Asked): boolean => rows.every(({ leftS }) => leftS !== null && leftS > 0)

function keepNewest(told: Map<string, unknown>, dealId: string, data: unknown): void {
  told.delete(dealId)
  told.set(dealId, data)
  const [oldest] = told.keys()
  if (told.size > MOST_TOLD && oldest !== undefined) told.delete(oldest)
}

function parseMessage(raw: RawData): unknown {
  try {
    return JSON.parse(String(raw))
  } catch {
    return undefined
  }
}
