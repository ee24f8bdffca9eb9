import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { Language } from '../contract/languages.ts'
import { restTexts } from './i18n/rest.ts'
import { PageProvider } from './page.tsx'

export function markup(part: ReactNode, language: Language = 'en'): string {
  return renderToStaticMarkup(
    <PageProvider language={language} onLanguage={() => {}} restTexts={restTexts}>
      {part}
    </PageProvider>,
  )
}
