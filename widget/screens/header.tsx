import './header.css'
import { type ReactNode, useLayoutEffect } from 'react'
import { LANGUAGES, type Language } from '../../contract/languages.ts'
import { isSandbox, usePage } from '../page.tsx'
import { helpIn } from '../route.ts'
import { Flag } from '../ui/icons.tsx'
import { removeShell } from './shell-element.ts'

const NAMES: Record<Language, string> = { en: 'English', ru: 'Русский' }

/** Every language with its flag and its own name. The current one is pressed. */
function LanguageSelect() {
  const { language, chooseLanguage, texts } = usePage()
  return (
    <fieldset className="language" aria-label={texts.language}>
      {LANGUAGES.map((each) => (
        <button
          key={each}
          type="button"
          lang={each}
          className="language-choice"
          aria-pressed={each === language}
          aria-label={NAMES[each]}
          title={NAMES[each]}
          onClick={() => chooseLanguage(each)}
        >
          <Flag language={each} />
          <span className="language-code">{each.toUpperCase()}</span>
        </button>
      ))}
    </fieldset>
  )
}

function SandboxBanner() {
  const { texts } = usePage()
  return isSandbox() ? (
    <p className="sandbox-banner" role="note">
      {texts.sandboxBanner}
    </p>
  ) : null
}

/** The header of every page. On the help page it has no link to help. */
export function Header({ isHelp = false, children }: { isHelp?: boolean; children: ReactNode }) {
  const { texts, language } = usePage()
  useLayoutEffect(removeShell, [])
  return (
    <>
      <SandboxBanner />
      <header className="header">
        <div className="header-title">{children}</div>
        {!isHelp && (
          <a className="header-support" href={helpIn(language)} target="_blank" rel="noopener">
            {texts.support}
          </a>
        )}
        <LanguageSelect />
      </header>
    </>
  )
}
