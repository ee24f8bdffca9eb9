/** An item of an account. Context 16 holds trade-protected items. Times are seconds since 1970. */
export type Asset = {
  assetId: string
  appId: number
  contextId: string
  classId: string
  /** When its trade protection ends; absent if it is not protected. */
  settlesAtS?: number
  /** When the item arrived by a trade; absent for items of the seed. */
  receivedAtS?: number
}

export type Account = {
  /** `seller`: an operator's account that sells items and is not a bot of a till. */
  kind: 'shopper' | 'bot' | 'seller'
  accountId: number
  steamId: string
  name: string
  /** The last part of the profile's address, if its owner chose one: `/id/{address}/`. */
  address?: string
  level: number
  token: string
  avatarHash: string
  assets: Asset[]
  /** Makes the account a magic player: a shopper with this permanent behaviour. */
  behaviour?: string
  /** True for an account that was made for one test or demo, and is not listed with the others. */
  isGuest?: boolean
  /** Sessions and logins of an earlier generation are invalid. */
  sessionGeneration: number
  loginGeneration: number
  /** True if the notice about trade protection was acknowledged. */
  acknowledged: boolean
  /** How many requests the phone has confirmed, not counting those for offers. */
  otherConfirmed?: number
  /**
   * The account cannot trade before this time: 30 days after it reversed protected trades, 7 days after it ended
   * a trade in escrow.
   */
  restrictedUntilS?: number
  /** Changes that the person made on the settings pages; they override a behaviour. */
  settings?: Settings
}

export type Settings = {
  inventory?: 'public' | 'private'
  /** True if the person has replaced the trade link. */
  hasNewLink?: boolean
  /** True if the person has turned on the mobile authenticator. Their later trades are not held. */
  hasAuthenticator?: boolean
}

/** `items` come from the partner, `give` from the sender. */
export type Offer = {
  id: string
  sender: string
  partner: string
  message: string
  state: number
  createdAtS: number
  updatedAtS: number
  items: Asset[]
  give: Asset[]
  tradeId?: string
  escrowEndsAtS?: number
  /** True while the partner has accepted, but their phone has not confirmed. */
  waitsForPhone?: boolean
  /** The offer that this one counters. */
  counters?: string
}

/** An item of a trade. Without a new id, it has not arrived yet. With a rolled-back id, it was returned. */
export type TradedItem = Asset & {
  from: string
  newAssetId?: string
  newContextId?: string
  rolledBackAssetId?: string
}

export type Trade = {
  id: string
  sender: string
  partner: string
  status: number
  atS: number
  /** When the protection ends; 0 if nothing is protected, and after a complete reversal. */
  settlesAtS: number
  /**
   * True once the trade was called off, was completed without protection, or has come out of protection. A reversal
   * does not change it.
   */
  settled: boolean
  modifiedAtS?: number
  escrowEndsAtS?: number
  /** The trade that this one reverses. */
  rollbackOf?: string
  items: TradedItem[]
}

/** The state that the data file keeps, as plain JSON. Ids count up from the time when the world was made. */
export type World = {
  version: 2
  lastId: number
  /** By how many seconds people have advanced the clock. */
  aheadS: number
  /** How long the protection of a new trade lasts; 0 if there is none. */
  protectionS: number
  accounts: Account[]
  offers: Offer[]
  trades: Trade[]
  /** Behaviours of people that are switched on, for one account or for every shopper. */
  switched: { name: string; steamId?: string }[]
}

/** Steam's own numbers for the states of an offer. */
export const STATE = {
  active: 2,
  accepted: 3,
  countered: 4,
  expired: 5,
  canceled: 6,
  declined: 7,
  invalidItems: 8,
  needsConfirmation: 9,
  canceledBySecondFactor: 10,
  inEscrow: 11,
  reverted: 12,
} as const

/** Steam's own numbers for the status of a trade. */
export const TRADE = {
  complete: 3,
  supportRollback: 6,
  selectiveRollback: 7,
  inEscrow: 10,
  escrowRollback: 11,
  protectionRollback: 12,
} as const

/**
 * Why an account cannot receive offers. With `private_inventory`, it can still send and accept offers; the others
 * prevent this too.
 */
export type Obstacle = 'cannot_trade' | 'trade_ban' | 'limited_account' | 'private_inventory'

/** `eresult`: the number that Steam puts in brackets after its error texts. `text`: an error with its own text. */
export type Refusal = { kind: 'refused'; eresult: number; text?: Obstacle | 'too_many' }
export type Answer<T> = { world: World; answer: T | Refusal }

/** The most offers to keep, and the most trades; older ones are deleted. */
export const MOST_KEPT = 5000
export const OFFER_LIFE_S = 14 * 86_400
const FIRST_STEAM_ID = 76561197960265728n

export const steamIdOf = (accountId: number): string => String(FIRST_STEAM_ID + BigInt(accountId))

export const DAY_S = 86_400
/** How long Steam's trade protection lasts. */
export const PROTECTION_S = 7 * DAY_S
/** The game whose trades Steam protects. The proofs' models of Steam use it too. */
export const PROTECTED_APP = 730

/** Each request looks up many accounts. A list of accounts is immutable, so it is indexed only once. */
const bySteamId = new WeakMap<Account[], Map<string, Account>>()

export function findAccount({ accounts }: World, steamId: string): Account | undefined {
  let known = bySteamId.get(accounts)
  if (known === undefined) {
    known = new Map(accounts.map((account) => [account.steamId, account]))
    bySteamId.set(accounts, known)
  }
  return known.get(steamId)
}

export function findOffer(world: World, offerId: string): Offer | undefined {
  return world.offers.find(({ id }) => id === offerId)
}

export function withOffer(world: World, changed: Offer): World {
  return { ...world, offers: world.offers.map((offer) => (offer.id === changed.id ? changed : offer)) }
}

export function withTrade(world: World, changed: Trade): World {
  return { ...world, trades: world.trades.map((trade) => (trade.id === changed.id ? changed : trade)) }
}

export function withAccount(world: World, steamId: string, change: (account: Account) => Account): World {
  return {
    ...world,
    accounts: world.accounts.map((account) => (account.steamId === steamId ? change(account) : account)),
  }
}

export function refuse(
  world: World,
  eresult: number,
  text?: Refusal['text'],
): { world: World; answer: Refusal } {
  return { world, answer: { kind: 'refused', eresult, ...(text ? { text } : {}) } }
}
