/** Wishes of the till on the pure level, and of an attacker who controls it. */
import type { GivenAsset } from '../../vault/giving/gift.ts'
import type { Thing } from './steam.ts'
import type { ModelTill } from './till.ts'
import { BOTS, type Deposit, type SalesWorld, STRANGER } from './world.ts'

const assetOf = ({ appId, assetId }: Thing): GivenAsset => ({ appId, contextId: '2', assetId })

export function addWishes(world: SalesWorld, till: ModelTill): void {
  const { luck } = world
  const bot = luck.random.pick(BOTS)
  if (luck.random.chance(0.5)) sendSome(world, till, bot)
  if (luck.random.chance(0.05)) giveBack(world, till)
  addForgedWishes(world, till, bot)
}

/** Adds a wish for some items of one game: items that the bot can give, in no open wish and not on sale. */
function sendSome({ luck, steam }: SalesWorld, till: ModelTill, bot: string): void {
  const { random } = luck
  const free = steam.things.filter(
    (thing) => thing.owner === bot && steam.isFree(thing) && !till.isTaken(thing.assetId),
  )
  const [first] = free
  if (first === undefined) return
  const chosen = free.filter(({ appId }) => appId === first.appId).slice(0, random.between(1, 3))
  const to = random.chance(0.8) ? 'seller' : 'storage'
  till.wish({ fromSteamId: bot, assets: chosen.map(assetOf), ask: { kind: 'send', to } })
}

/** Adds a wish to give a deposit's remaining items back to their shopper. It needs an approval at the vault. */
function giveBack(world: SalesWorld, till: ModelTill): void {
  const { luck, steam, deposits } = world
  const deposit = luck.random.pick<Deposit | undefined>([undefined, ...deposits])
  if (deposit === undefined) return
  const itemsOfDeposit = steam.things.filter(
    (thing) =>
      thing.owner === deposit.bot &&
      deposit.things.includes(thing.assetId) &&
      steam.isFree(thing) &&
      !till.isTaken(thing.assetId),
  )
  if (itemsOfDeposit.length === 0) return
  const { steamTradeId, bot: fromSteamId } = deposit
  const assets = itemsOfDeposit.map(assetOf)
  const id = till.wish({ fromSteamId, assets, ask: { kind: 'return', steamTradeId } })
  approve(world, { id, assets, from: deposit.from })
}

type WishToApprove = { id: string; assets: readonly GivenAsset[]; from: string }

/** Approves a wish, as an operator at the vault does: by a trade link, which is sometimes somebody else's. */
export function approve({ luck, approvals }: SalesWorld, { id, assets, from }: WishToApprove): void {
  const isWrong = luck.hits('giving back approved for somebody else', 0.3)
  approvals.set(id, { partner: { steamId: isWrong ? STRANGER : from, token: 'AbC12-_x' }, assets })
}

/** Sometimes adds wishes that only an attacker in the till, or an outdated till, would make. */
function addForgedWishes({ luck, steam }: SalesWorld, till: ModelTill, bot: string): void {
  const wish = (thing: Thing | undefined, to: string): void => {
    if (thing === undefined) return
    till.wish({ fromSteamId: bot, assets: [assetOf(thing)], ask: { kind: 'send', to } })
  }
  const pickAny = (things: readonly Thing[]): Thing | undefined =>
    things[luck.random.int(Math.max(1, things.length))]
  if (luck.hits('wish for an item that is not free', 0.02))
    wish(pickAny(steam.things.filter((thing) => thing.owner !== bot || !steam.isFree(thing))), 'storage')
  if (luck.hits('wish to a destination that is not on the list', 0.02))
    wish(pickAny(steam.things.filter(({ owner }) => owner === bot)), 'thief')
  const inSales = till.assetsInSales()
  const onSale = steam.things.filter(({ assetId, owner }) => owner === bot && inSales.includes(assetId))
  if (onSale.length > 0 && luck.hits('wish for an item that is on sale', 0.2))
    wish(pickAny(onSale), 'storage')
}
