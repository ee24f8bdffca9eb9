/** The words for items, wherever a part lists them. */
import { PHASE_WORDS } from '../../contract/item-name.ts'
import type { Language } from '../../contract/languages.ts'

const en = {
  wear: {
    WearCategory0: ['FN', 'Factory New'],
    WearCategory1: ['MW', 'Minimal Wear'],
    WearCategory2: ['FT', 'Field-Tested'],
    WearCategory3: ['WW', 'Well-Worn'],
    WearCategory4: ['BS', 'Battle-Scarred'],
  },
  phases: PHASE_WORDS.en,
  removeItem: (name: string) => `Remove ${name}`,
}

type ItemTexts = typeof en

const ru: ItemTexts = {
  wear: {
    WearCategory0: ['FN', 'Прямо с завода'],
    WearCategory1: ['MW', 'Немного поношенное'],
    WearCategory2: ['FT', 'После полевых испытаний'],
    WearCategory3: ['WW', 'Поношенное'],
    WearCategory4: ['BS', 'Закалённое в боях'],
  },
  phases: PHASE_WORDS.ru,
  removeItem: (name) => `Убрать ${name}`,
}

export const itemTexts: Record<Language, ItemTexts> = { en, ru }
