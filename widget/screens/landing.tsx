import './message-page.css'
import { landingTexts } from '../i18n/landing.ts'
import { textsIn } from '../i18n/texts.ts'
import { isSandbox, usePage } from '../page.tsx'
import { Header } from './header.tsx'

/** The demo store's address, which the gateway writes into the document; undefined or empty if there is none. */
const demoStore = (): string | undefined => document.documentElement.dataset.demoStore

export function Landing() {
  const texts = textsIn(landingTexts, usePage().language)
  const demo = demoStore()
  return (
    <>
      <Header>
        <span className="brand">Tradetill</span>
      </Header>
      <main className="message-page">
        <h1>{texts.title}</h1>
        <p>{texts.text}</p>
        <p className="quiet">{texts.start}</p>
        {isSandbox() && demo !== undefined && demo !== '' && (
          <a className="button primary" href={demo}>
            {texts.demo}
          </a>
        )}
      </main>
    </>
  )
}
