import type { Db } from '../db/client.ts'
import { depositRows, depositsOfAccount, type ListedDeposit } from './deposit-list-store.ts'
import {
  botOfSteamId,
  botsNamed,
  departuresOfSteamTrade,
  depositOfHash,
  depositOfNumber,
  depositOfReceipt,
  depositOfTrade,
  depositOfTradeNumber,
  depositsOfAsset,
  depositsOfItem,
  depositsOfOrder,
  type FoundBot,
  type FoundDeparture,
  type FoundEvent,
  type FoundItem,
  type FoundShopper,
  type FoundStore,
  findEvents,
  findShopper,
  itemsNamed,
  storesNamed,
} from './find-store.ts'
import { type Reading, readText } from './find-text.ts'
import { type Answer, done, type ReadDeps, refused } from './operation.ts'

/**
 * A part of a deposit that a text can match. `hash` and `receipt`: links. `deposit` and `trade`: the till's numbers.
 * `order`: the store's own id. `steam_id`: an account of its shopper. `offer`, `steam_trade` and `asset`: Steam's
 * numbers. `code`: the secret code of an offer. `item_name`: the exact name of an item.
 */
export type DepositKey =
  | 'hash'
  | 'receipt'
  | 'deposit'
  | 'trade'
  | 'order'
  | 'steam_id'
  | 'offer'
  | 'steam_trade'
  | 'asset'
  | 'code'
  | 'item_name'

/** `as`: the parts of the deposit that matched. */
export type FoundDeposit = ListedDeposit & { as: DepositKey[] }

export type Findings = {
  deposits: FoundDeposit[]
  shoppers: FoundShopper[]
  stores: FoundStore[]
  bots: FoundBot[]
  /** Items with a stored price of any source. */
  items: FoundItem[]
  events: FoundEvent[]
  departures: FoundDeparture[]
  /** Whether some kind may have more results than are shown. */
  isCut: boolean
}

/** The most results of each kind that are shown. */
export const MOST_FOUND = 20

/** Searches for every possible meaning of the text. The text may be a secret link, so it is never logged. */
export async function find({ db }: ReadDeps, typed: string): Promise<Answer<Findings>> {
  const parsedText = readText(typed)
  if (parsedText.kind === 'unreadable') return refused('usage', parsedText.why)
  const foundByReading: FoundByReading[] = []
  for (const reading of parsedText.readings) foundByReading.push(await lookUp(db, reading, typed.trim()))
  const findings = await mergeResults(db, foundByReading)
  const { isCut: _, ...lists } = findings
  const isEmpty = Object.values(lists).every((list) => list.length === 0)
  return isEmpty
    ? refused('not_found', `Nothing was found. The text was read as ${readingsText(parsedText.readings)}.`)
    : done(findings)
}

/** The results for one reading of the text. */
type FoundByReading = Partial<Omit<Findings, 'deposits' | 'isCut'>> & { deposits?: [DepositKey, bigint[]][] }

/** The largest number of a row: PostgreSQL's bigint. */
const LARGEST_ID = 9_223_372_036_854_775_807n

async function lookUp(db: Db, reading: Reading, typed: string): Promise<FoundByReading> {
  const most = MOST_FOUND + 1
  switch (reading.kind) {
    case 'hash':
      return { deposits: [['hash', await depositOfHash(db, reading.hash)]] }
    case 'receipt':
      return { deposits: [['receipt', await depositOfReceipt(db, reading.receipt)]] }
    case 'event':
      return { events: await findEvents(db, { eventId: reading.eventId }) }
    case 'steam_id':
      return lookUpAccount(db, reading.steamId)
    case 'offer':
      return { deposits: [['offer', await depositOfTrade(db, 'steam_offer_id', reading.offerId)]] }
    case 'asset':
      return { deposits: [['asset', await depositsOfAsset(db, reading.assetId, most)]] }
    case 'item': {
      const tradeId = BigInt(reading.tradeId)
      return { deposits: [['trade', await depositOfTradeNumber(db, tradeId)]] }
    }
    case 'code':
      return { deposits: [['code', await depositOfTrade(db, 'secret_code', reading.code)]] }
    case 'number':
      return lookUpNumber(db, reading.digits)
    case 'order':
      return { deposits: [['order', await depositsOfOrder(db, reading.externalId, most)]] }
    case 'words':
      return {
        stores: await storesNamed(db, reading.words, most),
        bots: await botsNamed(db, reading.words, most),
        items: await itemsNamed(db, reading.words, most),
        deposits: [['item_name', await depositsOfItem(db, typed, most)]],
      }
    default:
      return reading satisfies never
  }
}

async function lookUpAccount(db: Db, steamId: string): Promise<FoundByReading> {
  const deposits = await depositsOfAccount(db, steamId, MOST_FOUND + 1)
  const [shopper, bots] = [await findShopper(db, steamId), await botOfSteamId(db, steamId)]
  const isKnown = deposits.length > 0 || shopper.isDenied
  return { deposits: [['steam_id', deposits]], bots, shoppers: isKnown ? [shopper] : [] }
}

async function lookUpNumber(db: Db, digits: string): Promise<FoundByReading> {
  const number = BigInt(digits)
  const isId = number <= LARGEST_ID
  return {
    deposits: [
      ['deposit', isId ? await depositOfNumber(db, number) : []],
      ['offer', await depositOfTrade(db, 'steam_offer_id', digits)],
      ['steam_trade', await depositOfTrade(db, 'steam_trade_id', digits)],
      ['asset', await depositsOfAsset(db, digits, MOST_FOUND + 1)],
      ['trade', isId ? await depositOfTradeNumber(db, number) : []],
    ],
    departures: await departuresOfSteamTrade(db, digits),
    events: isId ? await findEvents(db, { deliveryId: number }) : [],
  }
}

/** Merges the results: each deposit is listed once, with all its matching parts. */
async function mergeResults(db: Db, foundByReading: readonly FoundByReading[]): Promise<Findings> {
  const keysOfDeposit = new Map<bigint, DepositKey[]>()
  for (const [key, ids] of foundByReading.flatMap(({ deposits = [] }) => deposits)) {
    for (const id of ids) keysOfDeposit.set(id, [...(keysOfDeposit.get(id) ?? []), key])
  }
  // Keeps the deposits of the likeliest readings, such as a deposit's own number, and lists them newest first.
  const shown = [...keysOfDeposit.keys()].slice(0, MOST_FOUND).sort((a, b) => (a > b ? -1 : 1))
  const stores = foundByReading.flatMap((each) => each.stores ?? [])
  const bots = foundByReading.flatMap((each) => each.bots ?? [])
  const items = foundByReading.flatMap((each) => each.items ?? [])
  const rows = await depositRows(db, shown)
  return {
    deposits: rows.map((row) => ({ ...row, as: keysOfDeposit.get(row.depositId) ?? [] })),
    shoppers: foundByReading.flatMap((each) => each.shoppers ?? []),
    stores: stores.slice(0, MOST_FOUND),
    bots: bots.slice(0, MOST_FOUND),
    items: items.slice(0, MOST_FOUND),
    events: foundByReading.flatMap((each) => each.events ?? []),
    departures: foundByReading.flatMap((each) => each.departures ?? []),
    isCut: [keysOfDeposit.size, stores.length, bots.length, items.length].some((count) => count > MOST_FOUND),
  }
}

const READING_TEXT: Record<Reading['kind'], string> = {
  hash: 'a link',
  receipt: 'a receipt of a deposit',
  event: 'an event',
  steam_id: 'a Steam account',
  offer: 'an offer',
  asset: 'an asset',
  item: 'an item’s number as lists show it (trade-asset)',
  code: 'a secret code',
  number: 'the number of a deposit, trade, offer, Steam trade, asset or delivery',
  order: 'an order id',
  words: 'words of a name',
}

const readingsText = (readings: readonly Reading[]): string =>
  readings.map(({ kind }) => READING_TEXT[kind]).join(', ')
