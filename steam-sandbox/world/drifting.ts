import { CATALOGUE } from '../items.ts'
import { isOrdinary } from './seed.ts'
import { type Answer, type Asset, findAccount, refuse, type World, withAccount } from './world.ts'

/** `gone`: the items were removed. `there`: they were added. */
type DriftAnswer = { kind: 'gone' | 'there'; assetIds: string[] }

/**
 * Removes items without a trade, as if Steam took them or somebody used them up. Removes the first item by default.
 * Refusals: 42 (unknown account), 26 (an item that it does not have, or no items at all).
 */
export function loseItems(
  world: World,
  { steamId, assetIds }: { steamId: string; assetIds?: string[] },
): Answer<DriftAnswer> {
  const account = findAccount(world, steamId)
  if (!account) return refuse(world, 42)
  const lost = assetIds ?? account.assets.slice(0, 1).map(({ assetId }) => assetId)
  const isThere = lost.every((assetId) => account.assets.some((asset) => asset.assetId === assetId))
  if (lost.length === 0 || !isThere) return refuse(world, 26)
  const without = ({ assets }: { assets: Asset[] }) => assets.filter(({ assetId }) => !lost.includes(assetId))
  const worldAfter = withAccount(world, steamId, (owner) => ({ ...owner, assets: without(owner) }))
  return { world: worldAfter, answer: { kind: 'gone', assetIds: lost } }
}

/** Adds an item without a trade, as if its owner had bought it or got it in a game. */
export function gainItem(world: World, { steamId }: { steamId: string }): Answer<DriftAnswer> {
  const [entry] = [...CATALOGUE.values()].filter(isOrdinary)
  if (!findAccount(world, steamId) || entry === undefined) return refuse(world, 42)
  const { appId, classId } = entry
  const asset: Asset = { assetId: String(world.lastId + 1), appId, contextId: '2', classId }
  const worldAfter = withAccount(world, steamId, (owner) => ({ ...owner, assets: [...owner.assets, asset] }))
  return {
    world: { ...worldAfter, lastId: world.lastId + 1 },
    answer: { kind: 'there', assetIds: [asset.assetId] },
  }
}
