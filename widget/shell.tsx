/**
 * The page before its code is loaded, rendered at build time. The gateway fills it in: `{{name}}` is a value, and
 * `{{#name}}…{{/name}}` stays only if the value exists.
 */
import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { LANGUAGES, type Language } from '../contract/languages.ts'
import { type PageTexts, pageTexts } from './i18n/page.ts'
import { restTexts } from './i18n/rest.ts'
import { textsIn } from './i18n/texts.ts'
import { steamPage } from './steam-pages.ts'
import { Flag } from './ui/icons.tsx'
import { OutsideLink } from './ui/outside-link.tsx'

/**
 * Returns the shell in a language. With null, it contains no texts: the store gave no language, so only the page's
 * code can choose one.
 */
export function shellOf(language: Language | null): string {
  const texts = language === null ? null : textsIn(pageTexts, language)
  return renderToStaticMarkup(
    <>
      {'{{#sandbox}}'}
      <p className="sandbox-banner">{texts?.sandboxBanner ?? '\u00a0'}</p>
      {'{{/sandbox}}'}
      <Head texts={texts} language={language ?? 'en'} />
      {language !== null && (
        <>
          {'{{#works}}'}
          <div className="notices">
            <p className="notice notice-warning">
              {textsIn(restTexts, language).technicalWorksOnPage}
              {'{{#worksText}} {{worksText}}{{/worksText}}'}
            </p>
          </div>
          {'{{/works}}'}
        </>
      )}
      <main className="deposit" aria-busy="true">
        {'{{#unknownShopper}}'}
        {texts === null ? <SkeletonPart className="skeleton-link" /> : <LinkPanel texts={texts} />}
        <SkeletonPart className="skeleton-guide" />
        {'{{/unknownShopper}}'}
        {'{{#knownShopper}}'}
        <SkeletonPart className="skeleton-link" />
        <div className="skeletons">
          {texts !== null && <p className="skeleton-note">{texts.inventoryLoading}</p>}
          <div className="skeleton-grid">
            {/* As many cards as ui/skeletons.tsx draws on a desktop. */}
            {Array.from({ length: 18 }, (_, index) => `card ${index}`).map((key) => (
              <SkeletonPart key={key} className="skeleton-card" />
            ))}
          </div>
        </div>
        {'{{/knownShopper}}'}
      </main>
    </>,
  )
}

function Head({ texts, language }: { texts: PageTexts | null; language: Language }) {
  return (
    <header className="header">
      <div className="header-title">
        <h1>
          <span className="header-name">{texts?.depositTo('{{storeName}}') ?? '{{storeName}}'}</span>
          <span className="header-sub">
            {texts?.addFunds ?? '\u00a0'}
            <CustomerLabel>{texts && ` ${texts.depositFor} `}</CustomerLabel>
          </span>
        </h1>
        <span className="deposit-id">{'#{{id}}'}</span>
      </div>
      {/* Stands in for the links and choices that need the code. */}
      <span className="header-support">{texts?.support}</span>
      <fieldset className="language" disabled>
        {LANGUAGES.map((each) => (
          <button key={each} type="button" className="language-choice" aria-pressed={each === language}>
            <Flag language={each} />
            <span className="language-code">{each.toUpperCase()}</span>
          </button>
        ))}
      </fieldset>
    </header>
  )
}

/** The store's own name for the balance that the deposit fills, such as a user name in the store. */
function CustomerLabel({ children }: { children: ReactNode }) {
  return (
    <>
      {'{{#customer}}'}
      {children}
      <bdi className="header-customer">{'{{customer}}'}</bdi>
      {'{{/customer}}'}
    </>
  )
}

function LinkPanel({ texts }: { texts: PageTexts }) {
  return (
    <section className="link-panel">
      <div className="link-field">
        <span className="link-label">{texts.tradeLink}</span>
        <div className="link-input">
          <input type="url" placeholder={texts.tradeLinkPlaceholder} disabled />
        </div>
        <p className="link-note">{texts.tradeLinkWhy}</p>
        <p className="link-step">
          <OutsideLink
            href={steamPage('tradeSettings', '{{steam}}')}
            look="button"
            text={texts.tradeSettings}
          />
        </p>
      </div>
    </section>
  )
}

const SkeletonPart = ({ className }: { className: string }) => <div className={`skeleton ${className}`} />
