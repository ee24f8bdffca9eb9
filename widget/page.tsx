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
  /** False while the texts of the wanted language are on their way; true also once they could not be had. */
  isSpoken: boolean
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

/** Texts that take longer are waited for on an English page. */
const PATIENCE_MS = 4000

type Spoken = { language: Language | null; failed: Language | null }

/**
 * The language that can be shown: the last one stays until the texts of a new one are here; null at first. `failed` is
 * the one whose texts cannot be had, at least for now.
 */
function useSpoken(wanted: Language): Spoken {
  const [spoken, setSpoken] = useState<Spoken>(() => ({
    language: hasMessages(wanted) ? wanted : null,
    failed: null,
  }))
  useEffect(() => {
    const ended = new AbortController()
    // An English page is better than none, until the texts can be had.
    const fallBack = () =>
      setSpoken((before) => ({ language: before.language ?? FALLBACK_LANGUAGE, failed: wanted }))
    async function speak(): Promise<void> {
      const slow = setTimeout(fallBack, PATIENCE_MS)
      ended.signal.addEventListener('abort', () => clearTimeout(slow))
      await loadMessages(wanted)
      clearTimeout(slow)
      while (!hasMessages(wanted) && !ended.signal.aborted) {
        fallBack()
        await wait(RETRY_MS, ended.signal)
        await loadMessages(wanted)
      }
      if (!ended.signal.aborted) setSpoken({ language: wanted, failed: null })
    }
    if (!hasMessages(wanted)) void speak()
    return () => ended.abort()
  }, [wanted])
  return hasMessages(wanted) ? { language: wanted, failed: null } : spoken
}

export function PageProvider({ language: wanted, onLanguage, toasts, children }: Props) {
  const { language: spoken, failed } = useSpoken(wanted)
  const language = spoken ?? wanted
  const isSpoken = language === wanted || failed === wanted
  const texts = messagesIn(language)
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  const value = useMemo(
    () => ({
      language,
      isSpoken,
      chooseLanguage: onLanguage,
      texts,
      money: (minor: number, currency: Currency) => formatMoney(minor, currency, language),
      toasts,
    }),
    [language, isSpoken, onLanguage, texts, toasts],
  )
  return <PageContext value={value}>{spoken !== null && children}</PageContext>
}

/** The gateway writes its mode into the document. */
export function isSandbox(): boolean {
  return document.documentElement.dataset.mode === 'sandbox'
}
