import { type Incoming, json, type Reply } from '../http.ts'
import type { Market } from '../sandbox.ts'
import type { Seller } from '../world/world.ts'

/** `appId`: the game of the host that was called. */
export type Asked = { request: Incoming; market: Market; seller: Seller; appId: number }
export type Call = (asked: Asked) => Promise<Reply> | Reply

/** A refusal with the market's own text. */
export function says(error: string): Reply {
  return json({ success: false, error })
}
