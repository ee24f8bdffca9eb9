/** Texts that come with a part of the page, among those of the page. */
import type { Language } from '../contract/languages.ts'
import type { PageTexts } from './i18n/page.en.ts'
import type { usePage } from './page.tsx'

type Page = ReturnType<typeof usePage>

/** Returns what the part reads as its page. */
export function withTexts<Texts>(
  own: Record<Language, Texts>,
): (page: Page) => Omit<Page, 'texts'> & { texts: PageTexts & Texts } {
  /** Put together once for each text of the page. */
  const together = new WeakMap<PageTexts, PageTexts & Texts>()
  return (page) => {
    let texts = together.get(page.texts)
    if (texts === undefined) {
      texts = { ...page.texts, ...own[page.language] }
      together.set(page.texts, texts)
    }
    return { ...page, texts }
  }
}
