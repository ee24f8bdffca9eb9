import { useMemo } from 'react'
import { type ModalTexts, modalTexts } from '../i18n/modals.ts'
import type { PageTexts } from '../i18n/page.en.ts'
import { usePage } from '../page.tsx'

/** The page with the texts of the modals among its own. */
export function useModal(): Omit<ReturnType<typeof usePage>, 'texts'> & { texts: PageTexts & ModalTexts } {
  const page = usePage()
  return useMemo(() => ({ ...page, texts: { ...page.texts, ...modalTexts[page.language] } }), [page])
}
