/**
 * `npm run bench -- search`: a keystroke in the search over 10,000 items, compared with a bare scan of lower-case names.
 */
import type { Item } from '../contract/widget-api.ts'
import { visibleItems } from '../widget/flow/selectors.ts'
import { item } from '../widget/flow/test-states.ts'
import { median, type Outcome } from './outcome.ts'

const ITEMS = 10_000
/** The longest that a keystroke may take, as a multiple of the bare scan. */
const MOST_TIMES = 1.5
const ROUNDS = 61
/** How many times a round repeats all keystrokes, because a single one is too short to measure. */
const REPEATS = 8

const THINGS = ['AK-47', 'AWP', '★ Karambit', 'M4A1-S', 'Нож', 'Sticker', 'Glock-18', 'USP-S', 'Desert Eagle']
const SKINS = [
  'Redline',
  'Asiimov',
  'Doppler',
  'Printstream',
  'Градиент',
  'Crown (Foil)',
  'Fade',
  'Kill Confirmed',
]

/** 7919 is a prime, so the prices are in no order. */
const STOCK = Array.from({ length: ITEMS }, (_, index) =>
  item(
    String(index + 1),
    100 + ((index * 7919) % 90_000),
    `${THINGS[index % THINGS.length]} | ${SKINS[Math.floor(index / THINGS.length) % SKINS.length]} (Field-Tested)`,
  ),
)

/** Every state of the field while these words are typed. */
const KEYSTROKES = ['redline', 'карамбит', 'ak-47', 'field-t', 'zzz'].flatMap((word) =>
  Array.from(word, (_, index) => word.slice(0, index + 1)),
)

export async function benchSearch(): Promise<Outcome> {
  const index = visibleItems(STOCK, '', { sort: 'priceDown' }).map((each) => ({
    each,
    folded: each.name.toLowerCase(),
  }))
  const scan = (query: string): Item[] => {
    const found: Item[] = []
    for (const { each, folded } of index) if (folded.includes(query)) found.push(each)
    return found
  }
  const search = (query: string): readonly Item[] => visibleItems(STOCK, query, { sort: 'priceDown' })
  for (const query of KEYSTROKES) {
    if (search(query).length !== scan(query).length)
      throw new Error(`the search and the bare scan find different numbers of items for "${query}"`)
  }
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    // Alternates the order, because the second search also pays for the garbage of the first.
    if (round % 2 === 0) theirs.push(cpuMs(scan))
    ours.push(cpuMs(search))
    if (round % 2 === 1) theirs.push(cpuMs(scan))
  }
  const [oursMs, theirsMs] = [median(ours), median(theirs)]
  return {
    name: 'search',
    ours: `${oursMs.toFixed(2)}ms`,
    floor: `${theirsMs.toFixed(2)}ms`,
    ratio: oursMs / theirsMs,
    limit: `<=${MOST_TIMES}`,
    passed: oursMs / theirsMs <= MOST_TIMES,
  }
}

/** CPU milliseconds of one keystroke. They exclude other work on the machine. */
function cpuMs(find: (query: string) => unknown): number {
  const before = process.cpuUsage()
  for (let times = 0; times < REPEATS; times += 1) for (const query of KEYSTROKES) find(query)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / KEYSTROKES.length / REPEATS
}
