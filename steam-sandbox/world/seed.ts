import { createHash } from 'node:crypto'
import { CATALOGUE, type ItemClass, paintsOf } from '../items.ts'
import { MAGIC_PLAYERS } from './people.ts'
import {
  type Account,
  type Asset,
  findAccount,
  PROTECTED_APP,
  PROTECTION_S,
  steamIdOf,
  TRADE,
  type Trade,
  type World,
  withAccount,
} from './world.ts'

/** True for one class of each name: false for a twin (another item of the same name) and every paint but the first. */
export const isOrdinary = ({ twin, paint }: ItemClass): boolean =>
  twin === undefined && paint?.isFirst !== false

/** Returns a function that gives out the paints of a name in turn. */
function dealer(): (entry: ItemClass | undefined) => string {
  const dealt = new Map<string, number>()
  return (entry) => {
    if (entry?.paint === undefined) return entry?.classId ?? ''
    const paints = paintsOf(entry)
    const turn = dealt.get(entry.classId) ?? 0
    dealt.set(entry.classId, turn + 1)
    return paints[turn % paints.length]?.classId ?? ''
  }
}

type Counts = Record<number, number>

type Person = Pick<Account, 'kind' | 'name' | 'level'> & { counts: Counts }

/**
 * Creates a world with two shoppers, two bots and the magic players (shoppers with a permanent behaviour), always the
 * same for a seed and time. Asset ids count up from `nowMs`.
 */
export function seedWorld(seed: string, nowMs: number): World {
  const random = createRandom(seed)
  let lastId = nowMs
  const assets = (counts: Counts): Asset[] =>
    Object.entries(counts).flatMap(([app, count]) => {
      const classes = [...CATALOGUE.values()].filter(
        (entry) => entry.appId === Number(app) && isOrdinary(entry),
      )
      const order = shuffled(classes, random)
      const deal = dealer()
      return Array.from({ length: count }, (_, index) => {
        lastId += 1
        const classId = deal(order[index % order.length])
        return { assetId: String(lastId), appId: Number(app), contextId: '2', classId }
      })
    })
  const person = ({ kind, name, level, counts }: Person): Account => {
    const accountId = 1_000_000_000 + Math.floor(random() * 800_000_000)
    return {
      kind,
      accountId,
      steamId: steamIdOf(accountId),
      name,
      level,
      token: tokenOf(random),
      avatarHash: createHash('sha1').update(`${seed}/${name}`).digest('hex'),
      assets: assets(counts),
      sessionGeneration: 0,
      loginGeneration: 0,
      acknowledged: false,
    }
  }
  const people = [
    person({
      kind: 'shopper',
      name: 'nova_hound',
      level: 34,
      counts: { 730: 72, 570: 24, 440: 21, 252490: 21 },
    }),
    person({ kind: 'shopper', name: 'quiet_lynx', level: 8, counts: { 730: 14, 570: 6, 440: 6, 252490: 5 } }),
    person({ kind: 'bot', name: 'Tradetill Bot #1', level: 47, counts: {} }),
    person({ kind: 'bot', name: 'Tradetill Bot #2', level: 112, counts: {} }),
  ]
  const magic = MAGIC_PLAYERS.map(({ name, behaviour, counts }) => ({
    ...person({ kind: 'shopper', name, level: 12, counts }),
    behaviour,
  }))
  const world: World = {
    version: 2,
    lastId,
    aheadS: 0,
    protectionS: PROTECTION_S,
    accounts: [...people, ...magic],
    offers: [],
    trades: [],
    switched: [],
  }
  return magic
    .filter(({ behaviour }) => behaviour === 'unmarketable-items')
    .reduce((current, { steamId }) => withTwins(current, steamId), world)
}

/**
 * Gives an account one item of each class that shares its name with an ordinary class: twins, and every paint of a
 * Doppler but the first.
 */
export function withTwins(world: World, steamId: string): World {
  const twins = [...CATALOGUE.values()].filter((entry) => !isOrdinary(entry))
  const assets = twins.map(
    ({ appId, classId }, index): Asset => ({
      assetId: String(world.lastId + 1 + index),
      appId,
      contextId: '2',
      classId,
    }),
  )
  const worldAfter = withAccount(world, steamId, (account) => ({
    ...account,
    assets: [...account.assets, ...assets],
  }))
  return { ...worldAfter, lastId: world.lastId + assets.length }
}

const MANY = 5000

/** Adds items of Counter-Strike 2 until the account has 5,000. */
export function withManyItems(world: World, steamId: string): World {
  const classes = [...CATALOGUE.values()].filter(
    (entry) => entry.appId === PROTECTED_APP && isOrdinary(entry),
  )
  const deal = dealer()
  const owned =
    findAccount(world, steamId)?.assets.filter(({ appId }) => appId === PROTECTED_APP).length ?? MANY
  const assets = Array.from({ length: Math.max(0, MANY - owned) }, (_, index): Asset => {
    const classId = deal(classes[index % classes.length])
    return { assetId: String(world.lastId + 1 + index), appId: PROTECTED_APP, contextId: '2', classId }
  })
  const filled = withAccount(world, steamId, (account) => ({
    ...account,
    assets: [...account.assets, ...assets],
  }))
  return { ...filled, lastId: world.lastId + assets.length }
}

type OldTrade = Omit<Trade, 'sender' | 'partner' | 'status' | 'settled'> & { giver: string; receiver: string }
type OldWorld = {
  version: 1
  lastId: number
  accounts: Account[]
  offers: World['offers']
  trades: OldTrade[]
}

/**
 * Converts a saved world of version 1 to version 2, the current one, and adds new magic players to a world of either
 * version. Undefined for other versions.
 */
export function upgradeWorld(saved: World | OldWorld, fresh: World): World | undefined {
  if (saved.version === 2) return withNewPlayers(saved, fresh)
  if (saved.version !== 1) return undefined
  const defaults = { sessionGeneration: 0, loginGeneration: 0, acknowledged: false }
  const magic = fresh.accounts.filter(({ behaviour }) => behaviour !== undefined)
  return {
    ...fresh,
    lastId: Math.max(saved.lastId, fresh.lastId),
    accounts: [...saved.accounts.map((account) => ({ ...account, ...defaults })), ...magic],
    offers: saved.offers.map((offer) => ({ ...offer, give: [] })),
    trades: saved.trades.map(({ giver, receiver, items, ...trade }) => ({
      ...trade,
      sender: receiver,
      partner: giver,
      status: TRADE.complete,
      settled: trade.settlesAtS === 0,
      items: items.map((item) => ({ ...item, from: giver })),
    })),
  }
}

/** Adds the magic players that did not exist when the world was saved. */
function withNewPlayers(saved: World, fresh: World): World {
  const known = new Set(saved.accounts.flatMap(({ name, steamId }) => [name, steamId]))
  const added = fresh.accounts.filter(
    ({ behaviour, name, steamId }) => behaviour !== undefined && !known.has(name) && !known.has(steamId),
  )
  if (added.length === 0) return saved
  return { ...saved, accounts: [...saved.accounts, ...added], lastId: Math.max(saved.lastId, fresh.lastId) }
}

/** Returns a generator of numbers in [0, 1), always the same for a seed. */
function createRandom(seed: string): () => number {
  let count = 0
  return () => {
    count += 1
    return createHash('sha256').update(`${seed}:${count}`).digest().readUInt32BE(0) / 2 ** 32
  }
}

/** A token for a trade link, always the same for a seed. */
export function newToken(seed: string): string {
  return tokenOf(createRandom(seed))
}

function tokenOf(random: () => number): string {
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789-_'
  return Array.from({ length: 8 }, () => letters[Math.floor(random() * letters.length)]).join('')
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value)
}
