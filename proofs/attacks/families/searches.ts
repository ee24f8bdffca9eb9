/** Texts that an attacker gets an operator to paste into the search: family 58. */
import { find } from '../../../gateway/operations/find.ts'
import { readText } from '../../../gateway/operations/find-text.ts'
import { type Case, type Family, family } from '../attack.ts'
import type { Target } from '../target.ts'
import { problemIf } from './checks.ts'

const TEXT = 'gateway/operations/find-text.ts'
const FIND = 'gateway/operations/find.ts'
/** The limits of the search, as in `TEXT` and `FIND`. */
const MOST_WORDS = 8
const MOST_ROWS = 20
const LONGEST_TEXT = 512

type Defence =
  | 'letters and digits only'
  | 'a limit on words'
  | 'words of enough letters'
  | 'a limit on length'
  | 'a limit on rows'

/** The syntax of PostgreSQL's text search, and SQL. */
const SYNTAX = [
  "Quill':* | 'Q",
  "Quill' | 'Lantern",
  "Quill' & !'x",
  "!Quill'",
  "Quill') | ('Lantern",
  "Quill\\' | \\'Lantern",
  "Quill':*A <-> 'x",
  "Quill'; select pg_sleep(9) --",
  "''Quill''",
]

/** Prefixes that would find almost everything. */
const WIDE = ['a', 'Q', '%a', '_Q', 'é', '*Q', 'Q*', 'Q%']

const addedStores = new WeakMap<Target, Promise<void>>()

/** Adds one store called Lantern, and more stores called Quill than the search returns. */
function addStores(target: Target): Promise<void> {
  const adding = addedStores.get(target) ?? insertStores(target)
  addedStores.set(target, adding)
  return adding
}

async function insertStores({ till }: Target): Promise<void> {
  const names = [...Array.from({ length: 40 }, (_, index) => `Quill ${index}`), 'Lantern']
  await till.deps.db
    .insertInto('store')
    .values(names.map((name) => ({ name, origins: ['https://store.test'] })))
    .execute()
}

const search = ({ till }: Target, text: string) => find(till.deps, text)

/** Resolves to undefined if the search reads the text as plain words. */
async function mustBeWords(target: Target, text: string): Promise<string | undefined> {
  try {
    const answer = await search(target, text)
    const stores = answer.kind === 'refused' ? [] : answer.data.stores
    return problemIf(new Set(stores.map(({ name }) => name.split(' ')[0])).size > 1, 'finds other stores')
  } catch (error) {
    return `the database read it as syntax: ${error instanceof Error ? error.message : ''}`
  }
}

function wordsIn(text: string): readonly string[] {
  const read = readText(text)
  const readings = read.kind === 'read' ? read.readings : []
  return readings.flatMap((reading) => (reading.kind === 'words' ? reading.words : []))
}

const cases = (target: Target): Case<Defence>[] => [
  ...SYNTAX.map((text) => ({
    what: text,
    stoppedBy: 'letters and digits only' as const,
    attack: () => mustBeWords(target, text),
  })),
  ...[MOST_WORDS + 1, 50, 170].map((count) => ({
    what: `${count} words`,
    stoppedBy: 'a limit on words' as const,
    attack: () => {
      const { length } = wordsIn(Array.from({ length: count }, () => 'ab').join(' '))
      return problemIf(length > MOST_WORDS, `asks for ${length} words`)
    },
  })),
  ...WIDE.map((text) => ({
    what: `everything that begins with ${text}`,
    stoppedBy: 'words of enough letters' as const,
    attack: () => problemIf(wordsIn(text).length > 0, 'is searched for'),
  })),
  ...[LONGEST_TEXT + 1, 600, 5_000, 60_000].map((length) => ({
    what: `${length} characters`,
    stoppedBy: 'a limit on length' as const,
    attack: () => problemIf(readText('a'.repeat(length)).kind === 'read', 'is read'),
  })),
  ...['Quill', 'quill', 'qui', 'QU'].map((text) => ({
    what: `all stores whose names begin with ${text}`,
    stoppedBy: 'a limit on rows' as const,
    async attack() {
      const answer = await search(target, text)
      const count = answer.kind === 'refused' ? 0 : answer.data.stores.length
      return problemIf(count > MOST_ROWS, `${count} rows`)
    },
  })),
]

export const searches: Family = family<Defence>({
  number: 58,
  name: 'an operator’s searches',
  kind: 'till',
  defences: {
    'letters and digits only': {
      at: `${TEXT} readName`,
      off: [{ file: TEXT, from: '.split(/[^\\p{L}\\p{N}]+/u)', to: ".split('\\n')" }],
    },
    'a limit on words': {
      at: `${TEXT} readName`,
      off: [{ file: TEXT, from: '.slice(0, MOST_WORDS)', to: '' }],
    },
    'words of enough letters': {
      at: `${TEXT} readName`,
      off: [{ file: TEXT, from: "words.join('').length < LEAST_LETTERS", to: 'words.length < 0' }],
    },
    'a limit on length': {
      at: `${TEXT} readText`,
      off: [{ file: TEXT, from: 'if (text.length > LONGEST_TEXT)', to: 'if (false)' }],
    },
    'a limit on rows': {
      at: `${FIND} MOST_FOUND`,
      off: [{ file: FIND, from: 'export const MOST_FOUND = 20', to: 'export const MOST_FOUND = 1000' }],
    },
  },
  async honest(target) {
    await addStores(target)
    const answer = await search(target, 'lantern')
    return problemIf(
      answer.kind === 'refused' || answer.data.stores.length === 0,
      'a store is not found by its name',
    )
  },
  async cases(target) {
    await addStores(target)
    return cases(target)
  },
})
