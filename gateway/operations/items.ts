/** Items in the bots' hands, and those that the operator took out of them. */
import { type HeldItem, heldItems } from '../bots/held-item-store.ts'
import { type MoveAnswer, moveItem } from '../bots/items.ts'
import {
  type ItemFilter,
  type ItemMove,
  itemsLookedAt,
  type ListedItem,
  lookThroughItems,
  movesOf,
  selectItems,
} from '../departures/item-list-store.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, type Refused, refused } from './operation.ts'

/** `item` is what `recordMoved` takes. */
export type ItemView = Omit<HeldItem, 'price' | 'botId'> & { priceMinor: bigint }

export type ItemList = { items: ItemView[] }

/** Every item that came to a bot and has not left it, oldest first. */
export async function exportItems({ db }: FindDeps): Promise<Answer<ItemList>> {
  const items = await heldItems(db)
  return done({ items: items.map(({ price, botId: _, ...item }) => ({ ...item, priceMinor: price })) })
}

export type ListedItemView = Omit<ListedItem, 'price' | 'gross' | 'place'> & {
  priceMinor: bigint
  grossMinor: bigint
}

/** `next`: where the next page begins, as `before`. */
export type ItemPage = { items: ListedItemView[]; next: bigint | null }

const listed = ({ price, gross, place: _, ...item }: ListedItem): ListedItemView => {
  return { ...item, priceMinor: price, grossMinor: gross }
}

/** A call looks at so many times the items of one look: what is rare is found page by page. */
const MOST_ROUNDS = 6

/** Every item that ever came to a bot, newest first. A page may be short, or empty, and yet have a next one. */
export async function listItems({ db }: FindDeps, filter: ItemFilter): Promise<Answer<ItemPage>> {
  const places: bigint[] = []
  let next: bigint | null = null
  let before = filter.before
  for (let round = 1; ; round += 1) {
    const looked = await lookThroughItems(db, { ...filter, before })
    const fitting = looked.filter(({ fits }) => fits).slice(0, filter.limit - places.length)
    places.push(...fitting.map(({ place }) => place))
    // A page that is full goes on after its last item; any other one after the last that was looked at.
    const last = places.length === filter.limit ? fitting.at(-1) : looked.at(-1)
    const isEnd = looked.length < itemsLookedAt(filter) && last?.place === looked.at(-1)?.place
    next = isEnd || last === undefined ? null : last.place
    if (next === null || places.length === filter.limit || round === MOST_ROUNDS) break
    before = next
  }
  return done({ items: (await selectItems(db, places)).map(listed), next })
}

export type ItemLives = { items: (ListedItemView & { moves: ItemMove[] })[] }

/** Numbers of Steam are unique in a game only, and an item may come to the till more than once. */
const MOST_SHOWN = 20

/** The life of an item: `asset` is what a bot or its shopper calls it, or its number in the lists. */
export async function showItem({ db }: FindDeps, asset: string): Promise<Answer<ItemLives>> {
  const looked = await lookThroughItems(db, { asset, limit: MOST_SHOWN })
  const places = looked.slice(0, MOST_SHOWN).map(({ place }) => place)
  const rows = await selectItems(db, places)
  if (rows.length === 0) return refused('not_found', 'No bot ever held such an item.')
  const items = await Promise.all(
    rows.map(async (row) => ({ ...listed(row), moves: await movesOf(db, row) })),
  )
  return done({ items })
}

export type MovedItems = { moved: string[]; refused: { item: string; message: string }[] }

const NOT_MOVED: Record<Extract<MoveAnswer, { kind: 'refused' }>['reason'], Refused> = {
  not_an_item: refused('usage', 'is not an item of the export'),
  not_held: refused('conflict', 'is not held by a bot'),
  protected: refused('conflict', 'is still under Steam’s protection: it cannot have left'),
}

/** Records that items left their bots. One that is refused does not stop the others; each is an act of its own. */
export async function recordMoved(deps: ActDeps, items: AsyncIterable<string>): Promise<Answer<MovedItems>> {
  const data: MovedItems = { moved: [], refused: [] }
  let first: Refused | undefined
  for await (const item of items) {
    const answer = await recordOneMoved(deps, item)
    if (answer.kind !== 'refused') {
      data.moved.push(item)
      continue
    }
    const { refusal, message } = answer
    first ??= refused(refusal, message)
    data.refused.push({ item: item.slice(0, 50), message })
  }
  const message = `${data.moved.length} recorded as moved.`
  if (first === undefined) return done(data, message)
  return { ...first, message: `${data.refused.length} not recorded.`, data }
}

type MovedItem = { item: string; bot: string }

function recordOneMoved(deps: ActDeps, item: string): Promise<Answer<MovedItem>> {
  const what = { name: 'items moved', needsReason: true, recorded: (moved: MovedItem) => moved }
  return act(deps, what, async (tx) => {
    const answer = await moveItem({ db: tx, clock: deps.clock }, item)
    if (answer.kind === 'refused') return NOT_MOVED[answer.reason]
    return done({ item, bot: answer.item.bot })
  })
}
