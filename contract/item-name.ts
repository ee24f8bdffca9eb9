/** The names of items as shoppers read them, on the page and on a receipt. Pure. */
import { PHASE_NAMES, type Phase } from './games.ts'
import { LANGUAGES, type Language } from './languages.ts'

export const PHASE_WORDS: Readonly<Record<Language, Readonly<Record<Phase, string>>>> = {
  en: PHASE_NAMES,
  ru: {
    phase1: 'Фаза 1',
    phase2: 'Фаза 2',
    phase3: 'Фаза 3',
    phase4: 'Фаза 4',
    ruby: 'Рубин',
    sapphire: 'Сапфир',
    blackPearl: 'Чёрная жемчужина',
    emerald: 'Изумруд',
  },
}

/** The degrees of wear, from new to worn, as Steam's tags name them. */
export const WEARS = [
  'WearCategory0',
  'WearCategory1',
  'WearCategory2',
  'WearCategory3',
  'WearCategory4',
] as const

type Wear = (typeof WEARS)[number]

/** Each wear in Steam's own words. */
export const WEAR_WORDS: Readonly<Record<Language, Readonly<Record<Wear, string>>>> = {
  en: {
    WearCategory0: 'Factory New',
    WearCategory1: 'Minimal Wear',
    WearCategory2: 'Field-Tested',
    WearCategory3: 'Well-Worn',
    WearCategory4: 'Battle-Scarred',
  },
  ru: {
    WearCategory0: 'Прямо с завода',
    WearCategory1: 'Немного поношенное',
    WearCategory2: 'После полевых испытаний',
    WearCategory3: 'Поношенное',
    WearCategory4: 'Закалённое в боях',
  },
}

/**
 * Returns the index of the space before the brackets that end a name. In every language, Steam writes the wear into
 * such brackets: ` (Factory New)`.
 */
export function wearStart(name: string): number | undefined {
  const spaceAt = name.endsWith(')') ? name.lastIndexOf(' (') : -1
  return spaceAt > 0 ? spaceAt : undefined
}

const WORDS = LANGUAGES.flatMap((language) =>
  WEARS.map((wear) => ({ wear, language, words: WEAR_WORDS[language][wear] })),
)

/** Returns the wear at the end of a name in any of our languages. Other words in brackets belong to the name. */
export function wearOf(name: string): { wear: Wear; language: Language } | null {
  const start = wearStart(name)
  if (start === undefined) return null
  const end = comparable(name.slice(start + 2, -1))
  return WORDS.find(({ words }) => comparable(words) === end) ?? null
}

/** Steam writes "Battle Scarred" in one game and "Battle-Scarred" in another, and may write е for ё. */
const comparable = (words: string): string => words.replaceAll('-', ' ').replaceAll('ё', 'е')

/**
 * The name with the phase of a Doppler before its wear, because Steam's name lacks the phase: `★ Karambit | Doppler
 * Ruby (Factory New)`. `phase`: in words; null for an item without one.
 */
export function nameWithPhase(name: string, phase: string | null): string {
  if (phase === null) return name
  const end = wearStart(name) ?? name.length
  return `${name.slice(0, end)} ${phase}${name.slice(end)}`
}
