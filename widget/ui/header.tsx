import type { ReactNode } from 'react'
import { isLanguage, LANGUAGES, type Language } from '../../contract/languages.ts'
import { isSandbox, usePage } from '../page.tsx'
import { Flag } from './icons.tsx'

const NAMES: Record<Language, string> = { en: 'English', ru: 'Русский' }

function LanguageSelect() {
  const { language, chooseLanguage, texts } = usePage()
  return (
    <label className="language">
      <Flag language={language} />
      <span className="visually-hidden">{texts.language}</span>
      <span aria-hidden="true">{language.toUpperCase()}</span>
      <select
        value={language}
        onChange={(event) => {
          if (isLanguage(event.target.value)) chooseLanguage(event.target.value)
        }}
      >
        {LANGUAGES.map((each) => (
          <option key={each} value={each} lang={each}>
            {NAMES[each]}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Says on every page that nothing here is real. */
function SandboxBanner() {
  const { texts } = usePage()
  return isSandbox() ? (
    <p className="sandbox-banner" role="note">
      {texts.sandboxBanner}
    </p>
  ) : null
}

export function Header({ children }: { children: ReactNode }) {
  const { texts } = usePage()
  return (
    <>
      <SandboxBanner />
      <header className="header">
        <div className="header-title">{children}</div>
        <a className="header-support" href="/help" target="_blank" rel="noopener">
          <span className="header-support-word">{texts.support}</span>
          <span className="header-support-mark" aria-hidden="true">
            ?
          </span>
        </a>
        <LanguageSelect />
      </header>
    </>
  )
}
