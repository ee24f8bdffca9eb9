/** Copies of existing accounts: guests, which are shoppers for one test or demo; additional bots; and a seller. */
import { createHash } from 'node:crypto'
import { endOffer } from './offers.ts'
import { type Account, findAccount, STATE, steamIdOf, type World, withAccount } from './world.ts'

/** The most guests until a reset, because every account costs time in each request. */
export const MOST_GUESTS = 1_000

/** Above the numbers of the seed's accounts, which go from 1,000,000,000 to 1,800,000,000. */
const FIRST_GUEST = 2_000_000_000

type Added = { world: World; answer: Account | undefined }

/**
 * Adds a copy of the shopper `like`, without the items that this shopper received by trades. The answer is undefined if
 * the shopper is unknown, or if there is no room.
 */
export function inviteGuest(world: World, like: string): Added {
  const template = world.accounts.find(({ kind, name }) => kind === 'shopper' && name === like)
  const guests = world.accounts.filter(({ isGuest }) => isGuest).length
  if (template === undefined || guests >= MOST_GUESTS) return { world, answer: undefined }
  const accountId = FIRST_GUEST + guests
  const name = `${like}_${guests + 1}`
  const hash = createHash('sha256').update(`${name} ${template.token}`)
  const assets = template.assets
    .filter(({ receivedAtS }) => receivedAtS === undefined)
    .map((asset, index) => ({ ...asset, assetId: String(world.lastId + 1 + index) }))
  const { restrictedUntilS: _, ...unrestricted } = template
  const guest: Account = {
    ...unrestricted,
    accountId,
    steamId: steamIdOf(accountId),
    name,
    token: hash.digest('base64url').slice(0, 8),
    assets,
    isGuest: true,
  }
  const accounts = [...world.accounts, guest]
  return { world: { ...world, accounts, lastId: world.lastId + assets.length }, answer: guest }
}

export const MOST_BOTS = 500

/** Between the numbers of the seed's accounts and those of guests. */
const FIRST_ADDED_BOT = 1_900_000_000

/** Adds a copy of the first bot, without items. The answer is undefined if there is no room. */
export function addBot(world: World): Added {
  const bots = world.accounts.filter(({ kind }) => kind === 'bot')
  const [template] = bots
  if (template === undefined || bots.length >= MOST_BOTS) return { world, answer: undefined }
  const name = `Tradetill Bot #${bots.length + 1}`
  return withAdded(world, botLike(template, { kind: 'bot', name, accountId: FIRST_ADDED_BOT + bots.length }))
}

/** Below the numbers of the added bots. */
const SELLER_ACCOUNT = 1_899_999_999

/** Returns the account with which a vault sells. The first call adds it. Undefined if there is no bot to copy. */
export function findOrAddSeller(world: World): Added {
  const known = world.accounts.find(({ kind }) => kind === 'seller')
  if (known !== undefined) return { world, answer: known }
  const template = world.accounts.find(({ kind }) => kind === 'bot')
  if (template === undefined) return { world, answer: undefined }
  return withAdded(
    world,
    botLike(template, { kind: 'seller', name: 'Tradetill Seller', accountId: SELLER_ACCOUNT }),
  )
}

const withAdded = (world: World, account: Account) => ({
  world: { ...world, accounts: [...world.accounts, account] },
  answer: account,
})

function botLike(template: Account, identity: Pick<Account, 'kind' | 'name' | 'accountId'>): Account {
  const hash = createHash('sha256').update(`${identity.name} ${template.token}`)
  const { restrictedUntilS: _, ...unrestricted } = template
  return {
    ...unrestricted,
    ...identity,
    steamId: steamIdOf(identity.accountId),
    token: hash.digest('base64url').slice(0, 8),
    assets: [],
    sessionGeneration: 0,
    loginGeneration: 0,
    acknowledged: false,
  }
}

/** Declines all open offers to a guest, and removes the guest's items. Ignores an account that is not a guest's. */
export function dismissGuest(world: World, steamId: string, nowS: number): World {
  if (findAccount(world, steamId)?.isGuest !== true) return world
  const open = world.offers.filter(({ partner, state }) => partner === steamId && state === STATE.active)
  const declined = open.reduce(
    (current, { id }) => endOffer(current, { offerId: id, by: steamId, how: 'decline' }, nowS).world,
    world,
  )
  return withAccount(declined, steamId, (account) => ({ ...account, assets: [] }))
}
