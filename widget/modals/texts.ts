import { type ModalTexts, modalTexts } from '../i18n/modals.ts'
import type { PageTexts } from '../i18n/page.en.ts'
import { usePage } from '../page.tsx'

type Texts = PageTexts & ModalTexts

/** Put together once for each text of the page. */
const together = new WeakMap<PageTexts, Texts>()

/** The page with the texts of the modals among its own. */
export function useModal(): Omit<ReturnType<typeof usePage>, 'texts'> & { texts: Texts } {
  const page = usePage()
  let texts = together.get(page.texts)
  if (texts === undefined) {
    texts = { ...page.texts, ...modalTexts[page.language] }
    together.set(page.texts, texts)
  }
  return { ...page, texts }
}
