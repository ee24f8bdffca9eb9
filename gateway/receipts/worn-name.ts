/** Names of items with their wear in the language of a receipt. Pure. */
import { WEAR_WORDS, wearStart } from '../../contract/item-name.ts'
import type { Language } from '../../contract/languages.ts'

const CATEGORIES = [
  'WearCategory0',
  'WearCategory1',
  'WearCategory2',
  'WearCategory3',
  'WearCategory4',
] as const

const CATEGORY_OF: ReadonlyMap<string, (typeof CATEGORIES)[number]> = new Map(
  Object.values(WEAR_WORDS).flatMap((words) =>
    CATEGORIES.map((category) => [comparable(words[category]), category] as const),
  ),
)

/** Steam writes "Battle Scarred" in one game and "Battle-Scarred" in another, and may write е for ё. */
function comparable(words: string): string {
  return words.replaceAll('-', ' ').replaceAll('ё', 'е')
}

/** Returns the wear at the end of a name, in any of our languages. Other words in brackets belong to the name. */
function wearOf(name: string) {
  const start = wearStart(name)
  return start === undefined ? undefined : CATEGORY_OF.get(comparable(name.slice(start + 2, -1)))
}

/**
 * Returns the name with its wear in this language. `name` has the wear in the language in which the item was picked, or
 * lacks it; `marketName` has it in English, and is null if unknown.
 */
export function wornName(name: string, marketName: string | null, language: Language): string {
  const own = wearOf(name)
  const wear = own ?? (marketName === null ? undefined : wearOf(marketName))
  if (wear === undefined) return name
  const plain = own === undefined ? name : name.slice(0, wearStart(name))
  return `${plain} (${WEAR_WORDS[language][wear]})`
}
