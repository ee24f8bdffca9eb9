/** The socket over which Waxpeer tells of sales, and by which it knows that a seller is online. */
import type { RawData, WebSocket } from 'ws'
import { z } from 'zod'
import type { Connection } from './connection.ts'
import { type Asked, pushedOf } from './waxpeer-answers.ts'

const URL = 'wss://wssex.waxpeer.com'
const PING_MS = 25_000
/** A socket whose ping got no answer for this long is closed. */
const SILENT_MS = 60_000
const AGAIN_MS = 5_000
/** Deals that were told and never asked for are forgotten, the oldest first. */
const MOST_TOLD = 500

type Options = {
  connection: Connection
  key: string
  steamId: string
  now: () => Date
  /** In milliseconds; never jumps. */
  machineMs: () => number
}

export type Socket = {
  /** Opens it if it is closed, and pings it. Call this often: it has no timer of its own. */
  keep(tradeLink: string | null): void
  isOpen(): boolean
  /** The deals that it told of and did not call off. */
  told(): readonly Asked[]
  isCalledOff(offerId: string): boolean
  close(): void
}

const messageSchema = z.looseObject({ name: z.string().max(50), data: z.unknown() })
const calledOffSchema = z.looseObject({ trade_id: z.union([z.string().max(30), z.int()]) })

export function createSocket({ connection, key, steamId, now, machineMs }: Options): Socket {
  const told = new Map<string, unknown>()
  const calledOff = new Set<string>()
  let socket: WebSocket | undefined
  let triedMs = Number.NEGATIVE_INFINITY
  let pingedMs = 0
  let isAnswered = true

  const take = (raw: RawData): void => {
    const message = messageSchema.safeParse(parsed(raw)).data
    if (message?.name === 'pong') isAnswered = true
    if (message?.name === 'send-trade') {
      const asked = pushedOf(message.data, now())
      if (asked) keepNewest(told, asked.due.dealId, message.data)
    }
    if (message?.name === 'cancelTrade') {
      const off = calledOffSchema.safeParse(message.data).data
      if (off) calledOff.add(String(off.trade_id))
    }
  }
  const open = (tradeLink: string | null): void => {
    triedMs = machineMs()
    const opened = connection.open(URL)
    socket = opened
    opened.on('message', take)
    // It closes after an error, and is opened again by the next call of keep.
    opened.on('error', () => {})
    opened.on('open', () => {
      isAnswered = true
      pingedMs = machineMs()
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
    keep(tradeLink) {
      const nowMs = machineMs()
      const isSilent = !isAnswered && nowMs - pingedMs > SILENT_MS
      if (isSilent) socket?.terminate()
      if (isSilent || socket === undefined || socket.readyState === socket.CLOSED) {
        if (nowMs - triedMs >= AGAIN_MS) open(tradeLink)
        return
      }
      if (socket.readyState !== socket.OPEN || nowMs - pingedMs < PING_MS || !isAnswered) return
      pingedMs = nowMs
      isAnswered = false
      socket.send(JSON.stringify({ name: 'ping' }))
    },
    isOpen: () => socket !== undefined && socket.readyState === socket.OPEN,
    told: () => [...told.values()].flatMap((data) => pushedOf(data, now()) ?? []).filter(isInTime),
    isCalledOff: (offerId) => calledOff.has(offerId),
    close() {
      socket?.terminate()
      socket = undefined
    },
  }
}

const isInTime = ({ rows }: Asked): boolean => rows.every(({ leftS }) => leftS !== null && leftS > 0)

function keepNewest(told: Map<string, unknown>, dealId: string, data: unknown): void {
  told.delete(dealId)
  told.set(dealId, data)
  const [oldest] = told.keys()
  if (told.size > MOST_TOLD && oldest !== undefined) told.delete(oldest)
}

function parsed(raw: RawData): unknown {
  try {
    return JSON.parse(String(raw))
  } catch {
    return undefined
  }
}
