import { BAD_DAYS } from '../bad-days/bad-days.ts'
import { GAMES } from '../items.ts'
import { PEOPLE } from '../world/people.ts'
import type { Account } from '../world/world.ts'

export function lineOf(behaviour: string): string {
  return (PEOPLE[behaviour] ?? BAD_DAYS[behaviour])?.line ?? ''
}

/** Describes a magic player by its behaviour, and any other shopper by how many items of each game they own. */
export function lineOfShopper(account: Account): string {
  return account.behaviour === undefined ? itemCountsText(account) : lineOf(account.behaviour)
}

export function itemCountsText({ assets }: Account): string {
  return GAMES.map(({ appId, name }) => {
    const count = assets.filter((asset) => asset.appId === appId).length
    return `${name}: ${count}`
  }).join(' · ')
}
