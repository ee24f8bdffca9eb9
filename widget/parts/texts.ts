/** The language and the texts of the page, for the parts that load later. */
import type { Language } from '../../contract/languages.ts'
import type { Currency } from '../../contract/money.ts'
import { formatMoney } from '../i18n/format.ts'
import type { PageTexts } from '../i18n/page.ts'
import type { RestTexts } from '../i18n/rest.ts'
import { type Translated, textsIn } from '../i18n/texts.ts'
import { type PageValue, usePage } from '../page.tsx'

export type PartPage<PartTexts> = Pick<PageValue, 'language' | 'chooseLanguage'> & {
  texts: PageTexts & RestTexts & PartTexts
  money(minor: number, currency: Currency): string
}

/** Returns a hook that adds the part's own texts. The hook throws until the rest of the page is loaded. */
export function createTextsHook<PartTexts>(partTexts: Translated<PartTexts>): () => PartPage<PartTexts> {
  const pages = new Map<Language, PartPage<PartTexts>>()
  return () => {
    const { language, chooseLanguage, texts, rest } = usePage()
    if (rest === null) throw new Error('the rest of the page must be loaded before its parts')
    const cached = pages.get(language)
    if (cached?.chooseLanguage === chooseLanguage) return cached
    const page = {
      language,
      chooseLanguage,
      texts: { ...texts, ...rest, ...textsIn(partTexts, language) },
      money: (minor: number, currency: Currency) => formatMoney(minor, currency, language),
    }
    pages.set(language, page)
    return page
  }
}

/** For modules that need only the texts of the page and of its part `rest`. */
export const useRestTexts = createTextsHook({ en: {}, ru: {} })
