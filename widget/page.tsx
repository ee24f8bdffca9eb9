/** Shared by every screen: language, texts, toasts and the mode the gateway runs in. */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { FALLBACK_LANGUAGE, type Language } from '../contract/languages.ts'
import type { Currency } from '../contract/money.ts'
import { wait } from './flow/wait.ts'
import { formatMoney } from './i18n/format.ts'
import { hasMessages, loadMessages, messagesIn } from './i18n/messages.ts'
import type { PageTexts } from './i18n/page.en.ts'
import type { ToastStore } from './toasts/store.ts'

type PageValue = {
  /** The language of the texts on the page. */
  language: Language
  chooseLanguage(language: Language): void
  texts: PageTexts
  money(minor: number, currency: Currency): string
  toasts: ToastStore
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
  toasts: ToastStore
  children: ReactNode
}

const RETRY_MS = 2000

/** The language that can be shown: the last one stays until the texts of a new one are here; null at first. */
function useSpoken(wanted: Language): Language | null {
  const [spoken, setSpoken] = useState(() => (hasMessages(wanted) ? wanted : null))
  useEffect(() => {
    const ended = new AbortController()
    async function speak(): Promise<void> {
      await loadMessages(wanted)
      while (!hasMessages(wanted) && !ended.signal.aborted) {
        // An English page is better than none, until the texts can be had.
        setSpoken((before) => before ?? FALLBACK_LANGUAGE)
        await wait(RETRY_MS, ended.signal)
        await loadMessages(wanted)
      }
      if (!ended.signal.aborted) setSpoken(wanted)
    }
    void speak()
    return () => ended.abort()
  }, [wanted])
  return hasMessages(wanted) ? wanted : spoken
}

export function PageProvider({ language: wanted, onLanguage, toasts, children }: Props) {
  const spoken = useSpoken(wanted)
  const language = spoken ?? wanted
  const texts = messagesIn(language)
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  const value = useMemo(
    () => ({
      language,
      chooseLanguage: onLanguage,
      texts,
      money: (minor: number, currency: Currency) => formatMoney(minor, currency, language),
      toasts,
    }),
    [language, onLanguage, texts, toasts],
  )
  return <PageContext value={value}>{spoken !== null && children}</PageContext>
}

/** The gateway writes its mode into the document. */
export function isSandbox(): boolean {
  return document.documentElement.dataset.mode === 'sandbox'
}
