/** Names of items with their wear in the language of a receipt. Pure. */
import { WEAR_WORDS, wearOf, wearStart } from '../../contract/item-name.ts'
import type { Language } from '../../contract/languages.ts'

/**
 * Returns the name with its wear in this language. `name` has the wear in the language in which the item was picked, or
 * lacks it; `marketName` has it in English, and is null if unknown.
 */
export function nameWithWear(name: string, marketName: string | null, language: Language): string {
  const wearInName = wearOf(name)
  // Steam's own spelling stays, such as "Battle Scarred".
  if (wearInName?.language === language) return name
  const knownWear = wearInName ?? (marketName === null ? null : wearOf(marketName))
  if (knownWear === null) return name
  const nameWithoutWear = wearInName === null ? name : name.slice(0, wearStart(name))
  return `${nameWithoutWear} (${WEAR_WORDS[language][knownWear.wear]})`
}
