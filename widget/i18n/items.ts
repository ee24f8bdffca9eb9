/** The texts of the lists of items. */
import { PHASE_WORDS, WEAR_WORDS } from '../../contract/item-name.ts'
import type { Language } from '../../contract/languages.ts'

const en = {
  wear: {
    WearCategory0: { short: 'FN', word: WEAR_WORDS.en.WearCategory0 },
    WearCategory1: { short: 'MW', word: WEAR_WORDS.en.WearCategory1 },
    WearCategory2: { short: 'FT', word: WEAR_WORDS.en.WearCategory2 },
    WearCategory3: { short: 'WW', word: WEAR_WORDS.en.WearCategory3 },
    WearCategory4: { short: 'BS', word: WEAR_WORDS.en.WearCategory4 },
  },
  phases: PHASE_WORDS.en,
  removeItem: (name: string) => `Remove ${name}`,
}

type ItemTexts = typeof en

const ru: ItemTexts = {
  wear: {
    WearCategory0: { short: 'FN', word: WEAR_WORDS.ru.WearCategory0 },
    WearCategory1: { short: 'MW', word: WEAR_WORDS.ru.WearCategory1 },
    WearCategory2: { short: 'FT', word: WEAR_WORDS.ru.WearCategory2 },
    WearCategory3: { short: 'WW', word: WEAR_WORDS.ru.WearCategory3 },
    WearCategory4: { short: 'BS', word: WEAR_WORDS.ru.WearCategory4 },
  },
  phases: PHASE_WORDS.ru,
  removeItem: (name) => `Убрать ${name}`,
}

export const itemTexts: Record<Language, ItemTexts> = { en, ru }
