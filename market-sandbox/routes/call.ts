import { type Incoming, json, type Reply } from '../http.ts'
import type { Market } from '../sandbox.ts'
import { changeSeller, type Seller } from '../world/world.ts'

/** `appId`: the game of the host that was called. */
export type CallContext = { request: Incoming; market: Market; seller: Seller; appId: number }
export type Call = (context: CallContext) => Promise<Reply> | Reply

/** A refusal with the market's own text. */
export function refuse(error: string): Reply {
  return json({ success: false, error })
}

/** Applies `step` to the account's current state. The `seller` of a call may be stale, so only its id is used. */
export function change(
  { market, seller: { steamId } }: { market: Market; seller: Pick<Seller, 'steamId'> },
  step: (seller: Seller, nowS: number) => Seller,
): void {
  market.change((world, nowS) => ({
    world: changeSeller(world, steamId, (seller) => step(seller, nowS)),
    answer: undefined,
  }))
}
