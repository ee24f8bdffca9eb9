/** An item of an account. Context 16 holds trade-protected items. Times are seconds since 1970. */
export type Asset = {
  assetId: string
  appId: number
  contextId: string
  classId: string
  /** Until then it is trade-protected. */
  settlesAtS?: number
  /** When a trade brought it; absent for items of the seed. */
  receivedAtS?: number
}

export type Account = {
  /** `seller`: an account of the operator that no till collects with. */
  kind: 'shopper' | 'bot' | 'seller'
  accountId: number
  steamId: string
  name: string
  level: number
  token: string
  avatarHash: string
  assets: Asset[]
  /** The behaviour that this person always shows: a magic player. */
  behaviour?: string
  /** Made for one test or demo, and not listed with the others. */
  isGuest?: boolean
  /** Sessions and logins of an earlier generation are invalid. */
  sessionGeneration: number
  loginGeneration: number
  /** Whether the notice about trade protection was acknowledged. */
  acknowledged: boolean
  /** How many confirmations of other things than offers its phone gave. */
  otherConfirmed?: number
  /** Reversing protected trades bars an account from trading for 30 days, cancelling a held one for 7. */
  restrictedUntilS?: number
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
  /** Its partner has accepted, but their phone has not confirmed yet. */
  waitsForPhone?: boolean
  /** The offer that this one counters. */
  counters?: string
}

/** Without a new id the item has not arrived yet; with a rolled back id it went back. */
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
  /** 0 if nothing is protected, and after a reversal. */
  settlesAtS: number
  settled: boolean
  modifiedAtS?: number
  escrowEndsAtS?: number
  /** The trade that this one reverses. */
  rollbackOf?: string
  items: TradedItem[]
}

/** The whole state of the sandbox. Survives JSON; ids grow and start at the time of the seed. */
export type World = {
  version: 2
  lastId: number
  /** By how much people have advanced the clock. */
  aheadS: number
  protectionS: number
  accounts: Account[]
  offers: Offer[]
  trades: Trade[]
  /** Behaviours switched on for one person, or for every shopper. */
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

/** Why nobody can make an account an offer; an account with `private_inventory` can still accept one. */
export type Bar = 'cannot_trade' | 'trade_ban' | 'limited_account' | 'private_inventory'

/** The number that Steam puts in brackets behind its error texts, or a text of its own. */
export type Refusal = { kind: 'refused'; eresult: number; text?: Bar | 'too_many' }
export type Answer<T> = { world: World; answer: T | Refusal }

/** Older offers and trades are forgotten. */
export const MOST_KEPT = 5000
export const OFFER_LIFE_S = 14 * 86_400
export const DAY_S = 86_400
export const PROTECTED_APP = 730

/** A list of accounts never changes, so it is indexed once. Each request looks up many. */
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
