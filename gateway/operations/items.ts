/** Items that bots have or had, and the acts that record moved items. */
import { type HeldItem, heldItems } from '../bots/held-item-store.ts'
import { type MoveAnswer, moveItem, parseItem } from '../bots/items.ts'
import {
  type ItemFilter,
  type ItemMove,
  type ListedItem,
  lookThroughItems,
  mostItemsToLookAt,
  movesOf,
  selectItems,
} from '../departures/item-list-store.ts'
import { type UndoAnswer, undoMove } from '../departures/undone-move-store.ts'
import { act } from './act.ts'
import {
  type ActDeps,
  type Answer,
  done,
  type FindDeps,
  type Refused,
  refused,
  unchanged,
} from './operation.ts'

/** `item`: trade number and the shopper's asset id, such as `17-38112345678`. `recordMoved` takes this form. */
export type ItemView = Omit<HeldItem, 'price' | 'botId'> & { priceMinor: bigint }

export type ItemList = { items: ItemView[] }

/** Lists every item that a bot received and still holds, oldest first. */
export async function exportItems({ db }: FindDeps): Promise<Answer<ItemList>> {
  const items = await heldItems(db)
  return done({ items: items.map(({ price, botId: _, ...item }) => ({ ...item, priceMinor: price })) })
}

export type ListedItemView = Omit<ListedItem, 'price' | 'gross' | 'place'> & {
  priceMinor: bigint
  grossMinor: bigint
}

/** `next`: the `before` of the next page; null on the last page. */
export type ItemPage = { items: ListedItemView[]; next: bigint | null }

const viewOf = ({ price, gross, place: _, ...item }: ListedItem): ListedItemView => {
  return { ...item, priceMinor: price, grossMinor: gross }
}

/** The most batches of items that one call examines. Rare items are found over several pages. */
const MOST_ROUNDS = 3

/**
 * Lists matching items among all that bots ever received, newest first. A page may be short or empty although more
 * pages follow.
 */
export async function listItems({ db }: FindDeps, filter: ItemFilter): Promise<Answer<ItemPage>> {
  const places: bigint[] = []
  let next: bigint | null = null
  let before = filter.before
  for (let round = 1; ; round += 1) {
    const examined = await lookThroughItems(db, { ...filter, before })
    const fitting = examined.filter(({ fits }) => fits).slice(0, filter.limit - places.length)
    places.push(...fitting.map(({ place }) => place))
    // The next page begins after the last item of a full page, or else after the last item examined.
    const last = places.length === filter.limit ? fitting.at(-1) : examined.at(-1)
    const isEnd = examined.length < mostItemsToLookAt(filter) && last?.place === examined.at(-1)?.place
    next = isEnd || last === undefined ? null : last.place
    if (next === null || places.length === filter.limit || round === MOST_ROUNDS) break
    before = next
  }
  return done({ items: (await selectItems(db, places)).map(viewOf), next })
}

export type ItemHistories = { items: (ListedItemView & { moves: ItemMove[] })[] }

/**
 * The most items shown for one asset id. Steam's ids are unique within a game only, and an item may come to the till
 * repeatedly.
 */
const MOST_SHOWN = 20

/** `asset`: an asset id in the inventory of a bot or the shopper, or an `item` id. */
export async function showItem({ db }: FindDeps, asset: string): Promise<Answer<ItemHistories>> {
  const examined = await lookThroughItems(db, { asset, limit: MOST_SHOWN })
  const places = examined.slice(0, MOST_SHOWN).map(({ place }) => place)
  const rows = await selectItems(db, places)
  if (rows.length === 0) return refused('not_found', 'No bot ever held such an item.')
  const items = await Promise.all(
    rows.map(async (row) => ({ ...viewOf(row), moves: await movesOf(db, row) })),
  )
  return done({ items })
}

export type MovedItems = { moved: string[]; refused: { item: string; message: string }[] }

/** Each message follows the item's id. */
const NOT_MOVED: Record<Extract<MoveAnswer, { kind: 'refused' }>['reason'], Refused> = {
  not_an_item: refused('usage', 'is not an item of the export'),
  not_held: refused('conflict', 'is not held by a bot'),
  protected: refused(
    'conflict',
    'is of a held trade: it cannot have left before Steam’s protection ends, and after that, run trade release first',
  ),
}

/** Records that items left their bots, one act for each item. A refused item does not stop the others. */
export async function recordMoved(deps: ActDeps, items: AsyncIterable<string>): Promise<Answer<MovedItems>> {
  const { done: moved, ...rest } = await actOnEach(items, (item) => recordOneMoved(deps, item))
  return answerOf(
    { moved, refused: rest.refused },
    { ...rest, done: `${moved.length} recorded as moved.`, notDone: 'not recorded' },
  )
}

export type UnmovedItems = { unmoved: string[]; refused: MovedItems['refused'] }

/** Takes back records that items left, one act for each item. A refused item does not stop the others. */
export async function recordUnmoved(
  deps: ActDeps,
  items: AsyncIterable<string>,
): Promise<Answer<UnmovedItems>> {
  const { done: unmoved, ...rest } = await actOnEach(items, (item) => recordOneUnmoved(deps, item))
  return answerOf(
    { unmoved, refused: rest.refused },
    { ...rest, done: `${unmoved.length} booked to their bots again.`, notDone: 'not booked' },
  )
}

type BatchResult = { done: string[]; refused: MovedItems['refused']; firstRefusal: Refused | undefined }

async function actOnEach(
  items: AsyncIterable<string>,
  actOn: (item: string) => Promise<Answer<MovedItem>>,
): Promise<BatchResult> {
  const result: BatchResult = { done: [], refused: [], firstRefusal: undefined }
  for await (const item of items) {
    const answer = await actOn(item)
    if (answer.kind !== 'refused') {
      result.done.push(item)
      continue
    }
    const { refusal, message } = answer
    result.firstRefusal ??= refused(refusal, message)
    result.refused.push({ item: item.slice(0, 50), message })
  }
  return result
}

type BatchTexts = { done: string; notDone: string }

function answerOf<T>(data: T, batch: Omit<BatchResult, 'done'> & BatchTexts): Answer<T> {
  if (batch.firstRefusal === undefined) return done(data, batch.done)
  return { ...batch.firstRefusal, message: `${batch.refused.length} ${batch.notDone}.`, data }
}

type MovedItem = { item: string; bot: string }

function recordOneMoved(deps: ActDeps, item: string): Promise<Answer<MovedItem>> {
  const namedAct = { name: 'items moved', needsReason: true, argumentsOf: (moved: MovedItem) => moved }
  return act(deps, namedAct, async (tx) => {
    const answer = await moveItem({ db: tx, clock: deps.clock }, item)
    if (answer.kind === 'refused') return NOT_MOVED[answer.reason]
    return done({ item, bot: answer.item.bot })
  })
}

/** Each message follows the item's id. */
const NOT_UNMOVED: Record<Extract<UndoAnswer, { kind: 'refused' }>['reason'], Refused> = {
  unknown: refused('not_found', 'is not an item that a bot ever had'),
  not_moved: refused('conflict', 'is not recorded as moved'),
  sold: refused('conflict', 'is recorded as sold too: a sale cannot be taken back'),
  left: refused('conflict', 'has since left its bot in a Steam trade: see items departures'),
}

function recordOneUnmoved(deps: ActDeps, item: string): Promise<Answer<MovedItem>> {
  const namedAct = { name: 'items unmoved', needsReason: true, argumentsOf: (moved: MovedItem) => moved }
  return act(deps, namedAct, async (tx) => {
    const key = parseItem(item)
    if (key === undefined) return NOT_MOVED.not_an_item
    const answer = await undoMove(tx, key, deps.clock.now())
    if (answer.kind === 'refused') return NOT_UNMOVED[answer.reason]
    const data = { item, bot: answer.bot }
    return answer.kind === 'undone' ? done(data) : unchanged(data, 'It was booked to its bot before.')
  })
}
