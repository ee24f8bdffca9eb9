import { GAME_FACTS, GAMES } from '../../contract/games.ts'
import { helpTexts } from '../i18n/help.ts'
import { usePage } from '../page.tsx'
import { Header } from '../ui/header.tsx'

/** The gateway names the provider's contacts in the document. */
const supportEmail = (): string => document.documentElement.dataset.supportEmail ?? ''
const messengerUrl = (): string => document.documentElement.dataset.messengerUrl ?? ''

export function Help() {
  const { texts, money, language } = usePage()
  const help = helpTexts[language]
  const [email, messenger] = [supportEmail(), messengerUrl()]
  return (
    <>
      <Header>
        <h1>{help.title}</h1>
      </Header>
      <main className="help">
        <section>
          <h2>{help.escrow.title}</h2>
          <p>{help.escrow.text}</p>
        </section>
        <section>
          <h2>{help.games.title}</h2>
          <p>{help.games.text}</p>
          <p>{texts.itemConditions}</p>
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
                {GAME_FACTS[game].title}: {money(GAME_FACTS[game].minSumUsdCents, 'USD')}
              </li>
            ))}
          </ul>
        </section>
        <section>
          <h2>{help.money.title}</h2>
          <p>
            {help.money.text} {email !== '' && <a href={`mailto:${email}`}>{email}</a>}
          </p>
          {messenger !== '' && (
            <p>
              <a href={messenger} target="_blank" rel="noopener noreferrer">
                {help.messenger}
              </a>
            </p>
          )}
        </section>
      </main>
    </>
  )
}
