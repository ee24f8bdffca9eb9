import { CATALOGUE } from './items.ts'
import { type Sandbox, tradeLink } from './sandbox.ts'
import { refreshTokenOf } from './tokens.ts'
import { acceptOffer, counterOffer, endOffer } from './world/offers.ts'
import { reverseAll } from './world/trades.ts'
import type { Account, Asset, Offer, World } from './world/world.ts'

export type Player = ReturnType<typeof createPlayer>

/** Stands in for a person at a browser. `accept`, `decline` and `counter` return Steam's answer. */
export function createPlayer(sandbox: Sandbox, who: string) {
  const find = (world: World) => world.accounts.find(({ name, steamId }) => who === name || who === steamId)
  const known = find(sandbox.world())
  if (!known) throw new Error(`The sandbox has no account called ${who}.`)
  const by = known.steamId
  const account = (): Account => find(sandbox.world()) ?? known
  return {
    steamId: by,
    tradeUrl: () => tradeLink(account()),
    refreshToken: () => refreshTokenOf(account(), sandbox.nowS()),
    items: (): Asset[] => account().assets,
    /** The tradable items of a game. */
    tradable: (appId: number): Asset[] =>
      account().assets.filter(
        (asset) => asset.appId === appId && asset.contextId === '2' && CATALOGUE.get(asset.classId)?.tradable,
      ),
    received: (): Offer[] => sandbox.world().offers.filter(({ partner }) => partner === by),
    accept: (offerId: string) => sandbox.change((world, nowS) => acceptOffer(world, { offerId, by }, nowS)),
    decline: (offerId: string) =>
      sandbox.change((world, nowS) => endOffer(world, { offerId, by, how: 'decline' }, nowS)),
    /** `assetIds`: the items that the person still gives; by default all that the offer requests. */
    counter: (offerId: string, assetIds?: string[]) =>
      sandbox.change((world, nowS) =>
        counterOffer(world, { offerId, by, ...(assetIds ? { assetIds } : {}) }, nowS),
      ),
    reverse: () =>
      sandbox.change((world, nowS) => ({ world: reverseAll(world, by, nowS), answer: undefined })),
  }
}
