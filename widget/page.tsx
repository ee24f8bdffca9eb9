import { createContext, type ReactNode, useContext, useEffect, useMemo } from 'react'
import type { Language } from '../contract/languages.ts'
import { type PageTexts, pageTexts } from './i18n/page.ts'
import type { RestTexts } from './i18n/rest.ts'
import { type Translated, textsIn } from './i18n/texts.ts'
import { type SteamPage, steamPage } from './steam-pages.ts'

export type PageValue = {
  language: Language
  chooseLanguage(language: Language): void
  texts: PageTexts
  /** The texts that load with the rest of a deposit's page; null until they have loaded. */
  rest: RestTexts | null
}

const PageContext = createContext<PageValue | null>(null)

export function usePage(): PageValue {
  const value = useContext(PageContext)
  if (value === null) throw new Error('usePage needs a PageProvider above it')
  return value
}

type Props = {
  language: Language
  onLanguage(language: Language): void
  restTexts?: Translated<RestTexts> | undefined
  children: ReactNode
}

export function PageProvider({ language, onLanguage, restTexts, children }: Props) {
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  const value = useMemo(
    () => ({
      language,
      chooseLanguage: onLanguage,
      texts: textsIn(pageTexts, language),
      rest: restTexts === undefined ? null : textsIn(restTexts, language),
    }),
    [language, onLanguage, restTexts],
  )
  return <PageContext value={value}>{children}</PageContext>
}

/** True for a till in sandbox mode. The gateway writes the mode into the document. */
export function isSandbox(): boolean {
  return document.documentElement.dataset.mode === 'sandbox'
}

/** The address of a page of Steam, or of the sandbox's page for it. Tests that render to text have no document. */
export function steamAddress(to: SteamPage): string {
  return steamPage(to, typeof document === 'undefined' ? undefined : document.documentElement.dataset.steam)
}
