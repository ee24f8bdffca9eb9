import type { Account, Obstacle, Settings, World } from './world.ts'

/** How a person reacts to an offer, `afterS` seconds after it was sent. `sell`: sells the first item elsewhere. */
export type Reaction = { does: 'accept' | 'decline' | 'counter' | 'sell'; afterS: number }

/** Peculiarities of a person or their account. */
export type Traits = {
  /** `hidden`: private. `empty`: without items. `unowned`: the account does not own the games. */
  inventory?: 'hidden' | 'empty' | 'unowned'
  /** Steam holds each trade in which this person gives items for this many days. */
  holdDays?: number
  cannotTrade?: Obstacle
  /** Has made a new trade link, so the one that others know is no longer valid. */
  tokenRegenerated?: boolean
  /** Accepts an offer just before its sender cancels it. */
  acceptsOnCancel?: boolean
  /** Takes a trade back this many seconds after accepting it. */
  reversesAfterS?: number
  /** Cannot send offers until the notice about trade protection is acknowledged. */
  mustAcknowledge?: boolean
  /** Has made 1,000 trades a day for nine days. */
  wasBusy?: boolean
  /** Steam protects the trades of every game. */
  everyGameProtected?: boolean
  /** Has confirmations on its phone that are not for offers. */
  otherConfirmations?: boolean
  reaction?: Reaction
}

const DAY_S = 86_400

/** The behaviours of people by name. Those of Steam itself are in bad-days/. */
export const PEOPLE: Record<string, { line: string; traits: Traits }> = {
  'hidden-inventory': { line: 'The inventory is private.', traits: { inventory: 'hidden' } },
  'no-items': { line: 'Owns the games, but no items.', traits: { inventory: 'empty' } },
  'game-not-owned': { line: 'Does not own any of the games.', traits: { inventory: 'unowned' } },
  'hold-15-days': {
    line: 'Has no mobile authenticator: Steam holds each trade in which it gives items for 15 days.',
    traits: { holdDays: 15 },
  },
  'cannot-trade': { line: 'Is not available to trade.', traits: { cannotTrade: 'cannot_trade' } },
  'trade-ban': { line: 'Has a trade ban.', traits: { cannotTrade: 'trade_ban' } },
  'limited-account': {
    line: 'Has a limited account, which has never bought anything.',
    traits: { cannotTrade: 'limited_account' },
  },
  'goes-private': {
    line: 'Shows the inventory, but makes it private before the offer is sent.',
    traits: { cannotTrade: 'private_inventory' },
  },
  'token-regenerated': {
    line: 'Has made a new trade link, so this one is no longer valid.',
    traits: { tokenRegenerated: true },
  },
  // The next two have no traits: switching them on adds items (routes/changes.ts), and the seed adds them to magic
  // players.
  'unmarketable-items': {
    line: 'Also owns items that are worth less than others of the same name; most are not marketable.',
    traits: {},
  },
  'many-items': { line: 'Owns 5,000 items of Counter-Strike 2.', traits: {} },
  accepts: {
    line: 'Accepts automatically after 5 seconds.',
    traits: { reaction: { does: 'accept', afterS: 5 } },
  },
  declines: {
    line: 'Declines automatically after 10 seconds.',
    traits: { reaction: { does: 'decline', afterS: 10 } },
  },
  counters: {
    line: 'Answers with a counteroffer after 10 seconds.',
    traits: { reaction: { does: 'counter', afterS: 10 } },
  },
  'sells-an-item': {
    line: 'Sells one of the items elsewhere 10 seconds after the offer.',
    traits: { reaction: { does: 'sell', afterS: 10 } },
  },
  'accepts-in-the-last-second': {
    line: 'Accepts after 299 seconds, or just before the bot cancels.',
    traits: { reaction: { does: 'accept', afterS: 299 }, acceptsOnCancel: true },
  },
  'reverses-after-3-days': {
    line: 'Accepts after 5 seconds and takes the trade back 3 days later.',
    traits: { reaction: { does: 'accept', afterS: 5 }, reversesAfterS: 3 * DAY_S },
  },
  'must-acknowledge': {
    line: 'A bot cannot send before it has acknowledged trade protection. Switch it on with the Steam id of a bot.',
    traits: { mustAcknowledge: true },
  },
  'every-game-protected': {
    line: 'Steam protects the trades of every game, not only of Counter-Strike 2.',
    traits: { everyGameProtected: true },
  },
  'confirm-something-else': {
    line: 'Besides offers, the bot’s phone must confirm a market listing with the number of an offer, and an API key. Switch it on with the Steam id of a bot.',
    traits: { otherConfirmations: true },
  },
  'busy-for-nine-days': {
    line: 'A bot has made 1,000 trades a day for nine days, so its lists are long. Switch it on with the Steam id of a bot.',
    traits: { wasBusy: true },
  },
}

/** Numbers of items by game: Counter-Strike 2, Dota 2, Team Fortress 2 and Rust. */
const SOME = { 730: 16, 570: 6, 440: 6, 252490: 6 }

type Magic = { name: string; behaviour: string; counts: Record<number, number> }

/**
 * Shoppers with a permanent behaviour. A behaviour from bad-days/ applies to every request about its player. Add new
 * players at the end, so earlier ones stay the same for a seed.
 */
export const MAGIC_PLAYERS: Magic[] = [
  { name: 'magic_hidden', behaviour: 'hidden-inventory', counts: SOME },
  { name: 'magic_empty', behaviour: 'no-items', counts: {} },
  { name: 'magic_no_game', behaviour: 'game-not-owned', counts: {} },
  { name: 'magic_hold', behaviour: 'hold-15-days', counts: SOME },
  { name: 'magic_cannot_trade', behaviour: 'cannot-trade', counts: SOME },
  { name: 'magic_banned', behaviour: 'trade-ban', counts: SOME },
  { name: 'magic_new_token', behaviour: 'token-regenerated', counts: SOME },
  { name: 'magic_hoarder', behaviour: 'many-items', counts: { ...SOME, 730: 5000 } },
  { name: 'magic_accepts', behaviour: 'accepts', counts: SOME },
  { name: 'magic_declines', behaviour: 'declines', counts: SOME },
  { name: 'magic_counters', behaviour: 'counters', counts: SOME },
  { name: 'magic_seller', behaviour: 'sells-an-item', counts: SOME },
  { name: 'magic_last_second', behaviour: 'accepts-in-the-last-second', counts: SOME },
  { name: 'magic_reverser', behaviour: 'reverses-after-3-days', counts: SOME },
  { name: 'magic_down', behaviour: 'steam-down', counts: SOME },
  { name: 'magic_tuesday', behaviour: 'steam-down-on-tuesday', counts: SOME },
  { name: 'magic_slow', behaviour: 'slow', counts: SOME },
  { name: 'magic_rate_limited', behaviour: 'rate-limited', counts: SOME },
  { name: 'magic_limited', behaviour: 'limited-account', counts: SOME },
  { name: 'magic_private', behaviour: 'goes-private', counts: SOME },
  { name: 'magic_twins', behaviour: 'unmarketable-items', counts: SOME },
]

/**
 * The peculiarities of this account, from its own behaviour and those switched on for it. A later behaviour overrides
 * an earlier one, but never a setting that the person has changed.
 */
export function traitsOf(world: World, account: Account): Traits {
  const switched = world.switched.filter(({ steamId }) =>
    steamId === undefined ? account.kind === 'shopper' : steamId === account.steamId,
  )
  const names = [account.behaviour ?? '', ...switched.map(({ name }) => name)]
  return applySettings(
    Object.assign({}, ...names.map((name) => PEOPLE[name]?.traits)),
    account.settings ?? {},
  )
}

function applySettings(traits: Traits, { inventory, hasNewLink, hasAuthenticator }: Settings): Traits {
  const { inventory: byBehaviour, holdDays, tokenRegenerated, ...others } = traits
  const effective =
    inventory === 'private'
      ? 'hidden'
      : inventory === 'public' && byBehaviour === 'hidden'
        ? undefined
        : byBehaviour
  return {
    ...others,
    ...(effective === undefined ? {} : { inventory: effective }),
    ...(holdDays === undefined || hasAuthenticator ? {} : { holdDays }),
    ...(tokenRegenerated === undefined || hasNewLink ? {} : { tokenRegenerated }),
  }
}

/** Why others cannot send this account an offer; undefined if they can. */
export function obstacleToReceiving(world: World, account: Account, nowS: number): Obstacle | undefined {
  const { inventory } = traitsOf(world, account)
  return obstacleOf(world, account, nowS) ?? (inventory === 'hidden' ? 'private_inventory' : undefined)
}

/** Why this account cannot send or accept offers; undefined if it can. */
export function obstacleToTrading(world: World, account: Account, nowS: number): Obstacle | undefined {
  const obstacle = obstacleOf(world, account, nowS)
  return obstacle === 'private_inventory' ? undefined : obstacle
}

function obstacleOf(world: World, account: Account, nowS: number): Obstacle | undefined {
  if (account.restrictedUntilS !== undefined && account.restrictedUntilS > nowS) return 'cannot_trade'
  return traitsOf(world, account).cannotTrade
}
