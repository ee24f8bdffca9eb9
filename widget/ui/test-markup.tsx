/** Renders a part of the page into the text of a document. */
import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { Language } from '../../contract/languages.ts'
import { PageProvider } from '../page.tsx'
import { createToasts } from '../toasts/store.ts'

export function markup(part: ReactNode, language: Language = 'en'): string {
  const toasts = createToasts({ after: () => () => {} }, () => '1')
  return renderToStaticMarkup(
    <PageProvider language={language} onLanguage={() => {}} toasts={toasts}>
      {part}
    </PageProvider>,
  )
}
