import './help.css'
import { Fragment } from 'react'
import { GAME_FACTS, GAMES } from '../../contract/games.ts'
import { formatMoney } from '../i18n/format.ts'
import { helpTexts } from '../i18n/help.ts'
import { textsIn } from '../i18n/texts.ts'
import { usePage } from '../page.tsx'
import { useTitle } from '../ui/hooks.ts'
import { Header } from './header.tsx'

export function Help() {
  const { language } = usePage()
  const help = textsIn(helpTexts, language)
  useTitle(`${help.title} – Tradetill`)
  return (
    <>
      <Header isHelp>
        <h1>{help.title}</h1>
      </Header>
      <main className="help">
        {/* First, because shoppers press Support mostly when their funds have not arrived. */}
        <section>
          <h2>{help.money.title}</h2>
          <p>{help.money.text}</p>
          <Contacts contactIntro={help.money.contactIntro} messenger={help.messenger} />
        </section>
        <section>
          <h2>{help.escrow.title}</h2>
          <p>{help.escrow.text}</p>
        </section>
        <section>
          <h2>{help.games.title}</h2>
          <p>{help.games.text}</p>
          <p>{help.itemConditions}</p>
        </section>
        <section>
          <h2>{help.prices.title}</h2>
          <p>{help.prices.text}</p>
        </section>
        <section>
          <h2>{help.minimum.title}</h2>
          <p>{help.minimum.text}</p>
          <ul>
            {GAMES.map((game) => (
              <li key={game}>
                {GAME_FACTS[game].title}: {formatMoney(GAME_FACTS[game].minSumUsdCents, 'USD', language)}
              </li>
            ))}
          </ul>
        </section>
        {[help.when, help.safe].map(({ title, text }) => (
          <section key={title}>
            <h2>{title}</h2>
            <p>{text}</p>
          </section>
        ))}
      </main>
    </>
  )
}

/** The operator's contacts, which the gateway writes into the document if they are configured. */
function Contacts({ contactIntro, messenger }: { contactIntro: string; messenger: string }) {
  const { supportEmail, messengerUrl } = document.documentElement.dataset
  const links = [
    ...(messengerUrl ? [{ href: messengerUrl, text: messenger, target: '_blank' }] : []),
    ...(supportEmail ? [{ href: `mailto:${supportEmail}`, text: supportEmail, target: '_self' }] : []),
  ]
  if (links.length === 0) return null
  return (
    <p>
      {contactIntro}
      {links.map(({ href, text, target }, index) => (
        <Fragment key={href}>
          {index === 0 ? ' ' : ' · '}
          <a href={href} target={target} rel="noopener noreferrer">
            {text}
          </a>
        </Fragment>
      ))}
    </p>
  )
}
