/** Waxpeer's socket: a connected seller who keeps sending pings is online, and receives sales and cancellations. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { field, parseJson } from './http.ts'
import { change } from './routes/call.ts'
import { isSelling } from './routes/waxpeer.ts'
import { pushOf } from './routes/waxpeer-deals.ts'
import type { Market } from './sandbox.ts'
import { type Deal, findSeller, type World } from './world/world.ts'

const HOST = 'wssex.waxpeer.com'
const MOST_BYTES = 64 * 1024
/** A seller who sends no ping for this long is offline. */
const ONLINE_S = 60

export type Sockets = {
  attach(server: Server, market: Market): void
  /** Sends sellers the changes that concern them. */
  sendChanges(market: Market, before: World, after: World): void
  close(): void
}

export function createSockets(): Sockets {
  const server = new WebSocketServer({ noServer: true, maxPayload: MOST_BYTES })
  const bySeller = new Map<string, WebSocket>()
  const send = (steamId: string, name: string, data: unknown): void =>
    bySeller.get(steamId)?.send(JSON.stringify({ name, data }))
  return {
    attach(http, market) {
      http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        const host = (request.headers.host ?? '').replace(/:\d+$/, '')
        market.log.push({ method: 'GET', host, path: request.url ?? '/' })
        if (host !== HOST || market.faults.isOn('socket-refused')) return void socket.destroy()
        server.handleUpgrade(request, socket, head, (opened) => {
          // A socket closes after an error, and its `close` listener takes the seller offline.
          opened.on('error', () => {})
          opened.on('message', (raw) =>
            receive(market, { opened, bySeller, message: parseJson(String(raw)) }),
          )
        })
      })
    },
    sendChanges(market, before, after) {
      for (const deal of after.deals) {
        const previous = before.deals.find(({ hash }) => hash === deal.hash)
        if (previous === undefined) {
          send(deal.seller, 'send-trade', pushOf(market, deal))
          if (market.faults.isOn('odd-rows'))
            send(deal.seller, 'send-trade', { waxid: 'pushed-without-link', tradelink: null })
          if (market.faults.isOn('socket-double')) send(deal.seller, 'send-trade', pushOf(market, deal))
        }
        if (wasCalledOff(previous, deal))
          send(deal.seller, 'cancelTrade', { trade_id: deal.offerId ?? '', seller_steamid: deal.seller })
      }
    },
    close() {
      for (const socket of server.clients) socket.terminate()
      server.close()
    },
  }
}

const wasCalledOff = (previous: Deal | undefined, deal: Deal): boolean =>
  previous?.state === 'open' && deal.state === 'failed'

type Received = { opened: WebSocket; bySeller: Map<string, WebSocket>; message: unknown }

function receive(market: Market, { opened, bySeller, message }: Received): void {
  const name = field(message, 'name')
  if (name === 'auth') {
    const [key, steamId] = [field(message, 'waxApi'), field(message, 'steamid')]
    const seller = market.world().sellers.find((each) => each.key === key && each.steamId === steamId)
    if (seller === undefined) {
      opened.close()
      return
    }
    bySeller.set(seller.steamId, opened)
    opened.on('close', () => {
      if (bySeller.get(seller.steamId) !== opened) return
      bySeller.delete(seller.steamId)
      setOnline(market, seller.steamId, 0)
    })
    const canSell = isSelling(findSeller(market.world(), seller.steamId) ?? seller, market.nowS())
    opened.send(JSON.stringify({ name: 'user_change', data: { can_p2p: canSell } }))
  }
  if (name !== 'ping' || market.faults.isOn('socket-silent')) return
  const [steamId] = [...bySeller].find(([, socket]) => socket === opened) ?? []
  if (steamId !== undefined) {
    if (market.faults.use('sales-off')) {
      change({ market, seller: { steamId } }, (seller) => ({ ...seller, isPaused: true }))
      opened.send(JSON.stringify({ name: 'user_change', data: { can_p2p: false } }))
    }
    setOnline(market, steamId, ONLINE_S)
  }
  opened.send(JSON.stringify({ name: 'pong' }))
}

/** Counts the seller as online for this many seconds from now. */
const setOnline = (market: Market, steamId: string, seconds: number): void =>
  change({ market, seller: { steamId } }, (seller, nowS) => ({ ...seller, onlineUntilS: nowS + seconds }))
